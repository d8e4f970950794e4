"""Random queries with several outer, semi and anti joins, each after those before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from penstock.query import (
    Call,
    Condition,
    DataType,
    Equality,
    Input,
    Literal,
    OuterJoin,
    OuterJoins,
    Query,
)
from penstock.query.joins.outer import JoinKind
from support.outer.outer_cases import (
    core_of,
    drawn,
    equalities_of,
    filters_of,
    outputs_of,
    time_window,
)
from support.streams.cases import BOOLEAN, Case, any_batches, column_of, compared


def joint_case(seed: int) -> Case:
    """The case of a seed: three or four inputs, of which one or two are in every result."""
    rng = Random(f"joint {seed}")
    count = rng.choice((3, 3, 4))
    case = drawn(rng, count, most_tables=2)
    inputs = tuple(replace(i, window=time_window(rng, i)) for i in case.query.inputs)
    core = _core(rng, inputs, 2 if count == 4 and rng.random() < 0.6 else 1)
    query = Query(inputs, (), equalities=core_of(rng, core), filters=filters_of(rng, core))
    brought = any_batches(rng, inputs, 30 if count == 3 else 18)
    return Case(_with_joins(rng, query, core), brought)


def table_case(seed: int) -> Case:
    """The case of a seed: a stream whose partners are all in tables."""
    rng = Random(f"tables {seed}")
    case = drawn(rng, 3, most_tables=2, least_tables=2)
    inputs = tuple(replace(i, window=time_window(rng, i)) for i in case.query.inputs)
    core = [item for item in inputs if not item.is_table]
    query = Query(inputs, (), filters=filters_of(rng, core))
    return replace(case, query=_with_joins(rng, query, core))


def semi_case(seed: int) -> Case:
    """The case of a seed, with one semi join of two inputs or more that are joined."""
    rng = Random(f"semi {seed}")
    case = drawn(rng, rng.choice((2, 3, 3)), most_tables=1)
    inputs = tuple(replace(i, window=time_window(rng, i)) for i in case.query.inputs)
    core = _core(rng, inputs, len(inputs) - 1)
    query = Query(inputs, (), equalities=core_of(rng, core), filters=filters_of(rng, core))
    return replace(case, query=_with_joins(rng, query, core, kinds=("semi",)))


def _core(rng: Random, inputs: Sequence[Input], size: int) -> list[Input]:
    """Inputs of inner joins, at least one of them a stream."""
    while True:
        found = rng.sample(inputs, size)
        if any(not item.is_table for item in found):
            return [item for item in inputs if item in found]


def _with_joins(
    rng: Random,
    query: Query,
    core: Sequence[Input],
    kinds: Sequence[JoinKind] = ("left", "left", "semi", "semi", "anti"),
) -> Query:
    rest = [item for item in query.inputs if item not in core]
    rng.shuffle(rest)
    made = sorted((rng.choice(kinds) != "left", n) for n in range(len(rest)))
    known, joins, filters = list(core), list[OuterJoin](), list(query.filters)
    for (is_choosing, _), item in zip(made, rest, strict=True):
        others = [kind for kind in kinds if kind != "left"]
        kind: JoinKind = rng.choice(others) if is_choosing else "left"
        preserved = [each for each in query.inputs if each in known]
        joins.append(_join(rng, kind, preserved, item))
        filters += filters_of(rng, (item,), likely=0.3)
        if kind == "left":
            known.append(item)
    shown = [item for item in query.inputs if item in known]
    nullable = [item for item in shown if item not in core]
    after = _after(rng, core, nullable) if nullable and rng.random() < 0.4 else ()
    outer = OuterJoins(tuple(joins), after)
    return replace(
        query,
        outputs=outputs_of(rng, shown),
        equalities=(*query.equalities, *outer.equalities),
        filters=tuple(filters),
        thetas=outer.thetas,
        outer=outer,
    )


def _join(rng: Random, kind: JoinKind, preserved: Sequence[Input], item: Input) -> OuterJoin:
    """A join with something of what is there so far, which may be NULL itself."""
    streams = [each for each in preserved if not each.is_table]
    partner = rng.choice(streams if kind == "semi" else preserved)
    equalities = equalities_of(rng, partner, item)
    others = [each for each in preserved if each != partner]
    if others and rng.random() < 0.15:
        other = rng.choice(others)
        equalities = (*equalities, Equality(column_of(other, "x"), column_of(item, "x")))
    thetas, alone = list[Condition](), list[Condition]()
    if rng.random() < 0.4:
        thetas.append(compared("le", column_of(rng.choice(preserved), "x"), column_of(item, "x")))
    if rng.random() < 0.3:
        alone += filters_of(rng, (rng.choice(preserved),), likely=1.0)
    if rng.random() < 0.2:
        missing = Call("is_null", (column_of(rng.choice(preserved), "x"),), BOOLEAN)
        alone.append(Condition(Call("or", (missing, _large(rng.choice(preserved))), BOOLEAN)))
    names = tuple(each.alias for each in preserved)
    return OuterJoin(kind, names, item.alias, equalities, tuple(thetas), tuple(alone))


def _after(rng: Random, core: Sequence[Input], nullable: Sequence[Input]) -> tuple[Condition, ...]:
    """A condition of WHERE on what may be NULL."""
    item = rng.choice(nullable)
    missing = Call("is_null", (column_of(item, "x"),), BOOLEAN)
    match rng.randrange(3):
        case 0:
            return (Condition(Call("or", (missing, _large(item)), BOOLEAN)),)
        case 1:
            return (Condition(missing),)
    return (compared("le", column_of(item, "j"), column_of(rng.choice(core), "j")),)


def _large(item: Input) -> Call:
    condition = compared("gt", column_of(item, "j"), Literal(0, DataType.INT))
    assert isinstance(condition.expression, Call)
    return condition.expression

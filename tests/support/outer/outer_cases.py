"""Random queries with an outer, semi or anti join, over the streams of other random queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from random import Random

from penstock.query import (
    Aggregate,
    Call,
    Column,
    Condition,
    DataType,
    Equality,
    Expression,
    Input,
    Literal,
    OuterJoin,
    OuterJoins,
    Output,
    Query,
    RowsWindow,
    Window,
)
from penstock.query.joins.outer import JoinKind
from support.streams.cases import (
    BIGINT,
    BOOLEAN,
    DOUBLE,
    Case,
    any_view,
    any_window,
    cast_to,
    column_of,
    compared,
    random_case,
)

KINDS: tuple[JoinKind, ...] = ("left", "full", "semi", "anti")


def outer_case(seed: int) -> Case:
    """The case of a seed."""
    rng = Random(f"outer {seed}")
    kind = rng.choice(KINDS)
    sizes = (2, 2, 3) if kind in ("left", "anti") else (2,)
    case = drawn(rng, rng.choice(sizes), most_tables=int(kind != "full"))
    inputs = tuple(replace(i, window=time_window(rng, i)) for i in case.query.inputs)
    nullable = _nullable(rng, inputs)
    preserved = tuple(item for item in inputs if item != nullable)
    core = core_of(rng, preserved)
    query = Query(
        inputs,
        outputs_of(rng, preserved if kind in ("semi", "anti") else inputs),
        equalities=core,
        filters=filters_of(rng, preserved) if kind != "full" else (),
    )
    return replace(case, query=_with_join(rng, query, kind, preserved, nullable))


def outer_view(seed: int) -> Case:
    """The case of a seed, with a view over its join."""
    return viewed(outer_case(seed), Random(f"outer view {seed}"))


def viewed(case: Case, rng: Random) -> Case:
    """A case with a view over its join."""
    shown = [o.expression for o in case.query.outputs if isinstance(o.expression, Column)]
    groups = rng.sample(shown, rng.choice((0, 1, 1)))
    ids = [column for column in shown if column.name == "id"]
    names: dict[Expression, str] = {of: f"#g{n}" for n, of in enumerate(groups)}
    for of in ids:
        names.setdefault(of, f"#a{len(names)}")
    of = rng.choice(ids)
    argument = Column("", names[of], of.type)
    aggregates = (
        Aggregate("#0", "count", None),
        Aggregate("#1", rng.choice(("count", "sum", "min")), argument),
    )
    view = any_view(rng, tuple(Column("", names[g], g.type) for g in groups), aggregates)
    outputs = tuple(Output(name, of) for of, name in names.items())
    return replace(case, query=replace(case.query, outputs=outputs, view=view))


def drawn(rng: Random, count: int, most_tables: int, least_tables: int = 0) -> Case:
    """The first random case of so many inputs, at least one of them a stream that may wait."""
    while True:
        case = random_case(rng.randrange(1 << 30))
        inputs = case.query.inputs
        tables = sum(item.is_table for item in inputs)
        if len(inputs) == count and least_tables <= tables <= most_tables:
            return case


def time_window(rng: Random, item: Input) -> Window | None:
    """Its window, or another of time if it counts rows."""
    while isinstance(item.window, RowsWindow):
        item = replace(item, window=any_window(rng, 2))
    return item.window


def _nullable(rng: Random, inputs: Sequence[Input]) -> Input:
    """A table if there is one in a join of two; else any."""
    tables = [item for item in inputs if item.is_table]
    return tables[0] if tables and len(inputs) == 2 else rng.choice(inputs)


def core_of(rng: Random, preserved: Sequence[Input]) -> tuple[Equality, ...]:
    """What joins the preserved inputs with each other."""
    name = rng.choice("kjs")
    pairs = pairwise(preserved)
    return tuple(Equality(column_of(one, name), column_of(other, name)) for one, other in pairs)


def _with_join(
    rng: Random, query: Query, kind: JoinKind, preserved: Sequence[Input], nullable: Input
) -> Query:
    partner = rng.choice([item for item in preserved if not item.is_table])
    equalities = equalities_of(rng, partner, nullable)
    thetas: list[Condition] = []
    alone: list[Condition] = []
    after: list[Condition] = []
    if rng.random() < 0.4:
        thetas.append(compared("le", column_of(partner, "x"), column_of(nullable, "x")))
    if rng.random() < 0.4:
        alone += filters_of(rng, (partner,), likely=1.0)
    inside = filters_of(rng, (nullable,), likely=0.4)
    if kind == "full":
        alone += inside
        inside = ()
    if kind in ("left", "full") and rng.random() < 0.5:
        after += _after(rng, partner, nullable)
    outer = OuterJoin(
        kind,
        tuple(item.alias for item in preserved),
        nullable.alias,
        equalities,
        tuple(thetas),
        tuple(alone),
    )
    return replace(
        query,
        equalities=(*query.equalities, *equalities),
        filters=(*query.filters, *inside),
        thetas=tuple(thetas),
        outer=OuterJoins((outer,), tuple(after)),
    )


def equalities_of(rng: Random, one: Input, other: Input) -> tuple[Equality, ...]:
    """What ON says is equal of two inputs."""
    match rng.randrange(5):
        case 0:
            return (Equality(column_of(one, "s"), column_of(other, "s")),)
        case 1:
            return tuple(Equality(column_of(one, name), column_of(other, name)) for name in "kj")
        case 2:
            plus = Call("add", (cast_to(column_of(one, "j"), BIGINT), Literal(1, BIGINT)), BIGINT)
            return (Equality(column_of(other, "j"), plus),)
    return (Equality(column_of(one, "k"), column_of(other, "k")),)


def filters_of(rng: Random, inputs: Sequence[Input], likely: float = 0.25) -> tuple[Condition, ...]:
    """Conditions on some of the inputs, each by itself."""
    chosen = [item for item in inputs if rng.random() < likely]
    above = [compared("gt", column_of(i, "x"), Literal(0.5, DOUBLE)) for i in chosen]
    other = [compared("ne", column_of(i, "j"), Literal(1, DataType.INT)) for i in chosen]
    return tuple(rng.choice(pair) for pair in zip(above, other, strict=True))


def _after(rng: Random, partner: Input, nullable: Input) -> list[Condition]:
    """Conditions of WHERE on what may be NULL: some hold for NULL alone, some for nothing NULL."""
    missing = Call("is_null", (column_of(nullable, "x"),), BOOLEAN)
    large = compared("gt", column_of(nullable, "j"), Literal(0, DataType.INT)).expression
    match rng.randrange(4):
        case 0:
            return [Condition(missing)]
        case 1:
            return [Condition(Call("or", (missing, large), BOOLEAN))]
        case 2:
            return [Condition(large)]
    return [compared("le", column_of(nullable, "j"), column_of(partner, "j"))]


def outputs_of(rng: Random, inputs: Sequence[Input]) -> tuple[Output, ...]:
    """What is selected: the number of each input's tuple, and some more."""
    names = [(item, name) for item in inputs for name in ("ts", "k", "j", "s", "x")]
    chosen = [(item, "id") for item in inputs] + rng.sample(names, 2)
    return tuple(Output(f"{item.alias}_{name}", column_of(item, name)) for item, name in chosen)

"""Random scripts of queries that have a join in common, and little else: aliases, the order of
FROM, windows, filters, outputs and aggregates differ."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from support.streams.scripts import ScriptCase, declared, script_case


@dataclass(frozen=True)
class _Join:
    """Sources by the letter that stands for an alias, and what is equal."""

    sources: dict[str, str]
    equal: tuple[tuple[str, str], ...]


_JOINS = (
    _Join({"A": "s0", "B": "s1"}, (("A.k", "B.k"),)),
    _Join({"A": "s0", "B": "s1"}, (("A.k", "B.k"), ("A.j", "B.j"))),
    _Join({"A": "s0", "B": "s0"}, (("A.k", "B.j"),)),
    _Join({"A": "s0", "B": "s0"}, (("A.k", "B.k"),)),
    _Join({"A": "s0", "B": "s1", "C": "s2"}, (("A.k", "B.k"), ("B.j", "C.j"))),
    _Join({"A": "s0", "B": "s1", "C": "s0"}, (("A.k", "B.k"), ("B.k", "C.k"))),
)
_PAIR = {"A": "s0", "B": "s1"}
_OTHER = {"A": "s0", "C": "s2"}
_NEXT = {"B": "s1", "C": "s2"}
_CHAIN = {"A": "s0", "B": "s1", "C": "s2"}
_SEVERAL = (
    (_Join(_PAIR, (("A.k", "B.k"),)), _Join(_OTHER, (("A.k", "C.k"),))),
    (_Join(_PAIR, (("A.k", "B.k"),)), _Join(_OTHER, (("A.j", "C.j"),))),
    (_Join(_PAIR, (("A.k", "B.k"),)), _Join(_NEXT, (("B.j", "C.j"),))),
    (_Join(_PAIR, (("A.j", "B.k"), ("A.x", "B.x"))), _Join(_NEXT, (("B.j", "C.k"),))),
    (_Join({"A": "s0", "B": "s0"}, (("A.k", "B.j"),)), _Join(_OTHER, (("A.k", "C.k"),))),
    (
        _Join(_CHAIN, (("A.k", "B.k"), ("B.j", "C.j"))),
        _Join({"A": "s0", "D": "s3"}, (("A.k", "D.k"),)),
        _Join(_NEXT, (("B.j", "C.j"),)),
        _Join(_PAIR, (("A.k", "B.k"),)),
    ),
    (
        _Join(_PAIR, (("A.k", "B.k"),)),
        _Join({"C": "s2", "D": "s3"}, (("C.j", "D.j"),)),
        _Join(_NEXT, (("B.k", "C.k"),)),
    ),
)
"""Different joins that have inputs in common, so that what is kept of these may serve them all."""
_FILTERS = ("{}.j <> 1", "{}.x >= 1", "{}.x IS NULL OR {}.x < 4", "{}.id % 3 > 0", "{}.k IN (1, 2)")
_WINDOWS = (
    *("RANGE 3 SECONDS", "RANGE 10 SECONDS", "RANGE 1 MINUTE", "RANGE 8 SECONDS SLIDE 3 s"),
    *("RANGE 2 SECONDS SLIDE 5 s", "TUMBLE 7 SECONDS", "NOW", "UNBOUNDED"),
)


def shared_case(seed: int, *, count: int | None = None) -> ScriptCase:
    """The script of a seed: queries m0, m1, … that share a join, of three inputs also some that
    have a part of it, one that shares nothing, and one over the results of the first."""
    rng = Random(f"shared {seed}")
    join = rng.choice(_JOINS)
    statements = [declared(rng, name) for name in sorted({*join.sources.values(), "s1"})]
    parts = _parts(join)
    made = [_query(rng, join) for _ in range(count or rng.choice((2, 3, 4)))]
    made += [_query(rng, rng.choice(parts)) for _ in range(2) if parts]
    statements += [f"{query} INTO m{number}" for number, query in enumerate(made)]
    statements.append("SELECT s.id, m.x INTO over FROM m0 [NOW] AS m, s1 [RANGE 9 s] AS s "
                      "WHERE m.k = s.k")  # fmt: skip
    statements.append("SELECT a.id INTO rows FROM s0 [ROWS 3] AS a, s1 [ROWS 2] AS b "
                      "WHERE a.k = b.k")  # fmt: skip
    return script_case(rng, statements)


def several_case(seed: int) -> ScriptCase:
    """The script of a seed: one or two queries of each of some joins that have inputs in common,
    m0, m1, …, and one over the results of the first."""
    rng = Random(f"several {seed}")
    joins = _SEVERAL[seed % len(_SEVERAL)]
    statements = [declared(rng, name) for name in ("s0", "s1", "s2", "s3")]
    made = [_query(rng, join) for join in joins for _ in range(rng.choice((1, 1, 2)))]
    statements += [f"{query} INTO m{number}" for number, query in enumerate(made)]
    statements.append("SELECT s.id, m.x INTO over FROM m0 [NOW] AS m, s1 [RANGE 9 s] AS s "
                      "WHERE m.k = s.k")  # fmt: skip
    return script_case(rng, statements)


def _parts(join: _Join) -> list[_Join]:
    """Joins of some of the inputs of a join of three, by what is equal."""
    found = []
    for left, right in join.equal if len(join.sources) > 2 else ():
        sources = {a: join.sources[a] for a in (left[0], right[0])}
        found.append(_Join(sources, ((left, right),)))
    return found


def _query(rng: Random, join: _Join) -> str:
    called = dict(zip(join.sources, rng.sample("pqrstu", len(join.sources)), strict=True))
    inputs = [f"{s} [{rng.choice(_WINDOWS)}] AS {called[a]}" for a, s in join.sources.items()]
    rng.shuffle(inputs)
    conditions = [_equality(rng, called, *sides) for sides in join.equal]
    conditions += [_filter(rng, alias) for alias in called.values() if rng.random() < 0.4]
    one, other = rng.sample(sorted(called.values()), 2)
    if rng.random() < 0.2:
        conditions.append(f"{one}.x <= {other}.x")
    rng.shuffle(conditions)
    body = f"FROM {', '.join(inputs)} WHERE {' AND '.join(conditions)}"
    if rng.random() < 0.5:
        return f"SELECT {one}.id, {other}.k, {other}.j, {one}.x {body}"
    return _view(rng, one, other, body)


def _view(rng: Random, one: str, other: str, body: str) -> str:
    groups = rng.choice((f"{one}.k", f"{one}.k", ""))
    key = f"{one}.k" if groups else f"MIN({one}.k)"
    x = rng.choice((f"SUM({one}.x)", f"AVG({other}.x)", f"MAX({one}.x)", f"COUNT({other}.x)"))
    select = f"SELECT COUNT(*) AS id, {key} AS k, MAX({other}.j) AS j, {x} AS x {body}"
    every = rng.choice(("", " EVERY 1 SECOND", " EVERY 5 SECONDS"))
    having = rng.choice(("", "", " HAVING COUNT(*) > 1"))
    return select + (f" GROUP BY {groups}" if groups else "") + having + every


def _equality(rng: Random, called: dict[str, str], left: str, right: str) -> str:
    sides = [f"{called[side[0]]}{side[1:]}" for side in (left, right)]
    rng.shuffle(sides)
    return " = ".join(sides)


def _filter(rng: Random, alias: str) -> str:
    return f"({rng.choice(_FILTERS).format(alias, alias)})"

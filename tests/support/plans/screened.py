"""A query of three filters that count their calls, over tuples of three kinds, and meshes of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import penstock as ps
from penstock.cql import parse
from penstock.plan.mesh import (
    DriverMesh,
    Goes,
    MeshJoin,
    MeshRoute,
    Operator,
    Screen,
    Split,
)
from penstock.plan.multiway import Probe
from penstock.query import Query

SCREENED = """
CREATE STREAM a (ts BIGINT, id BIGINT, kind STRING, x DOUBLE)
  WITH (format='parquet', path='{folder}/a', timestamp='ts', unit='s', max_files=1);
CREATE STREAM b (ts BIGINT, id BIGINT, kind STRING, x DOUBLE)
  WITH (format='parquet', path='{folder}/b', timestamp='ts', unit='s', max_files=1);
SELECT {select}
"""
ONE = "a.id AS id FROM a [NOW] WHERE one(a.x) AND two(a.x) AND three(a.x)"
TWO = """a.id AS id, b.id AS other FROM b [RANGE 1 MINUTE], a [NOW]
WHERE a.kind = b.kind AND one(a.x) AND two(a.x) AND three(a.x)"""
PLAIN = "a.x > 0.2 AND a.id % 5 <> 3 AND (a.kind <> 'kind 1' OR a.x > 1.5)"


class Calls:
    """Three filters that count their calls: each stops one of three kinds of tuples, 0 to 2."""

    def __init__(self, *, fails_at: int | None = None):
        self.count: Counter[int] = Counter()
        self.fails_at = fails_at

    @property
    def functions(self) -> list[ps.Function]:
        names = ("one", "two", "three")
        return [self._function(number, name) for number, name in enumerate(names)]

    def _function(self, number: int, name: str) -> ps.Function:
        def passes(x: float) -> bool | None:
            self.count[number] += 1
            if self.count.total() == self.fails_at:
                raise ValueError("not now")
            # NULL is not true.
            return None if x > 90 else int(x) % 3 != number or x % 1 > 0.9

        return ps.function(cost=1e-5, name=name)(passes)


def write_kinds(folder: Path, batches: int, rows: int, seed: int = 3) -> None:
    """Tuples of three kinds, told apart by a text and by a number."""
    rng = np.random.default_rng(seed)
    for name in "ab":
        (folder / name).mkdir(parents=True)
        for batch in range(batches):
            kinds = rng.integers(0, 3, rows)
            x = kinds + rng.random(rows)
            x[rng.random(rows) < 0.02] = 95.0
            columns = {
                "ts": np.sort(rng.integers(10 * batch, 10 * batch + 10, rows)),
                "id": np.arange(batch * rows, (batch + 1) * rows),
                "kind": pa.array([f"kind {k}" for k in kinds]),
                "x": pa.array([None if v == 95.0 and n % 2 else v for n, v in enumerate(x)]),
            }
            pq.write_table(pa.table(columns), folder / name / f"{batch:04}.parquet")


def screened_query(folder: Path, select: str, calls: Calls) -> Query:
    return parse(SCREENED.format(folder=folder, select=select), functions=calls.functions)


def by_kind(query: Query, orders: list[str]) -> MeshJoin:
    """A mesh of a; an order names its filters by their numbers and b by its name: `0b12`."""
    screens = {str(n): Screen(c) for n, c in enumerate(query.filters)}
    operators: dict[str, Operator] = {**screens, "b": Probe("b", "sorted")}
    routes = [MeshRoute(tuple((operators[each],) for each in order)) for order in orders]
    tree = Split(
        "kind",
        None,
        frozenset({"kind 0"}),
        Goes(0),
        Split("x", 1.99, frozenset(), Goes(1), Goes(2)),
    )
    mesh = DriverMesh("a", tree, tuple(routes), (1 / 3,) * 3)
    others = [
        DriverMesh(item.alias, Goes(0), (MeshRoute(((Probe("a", "sorted"),),)),), (1.0,))
        for item in query.streams
        if item.alias != "a"
    ]
    late = {query.filters[int(n)] for o in orders for n in o[o.find("b") + 1 :] if "b" in o}
    placed = replace(
        query,
        filters=tuple(c for c in query.filters if c not in late),
        thetas=tuple(c for c in query.filters if c in late),
    )
    return MeshJoin(placed, (mesh, *others))


def uncertain(query: Query) -> MeshJoin:
    """All of a's operators in any order."""
    plan = by_kind(query, ["b012"] * 3)
    routes = tuple(MeshRoute((route.operators,)) for route in plan.mesh("a").routes)
    mesh = replace(plan.mesh("a"), routes=routes)
    return replace(plan, meshes=(mesh, *plan.meshes[1:]))

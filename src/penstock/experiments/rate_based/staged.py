"""Trees run join by join in the laboratory, each join with a server and costs of its own.

V&N run a thread for each operator, and one of their predicates takes milliseconds. So every join is
a run of the laboratory on a simulated clock; what it produces, and when, is a stream for the next.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.duration import MICROS
from penstock.engine.rows.columns import ARRIVAL, TS
from penstock.lab.clock import ClockCosts, SimulatedClock
from penstock.lab.laboratory import run
from penstock.lab.schedule import Eager
from penstock.plan.tree import Branch, Leaf, TreeJoin
from penstock.query import Column, DataType, Equality, Field, Input, Output, Query, Source
from penstock.query.window import UNBOUNDED

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Stage:
    """A join of two sides on a column of the same name; `cost` is seconds for each arrival."""

    left: Stage | str
    right: Stage | str
    column: str
    cost: float


def moments(stage: Stage, tuples: Mapping[str, pa.Table]) -> Floats:
    """When each result is there (s); the tables of streams hold event times and join columns."""
    times: Floats = _joined(stage, tuples).column(TS).to_numpy() / MICROS
    return times


def _joined(node: Stage | str, tuples: Mapping[str, pa.Table]) -> pa.Table:
    """The rows that a node sends up, with the times at which they are there."""
    if isinstance(node, str):
        return tuples[node]
    sides = {"L": _joined(node.left, tuples), "R": _joined(node.right, tuples)}
    plan = _plan(node, sides)
    clock = SimulatedClock(ClockCosts(inserts=node.cost), servers="each")
    outcome = run(plan, sides, Eager(), clock=clock)
    results = outcome.results.append_column(TS, pa.array(outcome.produced_at))
    return results.append_column(ARRIVAL, pa.array(np.arange(len(results))))


def _plan(node: Stage, sides: Mapping[str, pa.Table]) -> TreeJoin:
    own = {side: _columns(table) for side, table in sides.items()}
    inputs = tuple(
        Input(
            side,
            Source(side, tuple(Field(c, DataType.BIGINT) for c in names), "parquet"),
            UNBOUNDED,
        )
        for side, names in own.items()
    )
    left, right = (Column(side, node.column, DataType.BIGINT) for side in sides)
    outputs = tuple(
        Output(name, Column(side, name, DataType.BIGINT))
        for side, names in own.items()
        for name in names
        if side == "L" or name not in own["L"]
    )
    query = Query(inputs, outputs, (Equality(left, right),))
    return TreeJoin(query, Branch(Leaf("L"), Leaf("R"), "hash"))


def _columns(table: pa.Table) -> list[str]:
    """The join columns of a table."""
    return [name for name in table.column_names if name not in (TS, ARRIVAL, "id")]

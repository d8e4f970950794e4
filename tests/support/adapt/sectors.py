"""A stream through filters that tell kinds of tuples apart, and the same with the kinds swapped."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np
import pyarrow as pa

from penstock.cql import parse
from penstock.engine.reports.parts import OperatorReport
from penstock.engine.routes.classifying import route_numbers
from penstock.engine.rows.columns import ARRIVAL, TS
from penstock.engine.wire.facts import InputSample
from penstock.engine.wire.packets import as_stream
from penstock.optimize.options import PlanOptions
from penstock.optimize.planner import decide
from penstock.plan.mesh import MeshJoin, Screen
from penstock.query import DataType, Function, Query
from penstock.stats.guess import complete
from penstock.stats.statistics import Statistics
from penstock.stats.training import Training

PASS = np.array([[0.05, 0.95, 0.95], [0.95, 0.05, 0.95], [0.95, 0.95, 0.05]])
"""The part of the tuples of each kind that pass each filter."""
COST = 1e-4
MESHES = PlanOptions(kinds=frozenset({"mesh"}), engine="local")


def _tells(place: int) -> Function:
    """A filter that tells a bit of its argument."""

    def told(numbers: pa.Array) -> pa.Array:
        return pa.array((numbers.to_numpy() >> place) & 1 == 1)

    takes, gives = (DataType.BIGINT,), DataType.BOOLEAN
    return Function(f"bit_{place}", takes, gives, COST, told, is_vectorized=True)


@cache
def sector_query() -> Query:
    columns = "ts TIMESTAMP, kind INT, size DOUBLE, name STRING, x BIGINT"
    return parse(
        f"CREATE STREAM S ({columns}) "
        "WITH (format='parquet', path='s', timestamp='ts', max_files=1);"
        "SELECT S.x FROM S [NOW] WHERE bit_0(S.x) AND bit_1(S.x) AND bit_2(S.x)",
        functions=[_tells(place) for place in range(3)],
    )


def tuples(rows: int, seed: int, shift: int = 0) -> pa.RecordBatch:
    """Tuples of three kinds; after a shift each passes the filters as the next kind did before."""
    rng = np.random.default_rng(seed)
    kinds = rng.integers(0, 3, rows)
    passed = rng.random((rows, 3)) < PASS[(kinds + shift) % 3]
    bits = passed @ np.array([1, 2, 4])
    return pa.RecordBatch.from_pydict(
        {
            "kind": pa.array(kinds, pa.int32()),
            "size": rng.random(rows),
            "name": pa.array([f"n{n}" for n in rng.integers(0, 10_000, rows)], pa.large_string()),
            # Neither the size nor the sign of the numbers tells of the bits.
            "x": bits + 8 * rng.integers(0, 1 << 40, rows),
        }
    )


def drawn(
    rows: pa.RecordBatch, first: int = 0, alias: str = "S", of: int | None = None
) -> InputSample:
    """A fact with these tuples, numbered from `first` on, a second a thousand."""
    numbers = np.arange(first, first + len(rows))
    told = rows.append_column(TS, pa.array(numbers * 1_000))
    told = told.append_column(ARRIVAL, pa.array(numbers))
    return InputSample(alias, of or len(rows), as_stream(told).to_pybytes())


def mesh_by(training: dict[str, Training]) -> MeshJoin:
    """The mesh that the planner makes of training."""
    query = sector_query()
    plan = decide(complete(query, Statistics(query, training=training)), MESHES).plan
    assert isinstance(plan, MeshJoin)
    return plan


def flows(plan: MeshJoin, rows: pa.RecordBatch) -> Iterator[OperatorReport]:
    """What a batch of these tuples tells of the filters of each route."""
    (mesh,) = plan.meshes
    taken, numbers = route_numbers(mesh, rows), rows.column("x").to_numpy()
    for number, route in enumerate(mesh.routes):
        left = numbers[taken == number]
        for operator in route.operators:
            assert isinstance(operator, Screen)
            text = str(operator.condition)
            passes = left >> int(text.split("bit_")[1][0]) & 1 == 1
            yield OperatorReport("S", number, text, "filter", len(left), int(passes.sum()))
            left = left[passes]

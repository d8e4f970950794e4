"""Classifiers: each tuple goes where a walk down the tree leads."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta
from random import Random

import pyarrow as pa
import pytest

from penstock.engine.routes.classifying import route_numbers
from penstock.plan.mesh import (
    DriverMesh,
    MeshRoute,
)
from penstock.query import DataType, Field, Input, Source
from penstock.query.expression import Value
from penstock.query.window import NOW
from support.plans.meshes import random_fork, walk

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


COLUMNS = {
    "x": (DataType.DOUBLE, pa.float64()),
    "n": (DataType.BIGINT, pa.int64()),
    "b": (DataType.BOOLEAN, pa.bool_()),
    "d": (DataType.DATE, pa.date32()),
    "t": (DataType.TIMESTAMP, pa.timestamp("us", "UTC")),
    "s": (DataType.STRING, pa.large_string()),
}


def drawn_value(name: str, rng: Random) -> Value:
    if rng.random() < 0.15:
        return None
    number = rng.randrange(4)
    match name:
        case "x":
            return rng.choice((math.nan, -0.0, float(number), number + 0.5))
        case "b":
            return number % 2 == 0
        case "d":
            return date(1970, 1, 1) + timedelta(days=number)
        case "t":
            return EPOCH + timedelta(microseconds=number)
        case "s":
            return rng.choice("vVé") + str(number)
    return number


def as_plans_see_it(value: Value) -> float | str | None:
    match value:
        case datetime():
            return float((value - EPOCH) // timedelta(microseconds=1))
        case date():
            return float((value - date(1970, 1, 1)).days)
        case None | str():
            return value
    return float(value)


@pytest.mark.parametrize("seed", range(40))
def test_tuples_are_classified_as_a_walk_down_the_tree_would(seed: int) -> None:
    rng = Random(f"classify {seed}")
    fields = tuple(Field(name, type_) for name, (type_, _) in COLUMNS.items())
    item = Input("a", Source("a", fields, "parquet"), NOW)
    mesh = DriverMesh("a", random_fork(item, 5, rng, depth=4), (MeshRoute(()),) * 5, (0.2,) * 5)
    count = rng.choice((0, 1, 200))
    values = {name: [drawn_value(name, rng) for _ in range(count)] for name in COLUMNS}
    kinds = {name: kind for name, (_, kind) in COLUMNS.items()}
    rows = pa.RecordBatch.from_pydict({n: pa.array(v, kinds[n]) for n, v in values.items()})
    tuples = [
        {name: as_plans_see_it(values[name][place]) for name in COLUMNS} for place in range(count)
    ]
    wanted = [walk(mesh.classifier, each) for each in tuples]
    assert route_numbers(mesh, rows).tolist() == wanted

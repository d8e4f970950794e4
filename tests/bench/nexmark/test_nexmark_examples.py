"""The queries of examples/nexmark, row by row beside DuckDB over the same events."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.dataset as ds
import pytest

from penstock.query import Query
from penstock.query.view import CHANGE, TIME
from support.engines.runs import Place, run_local, run_spark
from support.nexmark.nexmark_joins import EXAMPLES, Row, example, ordered, told
from support.nexmark.nexmark_views import VIEWS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NAMES = sorted({path.stem for path in EXAMPLES.glob("*.cql")} - set(VIEWS) - {"q7"})


def given(query: Query, place: Place) -> list[Row]:
    """The rows that a run has written; of a view the ones that were new."""
    rows = ds.dataset(place.folder / "results").to_table().to_pylist()
    if query.view is None:
        return ordered([tuple(row[o.name] for o in query.outputs) for row in rows])
    names = [*(output.name for output in query.view.outputs), TIME]
    return ordered([tuple(row[n] for n in names) for row in rows if row[CHANGE] == "upsert"])


@pytest.mark.parametrize("options", ["", ", seed = 7, out_of_order = 100, lateness = '1 second'"])
@pytest.mark.parametrize("name", NAMES)
def test_an_example_gives_what_duckdb_gives(name: str, options: str, tmp_path: Path) -> None:
    query = example(name, 200, options)
    place = Place(tmp_path)
    run_local(query, place, partitions=2)
    expected = told(name, query)
    assert len(expected) > 20
    assert given(query, place) == expected


def test_the_windows_leave_something_out() -> None:
    for name in (name for name in NAMES if name.endswith("_windowed")):
        whole = name.removesuffix("_windowed")
        fewer = set(told(name, example(name, 60)))
        assert fewer < set(told(whole, example(whole, 60)))


@pytest.mark.spark
def test_both_engines_make_the_same_events(spark: SparkSession, tmp_path: Path) -> None:
    query = example("q23_windowed", 200, ", out_of_order = 30, lateness = '1 second'")
    run_spark(spark, query, Place(tmp_path), partitions=2)
    assert given(query, Place(tmp_path)) == told("q23_windowed", query)

"""Nexmark's queries over queries beside DuckDB: views at four times, and the bids of q7."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.dataset as ds
import pytest

import penstock as ps
from support.nexmark.nexmark_joins import ordered
from support.nexmark.nexmark_views import (
    HIGHEST,
    VIEWS,
    oracle_at,
    replayed,
    script_text,
    tables,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RATE = 200


def told(name: str, folder: Path, spark: SparkSession | None = None) -> list[dict[str, Any]]:
    """What an example gives, in one process or on Spark."""
    query, sink = ps.sql(script_text(name, RATE)), ps.parquet(folder / "results")
    if spark is None:
        query.local(sink=sink, checkpoint=folder / "checkpoint").available_now()
    else:
        at = folder / "checkpoint"
        query.start(spark, sink=sink, checkpoint=at, available_now=True).await_termination()
    rows: list[dict[str, Any]] = ds.dataset(folder / "results").to_table().to_pylist()
    return rows


def _rounded(row: dict[str, Any]) -> dict[str, Any]:
    """A row with its means as far as two engines agree on them, and times without their zone."""
    return {name: _plain(value) for name, value in row.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.replace(tzinfo=None)
    return float(f"{value:.12g}") if isinstance(value, float) else value


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_is_what_duckdb_says_it_is(name: str, tmp_path: Path) -> None:
    check(name, told(name, tmp_path))


@pytest.mark.spark
def test_spark_gives_the_mean_of_the_last_prices(spark: SparkSession, tmp_path: Path) -> None:
    check("q6", told("q6", tmp_path, spark))


def check(name: str, changes: list[dict[str, Any]]) -> None:
    """Compare a view with that of DuckDB at four times."""
    view, base = VIEWS[name], tables(RATE)
    for second in (20, 30, 40, 50):
        at = datetime(2026, 1, 1, 0, 0, second, tzinfo=UTC)
        expected, found = oracle_at(base, view, at), replayed(changes, view.key, at)
        assert len(expected) > (0 if name == "q5" else 3)
        if name == "q6":
            assert set(expected) <= set(found)
        else:
            assert set(expected) == set(found)
        for key, row in expected.items():
            assert _rounded(found[key]) == _rounded(row)


def test_the_highest_bids_are_those_of_duckdb(tmp_path: Path) -> None:
    found = [tuple(row.values()) for row in told("q7", tmp_path)]
    at = datetime(2026, 1, 1, 0, 0, 50)
    expected = [row for row in tables(RATE).execute(HIGHEST).fetchall() if row[3] < at]
    assert len(expected) >= 5
    assert ordered(found) == ordered(expected)

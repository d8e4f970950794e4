"""Aggregates of every kind against the reference, whatever the plan."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

from penstock.plan.aggregation_sets import set_columns
from penstock.plan.drops import DropBoxes
from penstock.plan.multiway import MultiwayJoin
from penstock.query.expression import render
from penstock.query.view import AggregateFunction
from support.aggregates.aggregated import DRAWN, aggregated_view
from support.aggregates.written_aggregates import WINDOWS, written_case
from support.engines.runs import Place, planned, run_local, run_replanning, run_spark
from support.engines.viewed_runs import told_and_expected
from support.plans.every_kind import any_kind
from support.streams.cases import write_case
from support.streams.viewed import ask
from support.streams.views import expected, told

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.parametrize("function", sorted(DRAWN))
@pytest.mark.parametrize("seed", range(12))
def test_aggregates_are_what_the_reference_says(
    function: AggregateFunction, seed: int, tmp_path: Path
) -> None:
    case = aggregated_view(hash_of(function) + seed, [function])
    found, wanted = told_and_expected(case, tmp_path, Random(f"{function} {seed}"), any_kind)
    assert found == wanted


@pytest.mark.parametrize("windows", WINDOWS)
@pytest.mark.parametrize("is_total", [False, True], ids=["groups", "total"])
@pytest.mark.parametrize("seed", range(3))
def test_all_aggregates_as_they_are_written(
    windows: str, is_total: bool, seed: int, tmp_path: Path
) -> None:
    case = written_case(seed, windows, is_total)
    rng = Random(f"{windows} {is_total} {seed}")
    found, wanted = told_and_expected(case, tmp_path, rng, any_kind)
    assert found == wanted
    assert len(wanted) > 3


@pytest.mark.parametrize("recompute", [None, "a", "c"])
def test_all_sets_of_early_inputs_give_the_same(recompute: str | None, tmp_path: Path) -> None:
    case = written_case(7, "RANGE")
    query = write_case(case, tmp_path / "in")
    wanted = expected(case, query)
    for size in range(4):
        for early in combinations(query.aliases, size):
            place = Place(tmp_path / "-".join(("early", *early)))
            plan = planned(query)
            assert isinstance(plan, MultiwayJoin)
            plan = replace(plan, early=early, recompute=recompute)
            run_local(query, place, plan=plan, partitions=2)
            assert told(place, query) == wanted, early


@pytest.mark.parametrize("seed", range(4))
def test_plans_may_change_at_batch_boundaries(seed: int, tmp_path: Path) -> None:
    case = written_case(seed, "RANGE")
    query = write_case(case, tmp_path / "in")
    run_replanning(query, Place(tmp_path), Random(f"aggregates {seed}"), any_kind)
    assert told(Place(tmp_path), query) == expected(case, query)


def test_only_counts_and_sums_have_intervals_where_tuples_are_shed(tmp_path: Path) -> None:
    case = written_case(1, "RANGE")
    query = write_case(case, tmp_path / "in")
    names = [output.name for output in query.results]
    plan = replace(planned(query), early=("a",), drops=DropBoxes((("a", 0.5),), 1))
    run_local(query, Place(tmp_path), plan=plan)
    (first, *_) = sorted(Path(Place(tmp_path).sink.place).glob("*.parquet"))
    more = [name for name in pq.read_schema(first).names if name not in names]
    assert more == ["f1_low", "f1_high", "f2_low", "f2_high", "_time", "_change"]


@pytest.mark.parametrize(
    ("aggregate", "kept"),
    [
        ("SUM(x)", ["A.k"]),
        ("STDDEV(x)", ["A.k"]),
        ("MAX_BY(x, y)", ["A.k"]),
        ("LAST(x)", ["A.k", "A.ts", "A.x"]),
        ("COUNT(DISTINCT x)", ["A.k", "A.x"]),
        ("APPROX_PERCENTILE(x, 0.5)", ["A.k", "A.x"]),
    ],
)
def test_inputs_are_folded_by_what_must_be_known(aggregate: str, kept: list[str]) -> None:
    query = ask(f"SELECT {aggregate} FROM A [NOW], B [NOW] WHERE A.k = B.k")
    assert [render(each) for each in set_columns(query, "A")] == kept


@pytest.mark.spark
@pytest.mark.slow
def test_all_aggregates_on_spark(spark: SparkSession, tmp_path: Path) -> None:
    case = written_case(11, "RANGE")
    query = write_case(case, tmp_path / "in")
    plan = replace(planned(query), early=("a", "c"))
    run_spark(spark, query, Place(tmp_path), plan=plan)
    assert told(Place(tmp_path), query) == expected(case, query)


def hash_of(function: str) -> int:
    """Where the seeds of a function begin: the same in every run."""
    return sum(map(ord, function)) * 100

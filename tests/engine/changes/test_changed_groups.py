"""Views over ROWS windows of which only some groups change: the rest is not joined again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from penstock.cql import parse
from penstock.engine.changes import tracking
from penstock.engine.state.modules import CHANGES
from penstock.query import Query
from penstock.query.traces import GROUPS, trace_of
from support.aggregates.rows_views import random_rows_view
from support.engines.crashes import Crash, Run, exit_code
from support.engines.long_views import CHAIN, COMMON, long_case
from support.engines.runs import Place, first_files_only, planned, run_local, run_spark, tree
from support.engines.viewed_runs import told_and_expected
from support.plans.every_kind import any_kind
from support.streams.views import expected, told

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COUNTED = ("ROWS 6", "PARTITION BY k ROWS 2", "ROWS 5")
MIXED = ("ROWS 6", "RANGE 8 SECONDS", "PARTITION BY k ROWS 3")
LINKED = ("PARTITION BY j ROWS 3", "ROWS 7", "RANGE 9 SECONDS SLIDE 3 SECONDS")
SEEDS = range(60)
KINDS = ("by key", "by columns", "linked", "some left out", "whole")


def kind_of(query: Query) -> set[str]:
    """How changes lead to the groups of a view."""
    trace = trace_of(query)
    if trace is None:
        return {"whole"}
    found = {"by columns" if trace.root == GROUPS else "by key"}
    left_out = any(item.alias not in trace.told_by for item in query.streams)
    return (
        found | ({"linked"} if trace.links else set()) | ({"some left out"} if left_out else set())
    )


# ── as the reference says ─────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("seed", SEEDS)
def test_views_over_rows_are_what_the_reference_says(seed: int, tmp_path: Path) -> None:
    rng = Random(f"changed groups {seed}")
    found, wanted = told_and_expected(random_rows_view(seed), tmp_path, rng, any_kind)
    assert found == wanted


def test_the_cases_cover_all_traces() -> None:
    found = [kind for seed in SEEDS for kind in kind_of(random_rows_view(seed).query)]
    assert {kind: found.count(kind) for kind in KINDS if found.count(kind) < 5} == {}


@pytest.mark.parametrize("windows", [COUNTED, MIXED, LINKED], ids=["counted", "mixed", "linked"])
@pytest.mark.parametrize("where", [COMMON, CHAIN], ids=["common", "chain"])
@pytest.mark.parametrize("every", ["", "EVERY 2 SECONDS", "EVERY 17 SECONDS"])
def test_plans_may_change_while_little_does(
    windows: tuple[str, ...], where: str, every: str, tmp_path: Path
) -> None:
    rng = Random(f"{windows} {where} {every}")
    case = long_case(tmp_path / "in", windows, where, every, batches=16)
    query, place = case.query, Place(tmp_path)
    for count in (5, 6, 11):
        with first_files_only(query, count):
            run_local(query, place, plan=any_kind(query, rng), drain=False, partitions=2)
    run_local(query, place, plan=any_kind(query, rng))
    assert told(place, query) == expected(case, query)


@pytest.mark.parametrize("call", [2, 9])
@pytest.mark.parametrize("point", ["in a chunk", "after the commit"])
def test_a_killed_view_knows_what_has_changed(point: str, call: int, tmp_path: Path) -> None:
    case = long_case(tmp_path / "in", COUNTED, COMMON, "EVERY 17 SECONDS", batches=12)
    place = Place(tmp_path)
    run = Run(
        case.query.text, str(place.checkpoint), place.sink.name, Crash(point, call), early=("a",)
    )
    assert exit_code(run) == -9
    assert exit_code(replace(run, crash=None)) == 0
    assert told(place, case.query) == expected(case, case.query)


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("windows", [COUNTED, MIXED], ids=["counted", "mixed"])
def test_spark_joins_what_has_changed(
    windows: tuple[str, ...], spark: SparkSession, tmp_path: Path
) -> None:
    case = long_case(tmp_path / "in", windows, COMMON, batches=6)
    query, place = case.query, Place(tmp_path)
    with first_files_only(query, 3):
        run_spark(spark, query, place, plan=planned(query), drain=False)
    run_spark(spark, query, place, plan=replace(tree(query, (("a", "b"), "c")), early=("c",)))
    assert told(place, query) == expected(case, query)


# ── what is joined, and what is kept ──────────────────────────────────────────────────────────────

FEW = """
CREATE STREAM a (ts BIGINT, k INT) WITH (format='parquet', path='{folder}/a', timestamp='ts',
  unit='s', max_files=1);
CREATE STREAM b (ts BIGINT, k INT) WITH (format='parquet', path='{folder}/b', timestamp='ts',
  unit='s', max_files=1);
SELECT a.k, COUNT(*) AS n FROM a [{window}], b [{window}] WHERE a.k = b.k GROUP BY a.k
EVERY 1 SECOND
"""
GROUPS_THERE, BATCHES = 50, 6


def one_group_at_a_time(folder: Path, window: str) -> Query:
    """Two streams that bring all groups in the first batch, then two tuples of one in each."""
    schema = pa.schema({"ts": pa.int64(), "k": pa.int32()})
    for name in "ab":
        (folder / name).mkdir(parents=True)
        for number in range(BATCHES):
            keys = list(range(GROUPS_THERE)) if number == 0 else [number, number]
            rows = {"ts": [10 * number + (2 if i else 0) for i, _ in enumerate(keys)], "k": keys}
            pq.write_table(pa.table(rows, schema), folder / name / f"{number:04}.parquet")
    return parse(FEW.format(folder=folder, window=window))


@pytest.mark.parametrize(
    "window", ["PARTITION BY k ROWS 3", "ROWS 1000"], ids=["partitioned", "rows"]
)
def test_only_groups_that_change_are_joined(window: str, tmp_path: Path) -> None:
    query = one_group_at_a_time(tmp_path / "in", window)
    reports = run_local(query, Place(tmp_path), drain=False)
    met = [sum(o.came_out for o in report.operators if o.kind == "probe") for report in reports]
    # The frontier passes the last tuple of a batch with the next one, so that two groups change.
    assert met[1] >= GROUPS_THERE
    assert all(1 <= count <= 18 for count in met[2:BATCHES])


@contextmanager
def log_of(most: int) -> Iterator[None]:
    """Let the log have no more than so many rows."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tracking, "MOST", most)
        yield


def test_a_log_that_grows_too_long_ends_and_everything_is_joined(tmp_path: Path) -> None:
    case = long_case(tmp_path / "in", MIXED, COMMON, "EVERY 17 SECONDS", batches=12)
    query, place = case.query, Place(tmp_path)
    with first_files_only(query, 4):
        run_local(query, place, drain=False)
    assert place.manifest.modules[CHANGES][0][0].rows > 2
    with first_files_only(query, 8), log_of(2):
        run_local(query, place, drain=False)
    assert not place.manifest.modules[CHANGES].get(0)
    run_local(query, place)
    assert told(place, query) == expected(case, query)


def test_a_checkpoint_without_a_log_goes_on(tmp_path: Path) -> None:
    case = long_case(tmp_path / "in", MIXED, COMMON, batches=8)
    query, place = case.query, Place(tmp_path)
    with first_files_only(query, 4), log_of(0):
        run_local(query, place, drain=False)
    run_local(query, place)
    assert told(place, query) == expected(case, query)

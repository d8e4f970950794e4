"""Inner state that fills itself: whatever plans do meanwhile, results are the reference's."""

from __future__ import annotations

import signal
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random
from threading import Event
from typing import TYPE_CHECKING, Any

import pytest

from penstock.engine.local import open_run
from penstock.engine.reports.report import Report
from penstock.engine.run.options import RunOptions
from penstock.engine.sinks.sink import jsonl
from penstock.plan.plan import Plan
from penstock.query import Query
from reference import answer
from support.engines.crashes import Crash, Run, exit_code
from support.engines.runs import Place, first_files_only, planned, run_local, tree
from support.engines.soak import expected, results, script, write_input
from support.plans.filling import (
    FillingRun,
    filling_query,
    in_many_batches,
    mostly_trees,
    mostly_trees_or_meshes,
)
from support.plans.meshes import timed
from support.plans.trees import CHAIN, TIMES, assert_only_what_counts_is_there, long_query
from support.streams.cases import canonical, random_case, random_view, write_case
from support.streams.views import expected as expected_view
from support.streams.views import told

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BUSHY, DEEP = (("a", "b"), ("d", "c")), ("d", ("c", ("b", "a")))


def test_many_batches_give_what_the_multiway_join_does(tmp_path: Path) -> None:
    """Also when all has happened that may happen to inner state, which few runs are enough for."""
    seen = set[str]().union(*(_filled(seed, tmp_path / str(seed)) for seed in range(8)))
    assert seen >= {"begun", "whole", "changed while filling", "stopped while filling"}


def _filled(seed: int, folder: Path) -> set[str]:
    """What happened to inner state in a run that gives the right results."""
    rng = Random(f"filling {seed}")
    query = filling_query(folder / "in", rng)
    plain, place = Place(folder / "plain"), Place(folder)
    run_local(query, plain)
    run = FillingRun(query, place, rng, mostly_trees)
    run.run()
    assert canonical(place.results(query)) == canonical(plain.results(query)), seed
    assert_only_what_counts_is_there(place)
    return run.seen


@pytest.mark.parametrize("seed", range(8000, 8016))
def test_results_are_the_references(seed: int, tmp_path: Path) -> None:
    rng = Random(f"filling {seed}")
    case = in_many_batches(timed(random_case(seed), rng), rng)
    query = write_case(case, tmp_path / "in")
    place = Place(tmp_path)
    FillingRun(query, place, rng, mostly_trees_or_meshes).run()
    assert canonical(place.results(query)) == canonical(answer(query, case.batches))


@pytest.mark.parametrize("seed", range(8100, 8112))
def test_views_are_the_references(seed: int, tmp_path: Path) -> None:
    rng = Random(f"filling view {seed}")
    case = in_many_batches(random_view(seed), rng)
    query = write_case(case, tmp_path / "in")
    place = Place(tmp_path)
    FillingRun(query, place, rng, _early).run()
    assert told(place, query) == expected_view(case, query)


def _early(query: Query, rng: Random) -> Plan:
    """Any plan with any inputs aggregated early: inner state of other columns is begun anew."""
    early = tuple(alias for alias in query.aliases if rng.random() < 0.3)
    return replace(mostly_trees(query, rng), early=early)


def test_a_switch_fills_for_as_long_as_windows_last(tmp_path: Path) -> None:
    query = long_query(tmp_path / "in", ("RANGE 9 SECONDS",) * 4, CHAIN, batches=24)
    plain, place = Place(tmp_path / "plain"), Place(tmp_path)
    wanted = [report.results for report in run_local(query, plain)]
    reports: list[Report] = []

    def after(report: Report) -> None:
        reports.append(report)
        if report.batch == 8:
            run.replan(tree(query, BUSHY))

    run = open_run(
        tree(query, DEEP),
        RunOptions(
            sink=place.sink, checkpoint=str(place.checkpoint), report=after, rebuilt_at_once=0
        ),
    )
    run.available_now(drain=True)
    assert [report.results for report in reports] == wanted
    filling = [report.batch for report in reports if report.filling]
    # A batch has three seconds; some bring nothing of a stream.
    assert filling == list(range(9, 9 + len(filling)))
    assert 2 <= len(filling) <= 6
    assert reports[9].filling == ("(c d)@1",)


def test_little_state_is_rebuilt_at_once(tmp_path: Path) -> None:
    query = long_query(tmp_path / "in", TIMES, CHAIN, batches=6)
    place = Place(tmp_path)
    with first_files_only(query, 3):
        run_local(query, place, drain=False)
    reports = run_local(query, place, plan=tree(query, BUSHY))
    assert not any(report.filling for report in reports)


# ── killed ────────────────────────────────────────────────────────────────────────────────────────

SHAPES = (*[(("a", "b"), "c")] * 5, *[("a", ("b", "c"))] * 6, None)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Counter[Any]]]:
    """Input of a dozen batches, of which windows last three or four."""
    folder = tmp_path_factory.mktemp("input")
    write_input(folder, 12, Random(6))
    return folder, {query: expected(script(query, folder)) for query in ("common", "chain")}


@pytest.mark.parametrize(
    ("query", "point"),
    [
        ("common", "in a chunk"),
        ("chain", "after a chunk"),
        ("common", "before the commit"),
        ("chain", "after the commit"),
        ("chain", "in the sweep"),
    ],
)
def test_a_crash_while_state_fills_is_survived(
    query: str, point: str, prepared: tuple[Path, dict[str, Counter[Any]]], tmp_path: Path
) -> None:
    folder, wanted = prepared
    sink = jsonl(tmp_path / "results")
    checkpoint = str(tmp_path / "checkpoint")
    run = Run(script(query, folder), checkpoint, sink.name, shapes=SHAPES, rebuilt_at_once=0)
    # It switches after five batches, of which each writes several chunks.
    calls = (22, 4, 4) if "chunk" in point else (5, 1, 1)
    codes = [exit_code(replace(run, crash=Crash(point, call))) for call in calls]
    codes.append(exit_code(run))
    assert codes == [-signal.SIGKILL] * 3 + [0]
    assert results(sink) == wanted[query]


# ── on Spark ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_state_fills_on_spark(seed: int, spark: SparkSession, tmp_path: Path) -> None:
    from penstock.engine.spark.start import start

    query = long_query(tmp_path / "in", TIMES, CHAIN, batches=14, seed=seed)
    plain, place = Place(tmp_path / "plain"), Place(tmp_path / "spark")
    run_local(query, plain)
    begun = Event()
    plans: dict[int, Plan] = {1: tree(query, DEEP), 6: tree(query, BUSHY), 12: planned(query)}

    def follow(report: Report) -> None:
        begun.wait()
        if report.batch in plans:
            run.replan(plans[report.batch])

    run = start(
        planned(query),
        spark,
        RunOptions(
            sink=place.sink,
            checkpoint=str(place.checkpoint),
            partitions=2,
            available_now=True,
            drain=True,
            report=follow,
            rebuilt_at_once=0,
        ),
    )
    begun.set()
    run.await_termination()
    filling = [report.batch for report in run.reports if report.filling]
    assert filling
    assert 11 not in filling
    assert canonical(place.results(query)) == canonical(plain.results(query))

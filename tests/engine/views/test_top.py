"""The first rows of views, and the first tuples of joins, against the reference."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

from penstock.engine.results.content import content_of
from penstock.engine.run.options import RunOptions
from penstock.engine.sinks.sink import noop
from penstock.errors import CheckpointError, PlanError
from penstock.plan.drops import DropBoxes
from penstock.query.ranking import Order
from penstock.query.view import CHANGE
from reference import Row, in_time, view_at, view_changes
from support.engines import script_runs
from support.engines.crashes import Crash, Run, exit_code
from support.engines.long_views import CHAIN, ROWS, SLIDING, long_case, one_stream, table_of
from support.engines.read_back import rows_in
from support.engines.runs import Place, first_files_only, planned, run_local, run_replanning
from support.engines.viewed_runs import told_and_expected
from support.plans.every_kind import any_kind
from support.streams.cases import Case, canonical, write_case
from support.streams.hostile import Hostile, all_null, nothing_at_all, one_key_only, one_moment
from support.streams.scripts import write_script
from support.streams.views import expected, told
from support.tops.top_cases import random_top, random_tuples
from support.tops.top_scripts import top_script

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Make = Callable[[int], Case]
MAKES = [random_top, random_tuples]


@pytest.mark.parametrize("make", MAKES)
@pytest.mark.parametrize("seed", range(24))
def test_the_first_rows_are_those_of_the_reference(make: Make, seed: int, tmp_path: Path) -> None:
    found, wanted = told_and_expected(make(seed), tmp_path, Random(f"first {seed}"), any_kind)
    assert found == wanted


def test_the_cases_tell_something_and_leave_something_out() -> None:
    for make in MAKES:
        cases = [make(seed) for seed in range(24)]
        changes = [expected(case, case.query) for case in cases]
        assert sum(bool(each) for each in changes) > 18
        kinds = {row[1] for each in changes for row in each}
        assert kinds == {"upsert", "delete"}
        whole = [replace(c.query, view=replace(c.query.view, top=None)) for c in cases]  # type: ignore[type-var]
        numberless = [
            (case, query, told)
            for case, query, told in zip(cases, whole, changes, strict=True)
            if all(output.name != "place" for output in query.results)
        ]
        assert any(expected(case, query) != told for case, query, told in numberless)


@pytest.mark.parametrize("make", MAKES)
@pytest.mark.parametrize("hostile", [nothing_at_all, one_key_only, all_null, one_moment])
def test_the_first_rows_of_streams_as_nobody_wishes_them(
    make: Make, hostile: Hostile, tmp_path: Path
) -> None:
    for seed in (31, 32):
        case = hostile(make(seed))
        found, wanted = told_and_expected(case, tmp_path / str(seed), Random(seed), any_kind)
        assert found == wanted


@pytest.mark.parametrize("make", MAKES)
def test_plans_change_and_the_first_rows_stay_exact(make: Make, tmp_path: Path) -> None:
    for seed in (41, 42, 43):
        case = make(seed)
        query, place = write_case(case, tmp_path / str(seed)), Place(tmp_path / f"{seed} out")
        run_replanning(query, place, Random(seed), any_kind)
        assert told(place, query) == expected(case, query)


# ── scripts ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("seed", range(10))
def test_views_of_first_rows_are_read_by_other_queries(seed: int, tmp_path: Path) -> None:
    case, rng = top_script(seed), Random(seed)
    script = write_script(case, tmp_path)
    drain = rng.random() < 0.7
    plans = script_runs.plans_of(script, rng)
    run = script_runs.opened(script, tmp_path, plans, partitions=rng.randint(1, 3))
    run.available_now(drain=drain)
    assert script_runs.found(script, tmp_path) == script_runs.expected(case, drain=drain)


@pytest.mark.spark
def test_spark_shows_the_same_first_rows(spark: SparkSession, tmp_path: Path) -> None:
    from penstock.engine.spark.start import start_script

    case = top_script(4)
    script = write_script(case, tmp_path)
    at = str(tmp_path / "checkpoint")
    options = RunOptions(sink=noop(), checkpoint=at, available_now=True, drain=True, partitions=2)
    plans, sinks = script_runs.plans_of(script), script_runs.sinks_of(script, tmp_path)
    start_script(script, plans, sinks, spark, options).await_termination()
    assert script_runs.found(script, tmp_path) == script_runs.expected(case)


# ── state ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("window", ["UNBOUNDED", "RANGE 40 SECONDS"])
def test_tuples_that_are_never_shown_again_are_forgotten(window: str, tmp_path: Path) -> None:
    rng = Random(5)
    batches = [table_of([6 * n + i // 8 for i in range(48)], *_values(rng, 48)) for n in range(10)]
    select = (
        "SELECT v % 3 AS part, x, ROW_NUMBER() OVER (PARTITION BY v % 3 ORDER BY x DESC) AS r "
        f"FROM a [{window}] QUALIFY r <= 3 EVERY 1 SECOND"
    )
    query = one_stream(tmp_path / "in", batches, select)
    reports = run_local(query, Place(tmp_path), drain=False, partitions=2)
    # Of 480 tuples, mostly those of the last batch: once by ticks, and once as the view is now.
    assert max(report.state_tuples for report in reports) < 180
    rows = [row for n, batch in enumerate(batches) for row in enumerate(batch.to_pylist(), n << 36)]
    case = Case(query, {"a": [[Row(10**6 * r["ts"], at, r) for at, r in rows]]})
    assert told(Place(tmp_path), query) == expected(case, query, drain=False)


def _values(rng: Random, size: int) -> tuple[list[int], list[float]]:
    return [rng.randrange(1000) for _ in range(size)], [rng.random() for _ in range(size)]


# ── checkpoints ───────────────────────────────────────────────────────────────────────────────────

LIMIT = "EVERY 4 SECONDS ORDER BY mean DESC NULLS FIRST, top LIMIT 2"
QUALIFY = "QUALIFY ROW_NUMBER() OVER (PARTITION BY COUNT(*) % 2 ORDER BY ids DESC) = 1 EVERY 2 s"
SERIES = {
    "limit": (
        SLIDING,
        LIMIT,
        [
            Crash("in a chunk", 3),
            Crash("before the commit", 2),
            Crash("after the commit", 2),
            Crash("before the commit", 0, in_drain=True),
        ],
    ),
    "qualify": (
        ROWS,
        QUALIFY,
        [
            Crash("after a chunk", 9),
            Crash("after the results are staged", 2),
            Crash("in publishing files", 1),
            Crash("after the commit", 0, in_drain=True),
        ],
    ),
}


@pytest.mark.parametrize("series", SERIES)
def test_killed_again_and_again_the_first_rows_stay_exact(series: str, tmp_path: Path) -> None:
    windows, clause, crashes = SERIES[series]
    case = long_case(tmp_path / "in", windows, CHAIN, clause, batches=12)
    place, shapes = Place(tmp_path), (None, (("a", "b"), "c"))
    text, checkpoint, sink = case.query.text, str(place.checkpoint), place.sink.name
    run = Run(text, checkpoint, sink, None, shapes, early=("a", "c"))
    assert [exit_code(replace(run, crash=crash)) for crash in crashes] == [-9] * len(crashes)
    assert exit_code(run) == 0
    found = told(place, case.query)
    assert found == expected(case, case.query)
    assert found.total() > 20


def test_what_is_shown_is_read_back_from_the_checkpoint(tmp_path: Path) -> None:
    case = long_case(tmp_path / "in", SLIDING, CHAIN, LIMIT, batches=12)
    query, place = case.query, Place(tmp_path)
    run_local(query, place, drain=False, partitions=3)
    content = content_of(str(place.checkpoint))
    rows = rows_in(content, content.table())
    windows = {item.alias: in_time(item, case.batches[item.alias]) for item in query.inputs}
    last = view_changes(query, case.batches, drain=False)[-1].time
    now = view_at(query, windows, last)
    assert len(now) == 2
    names = [output.name for output in query.results]
    assert canonical([row[n] for n in names] for row in rows) == canonical(now.values())
    assert {row[CHANGE] for row in rows} == {"upsert"}


def test_another_order_is_another_query(tmp_path: Path) -> None:
    case = random_top(7)
    query, place = write_case(case, tmp_path / "in"), Place(tmp_path)
    with first_files_only(query, 1):
        run_local(query, place, drain=False)
    view = query.view
    assert view is not None
    assert view.top is not None
    for top in (
        None,
        replace(view.top, count=view.top.count + 1),
        replace(view.top, order=(Order(view.top.order[0].by, not view.top.order[0].descending),)),
    ):
        with pytest.raises(CheckpointError, match=r"its (first rows|aggregates|outputs) differ"):
            run_local(replace(query, view=replace(view, top=top)), place)


def test_the_first_rows_are_not_shed(tmp_path: Path) -> None:
    query = write_case(random_top(1), tmp_path / "in")
    plan = replace(planned(query), drops=DropBoxes((("A", 0.5),)))
    with pytest.raises(PlanError, match="shows the first rows"):
        run_local(query, Place(tmp_path), plan=plan)

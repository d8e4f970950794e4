"""Runs that shed by themselves, on a virtual clock: real files, real joins, time by work counts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from penstock.adapt.follow import shedder_for, supervisor_for
from penstock.adapt.replanner import Mode
from penstock.adapt.settings import DEFAULT_SETTINGS
from penstock.cql import parse
from penstock.duration import Duration
from penstock.engine.local import open_run
from penstock.engine.reports.report import Report
from penstock.engine.run.options import RunOptions
from penstock.engine.state.plan_log import PlanLog
from penstock.optimize.options import PlanOptions
from penstock.plan.default_plan import default_plan
from penstock.plan.plan import Plan
from penstock.plan.text.parse import forced_plan
from penstock.query import Query
from penstock.stats.guess import complete
from support.adapt.virtual_clock import BEGIN, VirtualClock, arrivals
from support.engines.runs import Place

JOIN = """
CREATE STREAM a (ts BIGINT, k INT)
  WITH (format='parquet', path='{folder}/a', timestamp='ts', unit='ms');
CREATE STREAM b (ts BIGINT, k INT)
  WITH (format='parquet', path='{folder}/b', timestamp='ts', unit='ms');
SELECT a.ts AS a, b.ts AS b FROM a [RANGE 10 SECONDS], b [RANGE 10 SECONDS] WHERE a.k = b.k
"""
COUNTED = """
SELECT a.ts AS at, b.ts AS bt, COUNT(*) AS n
FROM a [RANGE 10 SECONDS], b [RANGE 10 SECONDS] WHERE a.k = b.k
GROUP BY a.ts, b.ts EVERY 1 SECOND
"""
NO_DRIFT = replace(DEFAULT_SETTINGS, drift_least=10**6, moved_far=1e9, weigh_every=10**6)
"""Plans are weighed for no other reason than shedding."""
CALM, HIGH = 40, 120
FIRST, LAST, END = 20, 80, 110
DELAY = 5.0


def burst_query(folder: Path, clock: VirtualClock) -> Query:
    """A join whose streams are three times as fast for a while: nine times the results."""
    counts = [HIGH if FIRST <= second < LAST else CALM for second in range(END)]
    files = [*arrivals(folder, "a", counts, 20), *arrivals(folder, "b", counts, 20)]
    clock.coming = sorted(files)
    return parse(JOIN.format(folder=folder))


def play(
    query: Query,
    place: Place,
    *,
    sheds: bool = True,
    seconds: float = END + 5.0,
    plan: Plan | None = None,
    mode: Mode = "off",
) -> list[Report]:
    """The reports of a run of so many virtual seconds."""
    reports: list[Report] = []
    plan, planning = plan or default_plan(query), PlanOptions(sheds=sheds, engine="local")
    options = RunOptions(
        sink=place.sink,
        checkpoint=str(place.checkpoint),
        delay=Duration.of_seconds(DELAY) if sheds else None,
        report=reports.append,
    )
    shedder = shedder_for(query, options, planning, is_inline=True)
    supervisor = supervisor_for(
        plan,
        complete(query),
        planning,
        mode,
        settings=NO_DRIFT,
        planning="inline",
        shedder=shedder,
    )
    run = open_run(plan, replace(options, supervisor=supervisor))
    run.await_termination(seconds)
    run.stop()
    return reports


def test_a_burst_is_shed_for_the_delay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = VirtualClock()
    query, place = burst_query(tmp_path / "in", clock), Place(tmp_path)
    clock.install(monkeypatch)
    reports = play(query, place)
    kept = [min((item.keep for item in each.inputs.values()), default=1.0) for each in reports]
    newest = np.array([max(t or 0 for t in r.newest.values()) / 1e6 for r in reports])
    during = [i for i, second in enumerate(newest) if FIRST + 1 < second <= LAST]
    delays = np.array([reports[i].delay or 0.0 for i in during]) / DELAY
    assert delays.max() <= 1.5
    assert delays[10:].mean() == pytest.approx(1.0, abs=0.2)
    assert min(kept) < 0.9
    assert all(keep == 1.0 for keep, second in zip(kept, newest, strict=True) if second < FIRST)
    calm = [keep for keep, second in zip(kept, newest, strict=True) if second > LAST + 1]
    assert calm[10:]
    assert set(calm[10:]) == {1.0}
    assert reports[-1].total_shed == place.manifest.total_shed
    said = [change.reason for each in reports for change in each.changes if change.kind == "shed"]
    assert "wanted 5 s, load " in said[0]
    followed = PlanLog(place.store).last
    assert followed is not None
    assert followed.reason == said[-1]


@pytest.mark.parametrize("stops", [0, 20])
def test_files_that_wait_are_caught_up_with(
    stops: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder full of files at the start, and again after a stop: results are late, none is shed,
    and what comes afterwards is in time."""
    clock = VirtualClock()
    folder, place = tmp_path / "in", Place(tmp_path)
    for name in "ab":
        files = arrivals(folder, name, [CALM] * END, 20)
        clock.coming += [(max(at, BEGIN + 30.0), hidden, seen) for at, hidden, seen in files]
    clock.coming.sort()
    clock.install(monkeypatch)
    clock.advance(30.0)
    query = parse(JOIN.replace("unit='ms'", "unit='ms', max_files=5").format(folder=folder))
    reports = play(query, place, seconds=10.0 if stops else 40.0)
    if stops:
        clock.advance(stops)
        reports += play(query, place, seconds=45.0)
    assert not any(place.manifest.total_shed.values())
    delays = [each.delay or 0.0 for each in reports]
    assert max(delays) > 2.0 * DELAY
    assert delays[-1] < DELAY


def test_a_view_that_is_recomputed_is_shed_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To leave it would take a recomputation and more, when there is least time for it."""
    clock = VirtualClock()
    declared = burst_query(tmp_path / "in", clock)
    text = JOIN.partition("SELECT")[0].format(folder=tmp_path / "in")
    query, place = parse(text + COUNTED), Place(tmp_path)
    assert query.sources == declared.sources
    clock.install(monkeypatch)
    plan = forced_plan(query, "a: b; b: a | early a b | recompute a")
    reports = play(query, place, plan=plan)
    shed = [each for each in reports if any(item.keep < 1.0 for item in each.inputs.values())]
    assert shed
    assert "recompute" in shed[0].plan


def test_the_same_again_gives_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for attempt in ("one", "two"):
        clock = VirtualClock()
        query = burst_query(tmp_path / attempt / "in", clock)
        with monkeypatch.context() as patch:
            clock.install(patch)
            play(query, Place(tmp_path / attempt))
        made = Place(tmp_path / attempt).manifest
        found.append((made.total_shed, made.results))
    assert found[0] == found[1]


def test_without_shedding_it_falls_behind_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = VirtualClock()
    query, place = burst_query(tmp_path / "in", clock), Place(tmp_path)
    clock.install(monkeypatch)
    reports = play(query, place, sheds=False)
    said = [change for each in reports for change in each.changes if change.kind == "behind"]
    assert 1 <= len(said) <= 3
    assert not any(place.manifest.total_shed.values())

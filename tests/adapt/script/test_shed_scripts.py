"""Scripts that shed by themselves, on a virtual clock: one delay, led by the drop boxes of several
queries."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import penstock as ps
from penstock.duration import Duration
from penstock.engine.reports.report import Report
from penstock.query.script import NOTHING_STANDS, Standing
from support.adapt.followed_scripts import FollowedScript, open_followed
from support.adapt.virtual_clock import VirtualClock, WorkCosts, arrivals

SCRIPT = """
CREATE STREAM a (ts BIGINT, k INT)
  WITH (format='parquet', path='{folder}/a', timestamp='ts', unit='ms');
CREATE STREAM b (ts BIGINT, k INT)
  WITH (format='parquet', path='{folder}/b', timestamp='ts', unit='ms');
SELECT a.ts AS a, b.ts AS b FROM a [RANGE 10 SECONDS], b [RANGE 10 SECONDS] WHERE a.k = b.k
INTO pairs;
SELECT a.k, COUNT(*) AS n FROM a [RANGE 5 SECONDS], b [RANGE 10 SECONDS] WHERE a.k = b.k
GROUP BY a.k EVERY 5 SECONDS INTO counted;
CREATE VIEW busy AS SELECT k, COUNT(*) AS n FROM a [RANGE 5 SECONDS] GROUP BY k EVERY 5 SECONDS;
SELECT b.k, v.n FROM b [NOW], busy AS v WHERE b.k = v.k AND v.n > 1000 INTO crowded;
"""
CALM, HIGH = 40, 120
FIRST, LAST, END = 15, 45, 60
DELAY = 5.0
SHARED = Standing(
    frozenset({"pairs", "counted", "busy", "crowded"}), {"shared.1": ("pairs", "counted")}
)
HARD, FREE = WorkCosts(keep=1e-3, result=5e-4), WorkCosts(0.0, 0.0, 0.0, 0.0)


def asked(folder: Path, clock: VirtualClock) -> ps.ContinuousScript:
    """Queries whose streams are three times as fast for a while."""
    counts = [HIGH if FIRST <= second < LAST else CALM for second in range(END)]
    files = [*arrivals(folder, "a", counts, 20), *arrivals(folder, "b", counts, 20)]
    clock.coming = sorted(files)
    text = SCRIPT.format(folder=folder)
    return ps.script(text, engine="local", shed=True, off=["sharing"])


def play(
    script: ps.ContinuousScript,
    folder: Path,
    *,
    sheds: bool = True,
    until: float = END + 5.0,
    standing: Standing = NOTHING_STANDS,
) -> FollowedScript:
    delay = Duration.of_seconds(DELAY) if sheds else None
    run, found = open_followed(script, folder, "off", standing, delay=delay)
    run.await_termination(until)
    run.stop()
    return found


def kept(report: Report, name: str) -> float:
    """The least that a batch kept of an input of a query."""
    return min((item.keep for item in report.members[name].inputs.values()), default=1.0)


def seconds(reports: list[Report]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """How far the streams had come at the end of each batch."""
    return np.array([max(t or 0 for t in r.newest.values()) / 1e6 for r in reports])


def test_a_burst_is_shed_for_the_delay_of_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = VirtualClock()
    script = asked(tmp_path / "in", clock)
    clock.install(monkeypatch)
    run = play(script, tmp_path)
    reports, newest = run.reports, seconds(run.reports)
    during = [r for r, second in zip(reports, newest, strict=True) if FIRST + 1 < second <= LAST]
    delays = np.array([r.delay or 0.0 for r in during]) / DELAY
    assert delays.max() <= 1.6
    assert delays[10:].mean() == pytest.approx(1.0, abs=0.25)
    for name in ("pairs", "counted"):
        least = [kept(report, name) for report in reports]
        assert all(k == 1.0 for k, second in zip(least, newest, strict=True) if second < FIRST)
        assert least[-1] == 1.0
    assert min(kept(report, "pairs") for report in reports) < 0.9
    # What others read is whole.
    assert {kept(report, "busy") for report in reports} == {1.0}
    said = [change.reason for each in reports for change in each.changes if change.kind == "shed"]
    assert "wanted 5 s, load " in said[0]
    assert "pairs keeps " in said[0]
    assert said[-1].endswith("keeps all of every stream")


@pytest.mark.parametrize("standing", [NOTHING_STANDS, SHARED], ids=["apart", "shared"])
def test_what_is_left_of_joins_is_some_and_of_views_an_estimate(
    standing: Standing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = {}
    for sheds in (True, False):
        clock = VirtualClock(HARD if sheds else FREE)
        folder = tmp_path / str(sheds)
        script = asked(folder / "in", clock)
        with monkeypatch.context() as patch:
            clock.install(patch)
            mine = standing if sheds else NOTHING_STANDS
            runs[sheds] = play(script, folder, sheds=sheds, standing=mine)
    shed, exact = runs[True].results, runs[False].results
    assert min(kept(report, "counted") for report in runs[True].reports) < 0.9
    assert shed["pairs"] < exact["pairs"]
    assert shed["crowded"] == exact["crowded"]
    columns = {name: _counts(run.folder) for name, run in runs.items()}
    # Of a group that has not changed nothing is told.
    both = columns[True].keys() & columns[False].keys()
    found = [(columns[True][key], columns[False][key]["n"]) for key in both]
    told = [(row["n_low"], truth, row["n_high"]) for row, truth in found if row["n_low"]]
    inside = [low <= truth <= high for low, truth, high in told if low < high]
    assert len(inside) > 50
    assert sum(inside) / len(inside) > 0.9


def test_a_run_that_goes_on_begins_with_the_last_boxes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = VirtualClock()
    script = asked(tmp_path / "in", clock)
    clock.install(monkeypatch)
    before = play(script, tmp_path, until=40.0).reports[-1]
    again = play(script, tmp_path, until=5.0).reports[0]
    assert again.batch == before.batch + 1
    assert kept(before, "pairs") < 1.0
    assert kept(again, "pairs") < 1.0


def test_without_shedding_it_falls_behind_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = VirtualClock()
    script = asked(tmp_path / "in", clock)
    clock.install(monkeypatch)
    run = play(script, tmp_path, sheds=False)
    said = [change for each in run.reports for change in each.changes if change.kind == "behind"]
    assert 1 <= len(said) <= 3
    assert "--shed --delay" in said[0].reason
    assert all(kept(report, "pairs") == 1.0 for report in run.reports)


def _counts(folder: Path) -> dict[tuple[object, object], dict[str, float]]:
    rows = [r for f in (folder / "counted").glob("*.parquet") for r in pq.read_table(f).to_pylist()]
    return {(row["k"], row["_time"]): row for row in rows if row["_change"] == "upsert"}

"""The lines of progress: spans, moments, and how often they are told."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from penstock.cli.show.progress import Progress
from penstock.duration import Duration
from penstock.engine.reports.parts import Change
from penstock.engine.reports.report import Report
from penstock.engine.rows.event_time import moment
from penstock.engine.state.no_results import Waiting
from support.streams.two_streams import SECOND

DAY = 86_400 * SECOND


@pytest.mark.parametrize(
    ("micros", "wanted"),
    [
        (0, "0 seconds"),
        (1, "1 microsecond"),
        (1_500, "1.5 milliseconds"),
        (SECOND, "1 second"),
        (90 * SECOND, "1.5 minutes"),
        (40 * 60 * SECOND, "40 minutes"),
        (4 * DAY, "4 days"),
        (10_000 * DAY, "10,000 days"),
    ],
)
def test_spans_for_people(micros: int, wanted: str) -> None:
    assert Duration(micros).about == wanted


@pytest.mark.parametrize(
    ("micros", "wanted"),
    [
        (0, "1970-01-01 00:00:00"),
        (1_500_000, "1970-01-01 00:00:01.5"),
        (1 << 61, "2,305,843,009,213,693,952 µs"),
    ],
)
def test_moments_for_people(micros: int, wanted: str) -> None:
    assert moment(micros) == wanted


def report(number: int, results: int = 0, **more: Any) -> Report:
    counts = {"bid": 5_013, "auction": 510, "person": 204}
    none = dict.fromkeys(counts, 0)
    return replace(
        Report(number, 0.31, counts, none, none, results, 20_112, 10 * SECOND, results),
        newest=dict.fromkeys(counts, 12 * SECOND),
        **more,
    )


def test_lines_are_not_too_long(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress()
    for number in range(4):
        progress(report(number, results=5_604))
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 8
    assert max(map(len, lines)) <= 100
    assert lines[1] == "  frontier 1970-01-01 00:00:10  lag 2 s"


def test_lines_tell_rate_lag_and_busy_share(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress()
    progress(report(0, results=7, busy=0.6249))
    said = capsys.readouterr().err
    assert re.search(r"out 7  state 20,112  [\d,]+/s  busy 62.5 %\n  frontier .* lag 2 s", said)


def test_it_is_told_less_and_less_often(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress()
    for number in range(30):
        progress(report(number, waiting=Waiting(f"waits {number}")))
    said = re.findall(r"waits (\d+)", capsys.readouterr().err)
    assert said == ["2", "5", "11", "23"]


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Console:
    """Progress as it is on a terminal, recorded."""
    console = Console(force_terminal=True, width=100, height=40, record=True)
    monkeypatch.setattr("penstock.cli.show.progress.Console", lambda file: console)
    return console


def test_the_live_table_says_it_too(terminal: Console) -> None:
    with Progress() as progress:
        for number in range(4):
            waiting = Waiting("view waits for c: no tuple yet")
            progress(report(number, waiting=waiting, busy=0.6249))
    shown = terminal.export_text()
    assert "state 20,112 tuples · busy 62.5 % · frontier" in shown
    assert "view waits for c: no tuple yet" in shown
    assert "frontier 1970-01-01 00:00:10  lag 2 s" in shown
    assert re.search(r"newest\s*\n.*bid .* 1970-01-01 00:00:12", shown)


def test_decisions_are_said_when_they_are_made(capsys: pytest.CaptureFixture[str]) -> None:
    changes = (
        Change("drift", "rate of a: 300 tuples/s in this batch"),
        Change("switch", "40% less work, and nothing to rebuild", "(b a)", 0.4),
        Change("order", "replan on: replan is on"),
    )
    progress = Progress()
    progress(report(0, 1, changes=changes))
    progress(report(1, 1))
    said = capsys.readouterr().err
    assert said.count("  another plan: (b a): 40% less work, and nothing to rebuild\n") == 1
    assert said.count("  because of rate of a: 300 tuples/s in this batch\n") == 1
    assert "replan is on" not in said


def test_a_query_that_falls_behind_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress()
    late = Change("behind", "a second of data takes 1.8 s")
    for number, changes in enumerate([(), (late,), ()]):
        progress(report(number, 1, changes=changes))
    said = capsys.readouterr().err
    assert said.count("it falls behind: a second of data takes 1.8 s") == 1


@pytest.mark.parametrize(
    ("before", "shed", "said"),
    [
        (0, 7, "shed bid 7"),
        (100, 7, "shed bid 7 (bid 107 since the checkpoint began)"),
        (100, 0, "nothing was shed in this run (bid 100 since the checkpoint began)"),
        (0, 0, ""),
    ],
)
def test_a_run_says_what_it_has_shed_itself(
    before: int, shed: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with Progress() as progress:
        progress(report(0, 1, shed={"bid": shed}, total_shed={"bid": before + shed}))
    lines = [line for line in capsys.readouterr().err.splitlines() if not line.startswith("batch")]
    assert [line for line in lines if "shed" in line and not line.startswith("read")] == (
        [said] if said else []
    )

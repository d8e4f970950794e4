"""Why nothing comes out: what is said for each reason, from the figures and by a run."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from penstock.cli.show.progress import Progress
from penstock.cql import parse
from penstock.duration import Duration
from penstock.engine.rows.event_time import moment
from penstock.engine.run.report import Report
from penstock.engine.state.manifest import Manifest, StreamState
from penstock.engine.state.waiting import Waiting, waiting_for
from penstock.query import Query
from support.engines.runs import Place, run_local
from support.waiting import PATIENCE

PENSTOCK = Path(sys.executable).with_name("penstock")
SECOND = 1_000_000
DAY = 86_400 * SECOND
STREAMS = """
CREATE STREAM a (ts BIGINT, k INT)
  WITH (format='csv', path='{folder}/a', timestamp='ts', unit='s', max_files=1);
CREATE STREAM b (ts BIGINT, k INT)
  WITH (format='csv', path='{folder}/b', timestamp='ts', unit='s', max_files=1);
CREATE TABLE t (k INT) WITH (format='csv', path='{folder}/t');
"""
JOIN = "SELECT a.k FROM a [RANGE 10 SECONDS], b [RANGE 10 SECONDS] WHERE a.k = b.k"
VIEW = """SELECT a.k, COUNT(*) AS n FROM a [RANGE 10 SECONDS], b [RANGE 10 SECONDS]
          WHERE a.k = b.k GROUP BY a.k EVERY 1 MINUTE"""
ROWS = "SELECT a.k FROM a [ROWS 3], b [RANGE 10 SECONDS] WHERE a.k = b.k"


def query(select: str, folder: object = "x") -> Query:
    return parse(STREAMS.format(folder=folder) + select)


def sent(lowest: float, highest: float, rows: int = 10, late: int = 0) -> StreamState:
    """A stream that has sent tuples between two times, seconds."""
    return StreamState(int(highest * SECOND), int(lowest * SECOND), rows=rows, late=late)


def reason(select: str, a: StreamState, b: StreamState | None = None, **more: Any) -> str | None:
    streams = {"a": a} if b is None else {"a": a, "b": b}
    found = waiting_for(query(select), Manifest(batch=3, streams=streams, **more))
    return None if found is None else found.reason


NONE = StreamState()


@pytest.mark.parametrize(
    ("select", "a", "b", "wanted"),
    [
        (VIEW, sent(0, 9), None, "view waits for b: no tuple yet"),
        (ROWS, sent(0, 9), NONE, "ROWS windows wait for b: no tuple yet"),
        (JOIN, sent(0, 9), NONE, "joins nothing: no tuple of b yet"),
        (VIEW, sent(0, 9), StreamState(passed=5), "joins nothing: no tuple of b yet"),
        ("SELECT k FROM a [NOW] WHERE k > 1", NONE, None, "no tuple of a yet"),
        (JOIN, sent(0, 9), sent(0, 9, 7, 7), "all of b came too late (7 of 7)"),
        (JOIN, StreamState(malformed=3), sent(0, 9), "all rows of a are malformed (3)"),
        (JOIN, StreamState(unreadable=2), sent(0, 9), "no file of a can be read (of 2)"),
        (JOIN, sent(345_609, 345_700), sent(0, 9), "joins nothing: a is 4 days ahead of b"),
        (JOIN, sent(0, 9), sent(5_409, 9_999), "joins nothing: b is 1.5 hours ahead of a"),
        (JOIN, sent(0, 9), sent(20, 29), "joins nothing: b is 11 seconds ahead of a"),
        (VIEW, sent(0, 9), sent(86_409, 86_500), "joins nothing: b is 1 day ahead of a"),
        (JOIN, sent(0, 9), sent(19, 29), "no match yet for a.k = b.k"),
        (VIEW, sent(0, 3_700), sent(0, 100), "no match yet for a.k = b.k"),
        (VIEW, sent(1, 3_700), sent(1, 30), "view waits for b: 1 hour behind a"),
        (
            VIEW,
            sent(1, 30),
            sent(1, 20),
            "view waits for b to pass 1970-01-01 00:01:00; it is at 1970-01-01 00:00:20",
        ),
        (ROWS, sent(0, 2_405), sent(5, 5), "ROWS windows wait for b: 40 minutes behind a"),
        (
            ROWS,
            sent(5, 5),
            sent(5, 5),
            "ROWS windows wait for a tuple of a after 1970-01-01 00:00:05",
        ),
        (ROWS, sent(0, 9), sent(0, 9), "no match yet for a.k = b.k"),
        (JOIN.replace("WHERE a.k = b.k", ""), sent(0, 9), sent(0, 9), None),
    ],
)
def test_the_reason_follows_from_how_far_the_streams_are(select, a, b, wanted):
    assert reason(select, a, b) == wanted


def test_shed_and_filtered_tuples():
    both = sent(0, 9, 12_000), sent(0, 9)
    said = reason(JOIN, *both, total_shed={"a": 12_000})
    assert said == "all of a is shed (12,000 tuples)"
    assert reason(JOIN, *both, total_shed={"a": 11_999}) == "no match yet for a.k = b.k"
    filtered = f"{JOIN} AND a.k > 5"
    said = reason(filtered, *both, screened={"a": (12_000, 0)})
    assert said == "filter on a lets nothing pass (0 of 12,000)"
    assert reason(filtered, *both, screened={"a": (12_000, 1)}) == "no match yet for a.k = b.k"


def test_an_empty_table():
    joined = "SELECT a.k FROM a [NOW], t WHERE a.k = t.k"
    assert reason(joined, sent(0, 9)) == "joins nothing: table t is empty"


def test_a_drained_query_waits_for_nothing():
    assert reason(VIEW, sent(0, 9), NONE, is_closed=True) == "joins nothing: no tuple of b"
    assert reason(VIEW, sent(0, 9), sent(0, 9), is_closed=True) == "no match for a.k = b.k"


def test_after_results_only_the_frontier_is_waited_for():
    far = sent(0, 7_200), sent(0, 30)
    assert reason(VIEW, *far, results=5) == "view waits for b: 2 hours behind a"
    assert reason(JOIN, *far, results=5) is None


def test_what_may_be_done_is_said():
    found = waiting_for(query(VIEW), Manifest(batch=0, streams={"a": sent(0, 9)}))
    assert found is not None
    assert found.hint is not None
    assert "--drain" in found.hint
    assert "idle='1 minute' in WITH of b" in found.hint


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
def test_spans_for_people(micros, wanted):
    assert Duration(micros).about == wanted


@pytest.mark.parametrize(
    ("micros", "wanted"),
    [
        (0, "1970-01-01 00:00:00"),
        (1_500_000, "1970-01-01 00:00:01.5"),
        (1 << 61, "2,305,843,009,213,693,952 µs"),
    ],
)
def test_moments_for_people(micros, wanted):
    assert moment(micros) == wanted


# ── runs ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def folder(tmp_path) -> Path:
    """Four files of a; b is four days later; t has no file."""
    for name, start in (("a", 0), ("b", 345_600)):
        (tmp_path / name).mkdir()
        for number in range(1, 5):
            at = start + 100 * number
            (tmp_path / name / f"{number}.csv").write_text(f"ts,k\n{at},1\n{at + 1},2\n")
    (tmp_path / "t").mkdir()
    return tmp_path


def test_reports_say_it_on_both_engines(run, folder):
    reports = run(query(f"{JOIN} AND a.k > 9", folder), Place(folder))
    assert {r.waiting for r in reports} == {
        Waiting(f"filter on a lets nothing pass (0 of {n})") for n in (2, 4, 6, 8)
    }
    last = reports[-1]
    assert last.newest == {"a": 401 * SECOND, "b": (345_600 + 401) * SECOND}
    assert (last.frontier, last.lag) == (401 * SECOND, 4 * DAY)
    assert last.state_tuples == 0


def test_nothing_is_left_of_the_state_once_drained(run, folder):
    place = Place(folder)
    asked = query(JOIN, folder)
    reports = run(asked, place)
    assert reports[-2].state_tuples > 0
    assert reports[-1].state_tuples == 0
    assert not list((place.checkpoint / "state").rglob("*.arrow"))


def test_a_table_has_no_newest_tuple(folder):
    (folder / "t" / "1.csv").write_text("k\none\n1\n")
    made = STREAMS.replace("path='{folder}/t'", "path='{folder}/t', malformed='drop'")
    asked = parse(made.format(folder=folder) + "SELECT a.k FROM a [NOW], t WHERE a.k = t.k")
    reports = run_local(asked, Place(folder))
    assert reports[0].malformed["t"] == 1
    assert set(reports[-1].newest) == {"a"}


def penstock(folder: Path, select: str, *arguments: object) -> str:
    """What a run in this process says on stderr."""
    path = folder / "query.cql"
    path.write_text(STREAMS.format(folder=folder) + select)
    command = [PENSTOCK, "run", path, "--engine", "local", "--available-now", *arguments]
    done = subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    return re.sub(r"\d+\.\d+ s|[\d,]+/s", "…", done.stderr)


def test_progress_says_it_after_a_few_batches_and_at_the_end(folder):
    assert penstock(folder, JOIN, "--sink", "noop").splitlines() == [
        "batch 0  …  in a 2  b 2  out 0  state 2  …  frontier 1970-01-01 00:01:41  lag 4 days",
        "batch 1  …  in a 2  b 2  out 0  state 4  …  frontier 1970-01-01 00:03:21  lag 4 days",
        "batch 2  …  in a 2  b 2  out 0  state 6  …  frontier 1970-01-01 00:05:01  lag 4 days",
        "  joins nothing: b is 4 days ahead of a",
        "batch 3  …  in a 2  b 2  out 0  state 8  …  frontier 1970-01-01 00:06:41  lag 4 days",
        "read 16 tuples; 0 results; …",
        "no results: joins nothing: b is 4 days ahead of a",
        "hint: the window of a does not reach so far; have both times the same unit and zone?",
    ]


def test_a_run_says_beforehand_what_it_cannot_do(folder):
    sink = ("--sink", f"jsonl:{folder / 'results'}")
    said = penstock(folder, VIEW, *sink)
    assert "note: without --checkpoint this view cannot go on later" in said
    said = penstock(folder, VIEW, *sink, "--overwrite", "--checkpoint", folder / "checkpoint")
    assert "note:" not in said
    said = penstock(folder, JOIN.replace("WHERE a.k = b.k", ""), "--sink", "noop")
    assert "note: cross join a × b: no condition ties them" in said


def report(number: int, results: int = 0, **more: Any) -> Report:
    counts = {"bid": 5_013, "auction": 510, "person": 204}
    none = dict.fromkeys(counts, 0)
    return replace(
        Report(number, 0.31, counts, none, none, results, 20_112, 10 * SECOND, results),
        newest=dict.fromkeys(counts, 12 * SECOND),
        **more,
    )


def test_lines_are_not_too_long(capsys):
    progress = Progress()
    for number in range(4):
        progress(report(number, results=5_604))
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 8
    assert max(map(len, lines)) <= 100
    assert lines[1] == "  frontier 1970-01-01 00:00:10  lag 2 seconds"


def test_it_is_told_less_and_less_often(capsys):
    progress = Progress()
    for number in range(30):
        progress(report(number, waiting=Waiting(f"waits {number}")))
    said = re.findall(r"waits (\d+)", capsys.readouterr().err)
    assert said == ["2", "5", "11", "23"]


@pytest.fixture
def terminal(monkeypatch) -> Console:
    """Progress as it is on a terminal, recorded."""
    console = Console(force_terminal=True, width=100, height=40, record=True)
    monkeypatch.setattr("penstock.cli.show.progress.Console", lambda file: console)
    return console


def test_the_live_table_says_it_too(terminal):
    with Progress() as progress:
        for number in range(4):
            progress(report(number, waiting=Waiting("view waits for c: no tuple yet")))
    shown = terminal.export_text()
    assert "view waits for c: no tuple yet" in shown
    assert "frontier 1970-01-01 00:00:10  lag 2 seconds" in shown
    assert re.search(r"newest\s*\n.*bid .* 1970-01-01 00:00:12", shown)

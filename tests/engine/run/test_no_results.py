"""Why nothing comes out: what is said for each reason, from the figures and by a run."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.cql import parse
from penstock.engine.state.no_results import Waiting
from support.engines.runs import Place, Runner, run_local
from support.streams.two_streams import JOIN, SECOND, STREAMS, VIEW, query
from support.waiting import PATIENCE

PENSTOCK = Path(sys.executable).with_name("penstock")
DAY = 86_400 * SECOND


# ── runs ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Four files of a; b is four days later; t has no file."""
    for name, start in (("a", 0), ("b", 345_600)):
        (tmp_path / name).mkdir()
        for number in range(1, 5):
            at = start + 100 * number
            (tmp_path / name / f"{number}.csv").write_text(f"ts,k\n{at},1\n{at + 1},2\n")
    (tmp_path / "t").mkdir()
    return tmp_path


def test_reports_say_it_on_both_engines(run: Runner, folder: Path) -> None:
    reports = run(query(f"{JOIN} AND a.k > 9", folder), Place(folder))
    assert {r.waiting for r in reports} == {
        Waiting(f"filter on a lets nothing pass (0 of {n})") for n in (2, 4, 6, 8)
    }
    last = reports[-1]
    assert last.newest == {"a": 401 * SECOND, "b": (345_600 + 401) * SECOND}
    assert (last.frontier, last.lag) == (401 * SECOND, 4 * DAY)
    assert last.state_tuples == 0


def test_nothing_is_left_of_the_state_once_drained(run: Runner, folder: Path) -> None:
    place = Place(folder)
    asked = query(JOIN, folder)
    reports = run(asked, place)
    assert reports[-2].state_tuples > 0
    assert reports[-1].state_tuples == 0
    assert not list((place.checkpoint / "state").rglob("*.arrow"))


def test_a_table_has_no_newest_tuple(folder: Path) -> None:
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
    # How long a line is, and so whether it is wrapped, depends on the rates.
    said = done.stderr.replace("\n  frontier", "  frontier")
    return re.sub(r"\b[\d.]+ m?s\b|[\d,.]+/s(  busy [\d.]+ %)?", "…", said)


def test_progress_says_it_after_a_few_batches_and_at_the_end(folder: Path) -> None:
    assert penstock(folder, JOIN, "--sink", "noop").splitlines() == [
        "batch 0  …  in a 2  b 2  out 0  state 2  …  frontier 1970-01-01 00:01:41  lag 4 d",
        "batch 1  …  in a 2  b 2  out 0  state 4  …  frontier 1970-01-01 00:03:21  lag 4 d",
        "batch 2  …  in a 2  b 2  out 0  state 6  …  frontier 1970-01-01 00:05:01  lag 4 d",
        "  joins nothing: b is 4 days ahead of a",
        "batch 3  …  in a 2  b 2  out 0  state 8  …  frontier 1970-01-01 00:06:41  lag 4 d",
        "read 16 tuples; 0 results; …",
        "no results: joins nothing: b is 4 days ahead of a",
        "hint: the window of a does not reach so far; have both times the same unit and zone?",
    ]


def test_a_run_says_beforehand_what_it_cannot_do(folder: Path) -> None:
    sink = ("--sink", f"jsonl:{folder / 'results'}")
    said = penstock(folder, VIEW, *sink)
    assert "note: without --checkpoint this view cannot go on later" in said
    said = penstock(folder, "SELECT a.k FROM a [NOW];", *sink, "--overwrite")
    assert "note: without --checkpoint this query cannot go on later" in said
    said = penstock(folder, VIEW, *sink, "--overwrite", "--checkpoint", folder / "checkpoint")
    assert "note:" not in said
    said = penstock(folder, JOIN.replace("WHERE a.k = b.k", ""), "--sink", "noop")
    assert "note: cross join a × b: no condition ties them" in said

"""Made-up reports, and runs that can be told something while they wait for data."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import penstock as ps
from penstock.engine.local import LocalRun
from penstock.engine.places.place import Place
from penstock.engine.reports.entries import Answer, Entry
from penstock.engine.reports.report import Report
from penstock.engine.reports.segments import latest_entries
from penstock.engine.state.store import Store
from support.waiting import wait_until

SCRIPT = """
CREATE STREAM a (ts BIGINT, k INT)
  WITH (format='csv', path='{folder}/a', timestamp='ts', unit='s', max_files=1);
CREATE STREAM b (ts BIGINT, k INT)
  WITH (format='csv', path='{folder}/b', timestamp='ts', unit='s', max_files=1);
SELECT a.ts AS a, b.ts AS b FROM a [RANGE 10 SECONDS], b [RANGE 10 SECONDS] WHERE a.k = b.k
"""


def made(batch: int, **more: Any) -> Report:
    """The report of a batch in which little happened."""
    given: dict[str, Any] = {
        "batch": batch,
        "seconds": 0.25,
        "read": {"a": 10},
        "late": {"a": 0},
        "malformed": {"a": 0},
        "results": 3,
        "state_tuples": 20,
        "frontier": 1_000_000 * batch,
        "total_results": 3 * (batch + 1),
        "at": 1000.0 + batch,
    }
    return Report(**given | more)


def script(folder: Path, files: int = 3) -> str:
    """The text of a join of two streams, a tuple a file; every pair is a result."""
    for name in "ab":
        (folder / name).mkdir(exist_ok=True)
        for number in range(1, files + 1):
            write_file(folder, name, number)
    return SCRIPT.format(folder=folder)


def write_file(folder: Path, name: str, number: int) -> None:
    hidden = folder / name / f".{number}.csv"
    hidden.write_text(f"ts,k\n{number},1\n")
    hidden.rename(folder / name / f"{number}.csv")


def entries_in(checkpoint: str | Path) -> list[Entry]:
    """All that is in a report log, oldest first."""
    return [*latest_entries(Store(Place.of(checkpoint)))][::-1]


def answers_in(checkpoint: str | Path) -> list[Answer]:
    return [entry for entry in entries_in(checkpoint) if isinstance(entry, Answer)]


@contextmanager
def following(text: str, checkpoint: str | Path, **more: Any) -> Iterator[LocalRun]:
    """A run in a thread that has read all there is, and looks for more until it is stopped."""
    query = ps.sql(text, engine="local")
    options: dict[str, Any] = {"sink": "noop", "trigger": "10 ms", "checkpoint": checkpoint}
    run = query.local(**options | more)
    thread = threading.Thread(target=run.await_termination, daemon=True)
    thread.start()
    try:
        wait_until(lambda: run.last_report is not None and run.last_report.batch >= 2)
        yield run
    finally:
        run.stop()
        thread.join()

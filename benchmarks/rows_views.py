"""A view over ROWS windows of which one group in a hundred changes in a batch: what is joined.

Run with `python benchmarks/rows_views.py [--turns N]`. The same batches are run by turns, joining
what may have changed and joining everything; CPU-seconds of the batches that evaluate the view.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from penstock.cql import parse
from penstock.engine.local import open_run
from penstock.engine.reports.report import Report
from penstock.engine.run.options import RunOptions
from penstock.engine.sinks.sink import noop
from penstock.plan.default_plan import default_plan

GROUPS, ROWS, COMING, BATCHES = 10_000, 100_000, 25, 12
QUERY = """
CREATE STREAM a (ts BIGINT, k BIGINT, v BIGINT) WITH (format='parquet', path='{folder}/a',
  timestamp='ts', unit='s', max_files=1);
CREATE STREAM b (ts BIGINT, k BIGINT, v BIGINT) WITH (format='parquet', path='{folder}/b',
  timestamp='ts', unit='s', max_files=1);
SELECT a.k, COUNT(*) AS n, SUM(b.v) AS total, MAX(a.v) AS top
FROM a [ROWS {rows}], b [ROWS {rows}] WHERE a.k = b.k GROUP BY a.k EVERY 1 SECOND
"""


def write_streams(folder: Path) -> None:
    """Full windows in the first file, then a few tuples a second: each pushes another out."""
    rng = np.random.default_rng(1)
    for name in "ab":
        (folder / name).mkdir()
        for number in range(BATCHES):
            count = ROWS if number == 0 else COMING
            columns = {
                "ts": np.full(count, number),
                "k": rng.integers(0, GROUPS, count),
                "v": rng.integers(0, 1_000, count),
            }
            pq.write_table(pa.table(columns), folder / name / f"{number:04}.parquet")


@contextmanager
def everything_joined() -> Iterator[None]:
    """As if no trace led from a change to the groups."""
    with patch("penstock.engine.join.sequencer.trace_of", lambda query: None):
        yield


def seconds_of(folder: Path) -> tuple[list[float], list[int]]:
    """CPU-seconds and changes of the batches that come after the windows are full."""
    plan = default_plan(parse(QUERY.format(folder=folder, rows=ROWS)))
    reports: list[Report] = []
    with tempfile.TemporaryDirectory() as checkpoint:
        options = RunOptions(sink=noop(), checkpoint=checkpoint, report=reports.append)
        open_run(plan, options).available_now()
    told = [report.results for report in reports]
    return [report.cpu for report in reports][3:BATCHES], told[3:BATCHES]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--turns", type=int, default=3)
    turns = parser.parse_args().turns
    changed: list[float] = []
    whole: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        write_streams(Path(folder))
        seconds_of(Path(folder))
        for _ in range(turns):
            seconds, told = seconds_of(Path(folder))
            changed += seconds
            with everything_joined():
                seconds, same = seconds_of(Path(folder))
            whole += seconds
            assert told == same, "both tell the same changes"
    print(f"{median(told) / GROUPS:.1%} of {GROUPS:,} groups change in a batch")
    print(f"what may have changed: {median(changed) * 1e3:.1f} ms of CPU a batch")
    print(f"everything:            {median(whole) * 1e3:.1f} ms of CPU a batch")
    print(f"ratio: {median(whole) / median(changed):.1f}")


if __name__ == "__main__":
    main()

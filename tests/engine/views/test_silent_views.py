"""Views of which a stream has fallen silent."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from penstock.cql import parse
from penstock.engine.local import open_run
from penstock.engine.reports.report import Report
from penstock.engine.run.options import RunOptions
from support.engines.runs import (
    Place,
    planned,
)
from support.streams.views import told
from support.waiting import let_hours_pass

SILENT = """
CREATE STREAM a (ts BIGINT, k INT)
  WITH (format='parquet', path='{0}/a', timestamp='ts', unit='s', max_files=1, idle='1 h');
CREATE STREAM b (ts BIGINT, k INT)
  WITH (format='parquet', path='{0}/b', timestamp='ts', unit='s', max_files=1, idle='1 h');
SELECT a.k, COUNT(*) AS n FROM a [RANGE 10 SECONDS], b [RANGE 10 SECONDS]
WHERE a.k = b.k GROUP BY a.k EVERY 1 SECOND
"""


def bring(folder: Path, name: str, number: int, *seconds: int) -> None:
    (folder / name).mkdir(exist_ok=True)
    rows = {"ts": seconds, "k": pa.array([7] * len(seconds), pa.int32())}
    pq.write_table(pa.table(rows), folder / name / f"{number:04}.parquet")


@pytest.mark.parametrize(
    ("early", "recompute"),
    [((), None), (("a", "b"), None), (("a", "b"), "a")],
    ids=["late", "early", "recompute"],
)
def test_a_view_goes_on_without_a_silent_stream(
    early: tuple[str, ...], recompute: str | None, tmp_path: Path
) -> None:
    bring(tmp_path, "a", 0, 100)
    bring(tmp_path, "b", 0, 100)
    query, place = parse(SILENT.format(tmp_path)), Place(tmp_path)
    reports: list[Report] = []
    plan = replace(planned(query), early=early, recompute=recompute)
    run = open_run(
        plan, RunOptions(sink=place.sink, checkpoint=str(place.checkpoint), report=reports.append)
    )
    run._step()
    let_hours_pass(run)
    bring(tmp_path, "a", 1, 500, 501)
    run._step()
    assert [report.results for report in reports] == [0, 2]
    # b was passed at 501 s: of these only the second is in time.
    bring(tmp_path, "b", 1, 495, 501)
    run.available_now(drain=True)
    changes = [(t.timestamp(), change, n) for t, change, _, n in sorted(told(place, query))]
    assert changes == [
        (100, "upsert", 1),
        (111, "delete", 1),
        (501, "upsert", 2),
        (511, "upsert", 1),
        (512, "delete", 1),
    ]


@pytest.mark.parametrize("early", [(), ("a",)], ids=["late", "early"])
def test_a_stream_that_speaks_again_is_silent_no_more(
    early: tuple[str, ...], tmp_path: Path
) -> None:
    """It counts as silent when the batch begins that has its next tuples."""
    bring(tmp_path, "a", 0, 100, 101)
    bring(tmp_path, "b", 0, 100)
    text = SILENT.format(tmp_path).replace(", idle='1 h'", "", 1)
    text = text.replace("b [RANGE 10 SECONDS]", "b [ROWS 2]").replace("EVERY 1 ", "EVERY 10 ")
    query, place = parse(text.replace("a [RANGE 10 SECONDS]", "a [UNBOUNDED]")), Place(tmp_path)
    plan = replace(planned(query), early=early)
    run = open_run(plan, RunOptions(sink=place.sink, checkpoint=str(place.checkpoint)))
    run._step()
    bring(tmp_path, "a", 1, 450)
    run._step()
    let_hours_pass(run)
    bring(tmp_path, "b", 1, 300)
    bring(tmp_path, "a", 2, 451)
    run._step()
    run.available_now(drain=True)
    changes = [(t.timestamp(), n) for t, _, _, n in sorted(told(place, query))]
    assert changes == [(100, 1), (110, 2), (300, 4), (450, 6), (460, 8)]

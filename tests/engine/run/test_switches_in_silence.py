"""Plans that change as a silent stream is passed, and as it speaks again."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from penstock.cql import parse
from penstock.engine.local import open_run
from penstock.engine.run.options import RunOptions
from penstock.plan.plan import Plan
from penstock.query import Query
from support.engines.runs import Place, planned
from support.plans.every_kind import any_kind
from support.streams.cases import canonical
from support.streams.views import told
from support.waiting import let_hours_pass

SILENT = """
CREATE STREAM a (ts BIGINT, k INT)
  WITH (format='parquet', path='{0}/a', timestamp='ts', unit='s', max_files=1, idle='1 h');
CREATE STREAM b (ts BIGINT, k INT)
  WITH (format='parquet', path='{0}/b', timestamp='ts', unit='s', max_files=1, idle='1 h');
SELECT {1} WHERE a.k = b.k AND a.k > 0 AND a.k < 9 {2}
"""
SELECTS = {
    "view": (
        "a.k, COUNT(*) AS n FROM a [RANGE 10 SECONDS], b [RANGE 10 SECONDS]",
        "GROUP BY a.k EVERY 1 SECOND",
    ),
    "time": ("a.ts AS a, b.ts AS b FROM a [RANGE 10 SECONDS], b [RANGE 10 SECONDS]", ""),
    "rows": ("a.ts AS a, b.ts AS b FROM a [ROWS 2], b [RANGE 10 SECONDS]", ""),
}


def bring(folder: Path, name: str, number: int, *seconds: int) -> None:
    (folder / name).mkdir(exist_ok=True, parents=True)
    rows = {"ts": seconds, "k": pa.array([7] * len(seconds), pa.int32())}
    pq.write_table(pa.table(rows), folder / name / f"{number:04}.parquet")


def passed_by(query: Query, place: Place, plans: list[Plan], folder: Path) -> int:
    """Run while b is silent, then speaks again too late; the tuples that were late."""
    for name in "ab":
        bring(folder, name, 0, 100, 103)
    options = RunOptions(sink=place.sink, checkpoint=str(place.checkpoint))
    run = open_run(plans[0], options)
    run._step()
    let_hours_pass(run)
    bring(folder, "a", 1, 500, 501)
    run.replan(plans[1])
    run._step()
    bring(folder, "b", 1, 495, 501)
    run.replan(plans[2])
    run._step()
    run.replan(plans[3])
    run.available_now(drain=True)
    return sum(report.late["b"] for report in run.reports)


@pytest.mark.parametrize("select", SELECTS)
@pytest.mark.parametrize("seed", range(4))
def test_a_silent_stream_is_passed_though_plans_change(
    select: str, seed: int, tmp_path: Path
) -> None:
    rng = Random(f"silent {seed}")
    found = []
    for name in ("plain", "switched"):
        folder, place = tmp_path / name / "in", Place(tmp_path / name)
        query = parse(SILENT.format(folder, *SELECTS[select]))
        plans = [any_kind(query, rng) if name == "switched" else planned(query) for _ in range(4)]
        late = passed_by(query, place, plans, folder)
        assert late == 1
        rows = told(place, query) if query.view else canonical(place.results(query))
        found.append(rows)
    assert found[0] == found[1]
    assert found[0].total() > 4

"""Whatever goes wrong in following the streams, the query goes on."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

import penstock as ps
from penstock.engine.control.order import Order
from penstock.engine.join.sampling import Draw
from penstock.engine.local import LocalRun
from penstock.engine.reports.report import Report
from penstock.engine.run.options import RunOptions
from penstock.engine.run.pipeline import Pipeline
from penstock.engine.sinks.sink import noop
from penstock.engine.sources.feed import Feed
from penstock.engine.state.checkpoint import Checkpoint
from penstock.engine.wire.facts import Fact
from penstock.plan.plan import Plan
from support.engines.reported import script


class Faulty:
    """A supervisor of which every part fails."""

    def __init__(self) -> None:
        self.asked = 0

    def next_plan(self, running: Plan, number: int) -> Plan | None:
        raise ZeroDivisionError("float division by zero")

    def samples(self, number: int) -> Mapping[str, Draw]:
        raise KeyError("a")

    def observe(self, report: Report, facts: Sequence[Fact], plan: Plan) -> Report:
        self.asked += 1
        raise RuntimeError("no more steps")

    def obey(self, order: Order) -> str:
        raise AssertionError("nobody gives orders here")

    def close(self) -> None:
        raise OSError("closed twice")


def test_faults_of_a_supervisor_are_warnings(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    plan = ps.sql(script(tmp_path), engine="local").plan
    checkpoint, faulty = tmp_path / "checkpoint", Faulty()
    held = Checkpoint(str(checkpoint), plan.query, 1, engine="local", is_given=True)
    feed = Feed(plan.query.sources.values(), held.store)
    pipeline = Pipeline(plan, held, noop(), supervisor=faulty)
    options = RunOptions(sink=noop(), checkpoint=str(checkpoint))
    run = LocalRun(pipeline, feed, options)
    with caplog.at_level(logging.WARNING):
        run.available_now()
    assert run.exception is None
    assert [report.total_results for report in run.reports][-1] == 9
    faults = [r for r in caplog.records if "fault in following" in r.message]
    assert len(faults) == 3
    assert "followed no more" in faults[-1].message
    assert faulty.asked <= 2


@pytest.mark.parametrize("shed", [False, True])
def test_a_stream_that_sends_nothing_is_no_fault(
    tmp_path: Path, shed: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """One file a batch of `a`; of `b` none ever comes."""
    made = []
    for name, files in (("a", 8), ("b", 0)):
        (tmp_path / name).mkdir()
        for number in range(files):
            lines = [f"{second},{second}" for second in range(4 * number, 4 * number + 4)]
            (tmp_path / name / f"{number:03d}.csv").write_text("\n".join(["ts,k", *lines]) + "\n")
        made.append(
            f"CREATE STREAM {name} (ts BIGINT, k BIGINT) WITH (format = 'csv', "
            f"path = '{tmp_path / name}', timestamp = 'ts', unit = 's', max_files = 1);"
        )
    text = "\n".join(made) + "SELECT a.k FROM a [RANGE 9 SECONDS], b [RANGE 9 SECONDS]"
    query = ps.sql(f"{text} WHERE a.k = b.k", engine="local", shed=shed)
    with query.local(sink="noop", checkpoint=tmp_path / "checkpoint", trigger=0) as run:
        while len(run.reports) < 8:
            run.await_termination(0.05)
    assert "fault in following" not in caplog.text
    assert run.exception is None
    assert not [c for report in run.reports for c in report.changes if c.kind == "behind"]

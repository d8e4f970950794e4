"""Runs in this process whose streams are followed, the same every time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

import penstock as ps
from penstock.adapt.follow import supervisor_for
from penstock.adapt.planning.planner import Planning
from penstock.adapt.replanner import Mode
from penstock.adapt.settings import DEFAULT_SETTINGS, Settings
from penstock.adapt.supervisor import StreamSupervisor
from penstock.api import ContinuousQuery
from penstock.engine.control.order import Order
from penstock.engine.join.sampling import Draw
from penstock.engine.local import open_run
from penstock.engine.reports.parts import Change
from penstock.engine.reports.report import Report
from penstock.engine.run.options import RunOptions
from penstock.engine.wire.facts import Fact
from penstock.plan.plan import Plan
from support.waiting import wait_until

STEADY_HAND = replace(DEFAULT_SETTINGS, outcome_errors=1e9)
"""Settings of a run that takes nothing back: seconds of a test are not those of a run."""


HASTY = replace(DEFAULT_SETTINGS, judged_batches=4, judged_every=1, barred_batches=1_000)
"""Settings of a run that judges soon, and for long."""


@dataclass(frozen=True)
class Costly:
    """A supervisor of a run in which plans take other seconds than they do: those given by their
    text, or twenty."""

    supervisor: StreamSupervisor
    seconds: Mapping[str, float]

    def observe(self, report: Report, facts: Sequence[Fact], plan: Plan) -> Report:
        report = replace(report, cpu=self.seconds.get(report.plan, 20.0))
        return self.supervisor.observe(report, facts, plan)

    def next_plan(self, running: Plan, number: int) -> Plan | None:
        # The first plan is given some batches, so that there is something to compare with.
        return None if number < _FIRST else self.supervisor.next_plan(running, number)

    def samples(self, number: int) -> Mapping[str, Draw]:
        return self.supervisor.samples(number)

    def obey(self, order: Order) -> str:
        return self.supervisor.obey(order)

    def close(self) -> None:
        self.supervisor.close()


_FIRST = 8


@dataclass(frozen=True)
class Followed:
    """A run that has ended."""

    reports: list[Report]
    supervisor: StreamSupervisor
    folder: Path

    def changes(self, *kinds: str) -> list[tuple[int, Change]]:
        """The changes of some kinds, with the batches that tell of them."""
        found = [(report.batch, change) for report in self.reports for change in report.changes]
        return [(batch, change) for batch, change in found if change.kind in kinds]

    @property
    def switches(self) -> list[int]:
        """The first batches of other plans."""
        return [batch for batch, _ in self.changes("switch")]

    @property
    def results(self) -> Counter[Any]:
        """The rows of the sink, each as often as it is there."""
        rows: Counter[Any] = Counter()
        for path in sorted((self.folder / "out").glob("*.parquet")):
            columns = pq.read_table(path).to_pydict()
            rows.update(zip(*(columns[name] for name in sorted(columns)), strict=True))
        return rows


def follow(
    query: ContinuousQuery,
    folder: Path,
    mode: Mode = "on",
    settings: Settings = STEADY_HAND,
    supervisor: Costly | None = None,
    spark: Any = None,
    planning: Planning = "inline",
    **more: Any,
) -> Followed:
    """Run a query over all there is, in this process or on a Spark session, planning within the
    batches' thread, or beside them: then it waits for the planner between any two."""
    folder.mkdir(parents=True, exist_ok=True)
    reports: list[Report] = []
    followed_by = supervisor_for(
        query.plan, query.known, query.options, mode, planning=planning, settings=settings
    )

    def report(made: Report) -> None:
        reports.append(made)
        wait_until(lambda: not followed_by.replanner.planner.is_busy)

    options = RunOptions(
        sink=ps.parquet(folder / "out"),
        checkpoint=str(folder / "checkpoint"),
        report=report,
        supervisor=supervisor or followed_by,
        **more,
    )
    if spark is None:
        open_run(query.plan, options).available_now()
    else:
        from penstock.engine.spark.start import start

        with start(query.plan, spark, replace(options, available_now=True)) as run:
            run.await_termination()
    return Followed(reports, followed_by, folder)

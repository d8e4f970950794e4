"""Runs of scripts in this process whose streams are followed, the same every time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

import penstock as ps
from penstock.adapt.replanner import Mode
from penstock.adapt.script.follow_script import script_supervisor_for
from penstock.adapt.script.script_streams import ScriptStreams
from penstock.engine.local import LocalRun, open_script
from penstock.engine.reports.parts import Change
from penstock.engine.reports.report import Report
from penstock.engine.run.options import RunOptions
from penstock.optimize.script import decide_known_script
from penstock.plan.script import PlannedScript
from penstock.query.script import NOTHING_STANDS, Standing
from support.engines.supervised import STEADY_HAND

Rows = Counter[tuple[Any, ...]]


@dataclass(frozen=True)
class FollowedScript:
    """A script's run that has ended."""

    planned: PlannedScript
    reports: list[Report]
    supervisor: ScriptStreams
    folder: Path

    def changes(self, name: str, *kinds: str) -> list[tuple[int, Change]]:
        """The changes of some kinds of a query, with the batches that tell of them."""
        found = [(r.batch, change) for r in self.reports for change in r.members[name].changes]
        return [(batch, change) for batch, change in found if change.kind in kinds]

    @property
    def results(self) -> dict[str, Rows]:
        """The rows of the sinks, each as often as it is there."""
        return {each.name: rows_in(self.folder / each.name) for each in self.planned.script.shown}


def rows_in(folder: Path) -> Rows:
    """The rows of a parquet sink."""
    rows: Rows = Counter()
    for path in sorted(folder.glob("*.parquet")):
        columns = pq.read_table(path).to_pydict()
        rows.update(zip(*(columns[name] for name in sorted(columns)), strict=True))
    return rows


def open_followed(
    asked: ps.ContinuousScript,
    folder: Path,
    mode: Mode = "on",
    standing: Standing = NOTHING_STANDS,
    **more: Any,
) -> tuple[LocalRun, FollowedScript]:
    """A run that plans within the thread of its batches, and what will be known of it; queries
    share joins as is `standing`."""
    found, sinks, options = _followed(asked, folder, mode, standing, **more)
    planned = found.planned
    return open_script(planned.script, planned.plans, sinks, options), found


def _followed(
    asked: ps.ContinuousScript, folder: Path, mode: Mode, standing: Standing, **more: Any
) -> tuple[FollowedScript, dict[str, ps.Sink], RunOptions]:
    planned, known = decide_known_script(asked.script, asked.knowledge, asked.options, standing)
    sinks = {each.name: ps.parquet(folder / each.name) for each in planned.script.shown}
    reports: list[Report] = []
    options = RunOptions(
        sink=ps.noop(), checkpoint=str(folder / "checkpoint"), report=reports.append, **more
    )
    supervisor = script_supervisor_for(
        planned, known, asked.options, mode, options, settings=STEADY_HAND, planning="inline"
    )
    found = FollowedScript(planned, reports, supervisor, folder)
    return found, sinks, replace(options, followed_by=supervisor)


def follow_script(
    asked: ps.ContinuousScript, folder: Path, mode: Mode = "on", **more: Any
) -> FollowedScript:
    """A run over all there is."""
    run, found = open_followed(asked, folder, mode, available_now=True, **more)
    run.available_now()
    return found


def follow_on_spark(asked: ps.ContinuousScript, folder: Path, spark: Any) -> FollowedScript:
    """The same on Spark."""
    from penstock.engine.spark.start import start_script

    found, sinks, options = _followed(asked, folder, "on", NOTHING_STANDS, available_now=True)
    planned = found.planned
    with start_script(planned.script, planned.plans, sinks, spark, options) as run:
        run.await_termination()
    return found


def plans_of_queries(report: Report) -> Mapping[str, str]:
    """The plans that a batch followed, by query."""
    return {name: each.plan for name, each in report.members.items()}

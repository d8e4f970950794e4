"""The live part of the demo: the query runs batch by batch, plans again and sheds by itself."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

import penstock as ps
from penstock.cli.demo.batch_table import BatchTable, newest_second
from penstock.cli.demo.page import dashboard_of
from penstock.cli.demo.preparing import LivePart
from penstock.cli.demo.stage import Stage, Stopped
from penstock.cli.demo.voice import say, tell
from penstock.plan.text.parse import render_plan

if TYPE_CHECKING:
    from penstock.engine.reports.report import Report

_END = 0.2
"""The last bids come within so many seconds before the end: there are a thousand a second, and
more."""
_TRIGGERS = 4
"""Times the time between batches by which results may be late: data waits for one of them."""


def run_live(part: LivePart, stage: Stage, pages: ExitStack, with_dashboard: bool) -> list[Report]:
    """The reports of a run over all that happens on the site, which may be stopped before."""
    table, reports, place = BatchTable(part.site), list["Report"](), stage.place

    def report(found: Report) -> None:
        reports.append(found)
        for line in table.lines(found):
            tell(line)

    def is_over() -> bool:
        return bool(reports) and newest_second(reports[-1]) > part.site.seconds - _END

    delay = _TRIGGERS * part.trigger
    say(
        f"Live: a batch every {part.trigger} s, shed so that results are at most {delay} s late",
        f"plan  {render_plan(part.query.plan)}",
    )
    run = part.query.start(
        stage.spark,
        sink=ps.parquet(place / "results"),
        checkpoint=place / "checkpoint",
        trigger=part.trigger,
        delay=delay,
        report=report,
    )
    try:
        with run:
            if with_dashboard:
                address = pages.enter_context(dashboard_of(str(place / "checkpoint")))
                print(f"the same on a page: {address}", flush=True)
            stage.wait_for(run, is_over)
    except Stopped:
        if not reports:
            raise
    return reports

"""How the running plan stands: since when it is followed, and whether another would be better."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from penstock.engine.reports.parts import Change
from penstock.engine.reports.report import Report
from penstock.watch.log_view import LogView

_WEIGHED = ("stay", "advise", "switch", "take-back")
"""Kinds of changes that tell which plan was the best."""


@dataclass(frozen=True)
class PlanStanding:
    """The first batch that followed the running plan, and the best plan by now if that is another:
    when it was found to be, and why it is not followed."""

    since: int | None = None
    better: str | None = None
    weighed: int | None = None
    why_not: str = ""

    @property
    def text(self) -> str:
        """The same as a sentence."""
        if self.since is None:
            return ""
        begin = f"followed from batch {self.since} on"
        if self.better is None:
            return begin
        return f"{begin}; by batch {self.weighed} the best is {self.better}, {self.why_not}"


def plan_standing(log: LogView) -> PlanStanding:
    """How the plan of the last batch stands, by what the log says since it is followed."""
    last = log.last
    if last is None or not last.plan:
        return PlanStanding()
    mine = list(_following(log))
    since = mine[-1].batch
    if log.pinned is not None:
        return PlanStanding(since)
    for report in mine:
        for change in reversed(report.changes):
            if change.kind in _WEIGHED:
                better = None if change.plan in (None, last.plan) else change.plan
                why_not = "" if better is None else _why_not(change)
                return PlanStanding(since, better, report.batch if better else None, why_not)
    return PlanStanding(since)


def _following(log: LogView) -> Iterator[Report]:
    """The batches that followed the running plan, the latest first."""
    for report in reversed(log.reports):
        if report.plan != log.reports[-1].plan:
            return
        yield report


def _why_not(change: Change) -> str:
    match change.kind:
        case "stay":
            return f"not taken ({change.reason})"
        case "advise":
            return f"not taken, as plans are only advised ({change.reason})"
    return f"taken with the next batch ({change.reason})"

"""Decisions of a run, each as a line for whoever watches it."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.engine.reports.parts import Change
from penstock.engine.reports.report import Report

# A drift is told with the switch that follows it; what came of a switch is in the log.
_SAID = {
    "switch": "another plan",
    "take-back": "back to the plan before",
    "advise": "another plan would be better",
    "shed": "shedding",
    "behind": "it falls behind",
    "query": "the query was changed",
}


def decision_lines(report: Report) -> Iterator[str]:
    """The decisions of a report that people want to see at once: `another plan: (a b): …`."""
    drifts = [change.reason for change in report.every_change if change.kind == "drift"]
    for change in report.every_change:
        if change.kind in _SAID:
            yield f"{_SAID[change.kind]}: {_told(change)}"
            if drifts and change.kind == "switch":
                yield f"because of {drifts[0]}"


def _told(change: Change) -> str:
    is_plan = change.plan is not None and change.kind in ("switch", "take-back", "advise")
    return f"{change.plan}: {change.reason}" if is_plan else change.reason

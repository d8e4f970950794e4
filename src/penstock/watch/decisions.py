"""The view Decisions: what was decided, why, what it promised and what came of it."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.engine.reports.report import Report
from penstock.engine.reports.standing import Decided
from penstock.watch.log_view import LogView

SHOWN = 200
"""Decisions at most, the latest first."""


@dataclass(frozen=True)
class DecisionLine:
    """One decision. `promise` and `outcome` are parts of the work that it saves."""

    at: float
    batch: int | None
    """The batch that tells of it; None for the answer to an order."""

    kind: str
    reason: str
    plan: str | None
    promise: float | None
    outcome: float | None


@dataclass(frozen=True)
class PlanSpan:
    """A plan, and the batches that followed it without another between them."""

    plan: str
    first: int
    last: int
    since: float
    until: float


@dataclass(frozen=True)
class Decisions:
    """Decisions, the latest first, and plans, the oldest first."""

    decisions: tuple[DecisionLine, ...]
    plans: tuple[PlanSpan, ...]


def decisions_view(log: LogView) -> Decisions:
    """The view of a log."""
    latest = log.decisions[::-1][:SHOWN]
    return Decisions(tuple(map(_line, latest)), tuple(plan_spans(log.reports)))


def plan_spans(reports: tuple[Report, ...]) -> list[PlanSpan]:
    """The plans of batches, those of neighbours together."""
    spans: list[PlanSpan] = []
    for each in reports:
        before = spans[-1] if spans else None
        if before is not None and before.plan == each.plan:
            spans[-1] = PlanSpan(each.plan, before.first, each.batch, before.since, each.at)
        else:
            spans.append(PlanSpan(each.plan, each.batch, each.batch, each.at, each.at))
    return spans


def _line(decided: Decided) -> DecisionLine:
    change = decided.change
    return DecisionLine(
        at=decided.at,
        batch=decided.batch,
        kind=change.kind,
        reason=change.reason,
        plan=change.plan,
        promise=change.promise,
        outcome=change.outcome,
    )

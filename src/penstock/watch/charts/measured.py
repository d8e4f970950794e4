"""Figures of a batch that its report has not got as such."""

from __future__ import annotations

from penstock.engine.reports.report import Report

_SHORTEST = 1e-3
"""Seconds of event time below which a batch tells nothing of a second."""


def a_second(count: float, report: Report) -> float | None:
    """So many of a batch for each second of event time; None where it moved hardly any on, as the
    last ones of streams that end do."""
    return count / report.span if report.span and report.span >= _SHORTEST else None


def lag_seconds(report: Report) -> float | None:
    """Seconds that the frontier is behind the newest tuple, in event time."""
    return None if report.lag is None else report.lag / 1e6

"""The verdict on a run in words: whether it keeps up, and with how much to spare."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from penstock.engine.reports.report import Report
from penstock.plan.explain.quantity import percent
from penstock.watch.log_view import LogView

RECENT = 10
"""Batches by which a run is judged: one alone says little."""
_FULL = 0.98
"""The busy share above which nothing is left to spare."""


def verdict(log: LogView) -> str:
    """How a run stands, such as `keeps up with 38 % to spare`."""
    if not log.is_running:
        return _ended(log)
    if log.last is None:
        return "no batch yet"
    busy, waiting = busy_share(log.reports), backlog_grows(log.reports)
    if log.head is not None and log.head.available_now:
        return "reads all there is, as fast as it can"
    if waiting:
        return "falls behind: what waits to be read grows"
    if busy is None:
        return "runs"
    if busy > _FULL:
        return f"has no time to spare{_by_shedding(log.last)}"
    return f"keeps up with {percent(round(1.0 - busy, 2))} to spare{_by_shedding(log.last)}"


def busy_share(reports: Sequence[Report]) -> float | None:
    """The part of the clock that the last batches were not waiting, 0 to 1; None if not told."""
    recent = reports[-RECENT - 1 :]
    clocks = [max(new.at - old.at, new.seconds) for old, new in pairwise(recent)]
    known = [
        (each.busy, clock)
        for each, clock in zip(recent[1:], clocks, strict=True)
        if each.busy is not None
    ]
    clock = sum(seconds for _, seconds in known)
    if clock <= 0.0:
        return recent[-1].busy if recent else None
    return sum(busy * seconds for busy, seconds in known) / clock


def backlog_grows(reports: Sequence[Report]) -> bool:
    """Whether more and more pieces wait to be read, over the last batches."""
    waits = [sum(each.backlog.values()) for each in reports[-RECENT:]]
    half = len(waits) // 2
    return half >= 2 and min(waits[half:]) > max(waits[:half])


def _by_shedding(last: Report) -> str:
    kept = {alias: each.keep for alias, each in last.inputs.items() if each.keep < 1.0}
    parts = ", ".join(f"{percent(round(keep, 3))} of {alias}" for alias, keep in kept.items())
    return f", keeping {parts}" if parts else ""


def _ended(log: LogView) -> str:
    head = log.head
    if head is None:
        return "does not run"
    if head.error:
        return f"was ended by an error: {head.error}"
    return "was killed" if head.ended_at is None else "has ended"

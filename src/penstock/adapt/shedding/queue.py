"""The queue before a query: how long data waits, worked out from the delays of its batches."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

from penstock.adapt.shedding.arrival_pace import Arrived, arrival_pace
from penstock.engine.reports.report import Report
from penstock.engine.sources.made.made import made_of
from penstock.query import Query
from penstock.query.source import MADE_FORMATS

_RECENT = 20
"""Batches over which the pace of event time is measured."""
_SMOOTHING = 0.2
"""What a batch counts for beside those before it: how much earlier data comes depends on where in a
file's time a batch starts."""


@dataclass(frozen=True)
class Standing:
    """How a query stands at the end of a batch, in seconds of the clock."""

    waiting: float
    """How long the oldest data will have waited when the next batch starts."""

    took: float
    """What the batch took, with all that it costs between batches, but for compiling."""

    taken: float
    """The seconds of arrivals that the next batch takes in."""

    span: float
    """The event time that it takes in."""

    pace: float = 1.0
    """Seconds of the clock in which a second of event time arrives."""

    @property
    def delay(self) -> float:
        """The delay of the next batch, if it takes as long as this one."""
        return self.waiting + self.took


@dataclass(frozen=True)
class _Batch:
    """When a batch was over and when it had begun, how long its data had waited by then, the event
    time that it took in, and what it left, in batches."""

    at: float
    began: float
    waited: float
    span: float
    left: float


class Queue:
    """Follows how long data waits. `trigger` is the least time between two batches, seconds;
    `limits` has the pieces that a batch takes in at the most, of sources that have such a limit."""

    def __init__(self, trigger: float, limits: Mapping[str, int] | None = None):
        self._trigger = trigger
        self._limits = limits or {}
        self._expected: float | None = None
        self._early = 0.0
        self._batches: deque[_Batch] = deque(maxlen=_RECENT)

    def hear(self, report: Report) -> Standing:
        """How the query stands after a batch."""
        took = self._took(report)
        waited = max(0.0, (took if report.delay is None else report.delay) - took)
        batch = _Batch(
            report.at, report.at - report.seconds, waited, report.span or 0.0, self._left(report)
        )
        self._batches.append(batch)
        self._learn(waited)
        now = self._stands(took, batch)
        self._expected = now.waiting
        spent = max(0.0, took - report.compiling)
        return replace(now, waiting=max(0.0, now.waiting + self._early), took=spent)

    def _learn(self, waited: float) -> None:
        """Learn by how much earlier data comes than a batch starts to look for it: that of a file
        or a block is there only at its end."""
        if self._expected is not None:
            self._early += _SMOOTHING * (waited - self._expected - self._early)

    def _stands(self, took: float, batch: _Batch) -> Standing:
        """How it stands if data comes without end."""
        pace, waiting = self._pace(), max(self._trigger, took)
        if self._limits and batch.span:
            # What the batch left behind is still there.
            waiting += max(0.0, batch.waited - batch.span * pace)
        if batch.left < 1.0 or not self._full:
            # All that waits is taken in by the next batch, or as much of it as its limit allows.
            taken = waiting / max(1.0, batch.left)
            return Standing(waiting, took, taken, taken / pace, pace)
        taken = min(waiting, pace * self._full)
        return Standing(waiting, took, taken, self._full, pace)

    def _took(self, report: Report) -> float:
        """The clock since the batch before, less the waiting for data."""
        if report.busy is None or not self._batches or not self._batches[-1].at:
            return report.seconds
        return max(report.seconds, report.busy * (report.at - self._batches[-1].at))

    def _left(self, report: Report) -> float:
        """What is there and unread, in batches."""
        counted = self._limits.items()
        return max((report.backlog.get(name, 0) / most for name, most in counted), default=0.0)

    @property
    def _full(self) -> float:
        """The event time of a batch that takes in as much as it may; 0 if there was none."""
        spans = [batch.span for batch in self._batches if batch.left >= 1.0 and batch.span]
        return sum(spans) / len(spans) if spans else 0.0

    def _pace(self) -> float:
        """Seconds of the clock in which a second of event time arrives."""
        batches, full = list(self._batches), self._full
        return arrival_pace([_arrived(old, new, full) for old, new in pairwise(batches)])


def _arrived(before: _Batch, after: _Batch, full: float) -> Arrived:
    """What came between two batches: all that the later one found when it began; or, where it could
    not take all that in, what it took in and what more is left."""
    if not full:
        return Arrived(after.began - before.began, after.span)
    return Arrived(after.at - before.at, after.span + full * (after.left - before.left))


def limits_of(query: Query) -> dict[str, int]:
    """The pieces (files, blocks) of each source that a batch takes in at the most, if it has a
    limit."""
    limits = {}
    for name, source in query.stream_sources.items():
        files, micros = source.option("max_files"), source.option("max_time")
        if files is not None:
            limits[name] = max(1, int(files))
        elif micros is not None and source.format in MADE_FORMATS:
            limits[name] = max(1, int(micros) // made_of(source).block_micros)
    return limits

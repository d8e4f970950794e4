"""The queue before a query: how long data waits, worked out from the delays of its batches."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace

from penstock.engine.reports.report import Report

_RECENT = 20
"""Batches over which the pace of event time is measured."""
_FEW = 5
"""Batches from which on it is believed."""
_SMOOTHING = 0.2
"""What a batch counts for beside those before it: how much earlier data comes depends on where in a
file's time a batch starts."""
_PACES = (0.01, 100.0)
"""The paces that are believed: streams that are replayed faster or slower than they happened."""


@dataclass(frozen=True)
class Standing:
    """How a query stands at the end of a batch, in seconds of the clock."""

    waiting: float
    """How long the oldest data will have waited when the next batch starts."""

    took: float
    """What the batch took, with all that it costs between batches."""

    taken: float
    """The seconds of arrivals that the next batch takes in."""

    span: float
    """The same in seconds of event time."""

    @property
    def delay(self) -> float:
        """The delay of the next batch, if it takes as long as this one."""
        return self.waiting + self.took


@dataclass(frozen=True)
class _Batch:
    at: float
    waited: float
    span: float


class Queue:
    """Follows how long data waits. `trigger` is the least time between two batches, seconds;
    `is_limited` says that a batch does not take in all there is."""

    def __init__(self, trigger: float, *, is_limited: bool = False):
        self._trigger = trigger
        self._is_limited = is_limited
        self._expected: float | None = None
        self._early = 0.0
        self._batches: deque[_Batch] = deque(maxlen=_RECENT)

    def hear(self, report: Report) -> Standing:
        """How the query stands after a batch."""
        took = self._took(report)
        waited = max(0.0, took if report.delay is None else report.delay) - took
        waited, span = max(0.0, waited), report.span or 0.0
        self._batches.append(_Batch(report.at, waited, span))
        self._learn(waited)
        now = self._stands(took, waited, span, any(report.backlog.values()))
        self._expected = now.waiting
        return replace(now, waiting=max(0.0, now.waiting + self._early))

    def _learn(self, waited: float) -> None:
        """Learn by how much earlier data comes than a batch starts to look for it: that of a file
        or a block is there only at its end."""
        if self._expected is not None:
            self._early += _SMOOTHING * (waited - self._expected - self._early)

    def _stands(self, took: float, waited: float, span: float, is_left: bool) -> Standing:
        """How it stands if data comes without end."""
        pace = self._pace()
        waiting = max(self._trigger, took)
        if not self._is_limited or not span:
            return Standing(waiting, took, waiting, waiting / pace)
        if is_left:
            # What the batch left behind is still there.
            waiting += max(0.0, waited - span * pace)
        taken = min(waiting, pace * max(batch.span for batch in self._batches))
        return Standing(waiting, took, taken, taken / pace)

    def _took(self, report: Report) -> float:
        """The clock since the batch before, less the waiting for data."""
        if report.busy is None or not self._batches or not self._batches[-1].at:
            return report.seconds
        return max(report.seconds, report.busy * (report.at - self._batches[-1].at))

    def _pace(self) -> float:
        """Seconds of the clock in which a second of event time arrives."""
        first, last = self._batches[0], self._batches[-1]
        span = sum(batch.span for batch in list(self._batches)[1:])
        elapsed = last.at - first.at
        if len(self._batches) < _FEW or span <= 0.0 or elapsed <= 0.0:
            return 1.0
        low, high = _PACES
        # All that came in the meantime was taken, but for what waits now and did not before.
        return min(high, max(low, (elapsed + first.waited - last.waited) / span))

"""The clock of event time: how many seconds of it each batch covers of each stream."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from penstock.duration import MICROS
from penstock.engine.reports.report import Report


@dataclass
class EventClock:
    """Remembers how far each source has come.

    A stream that sends nothing while others go on is silent: their time counts for it too, once,
    and is taken off when it comes back. One of which more is there to be read is only behind.
    """

    newest: dict[str, int] = field(default_factory=dict)
    silent: dict[str, float] = field(default_factory=dict)
    since: float = 0.0

    def covered(self, report: Report, tuples: Mapping[str, int]) -> dict[str, float]:
        """Seconds that the batch covers of each source of which that is known."""
        whole = self._whole(report)
        self.since += whole
        found = {}
        for source, time in report.newest.items():
            before = self.newest.get(source)
            if time is None or before is None:
                continue
            if tuples.get(source, 0):
                own = (time - before) / MICROS - self.silent.pop(source, 0.0)
                found[source] = max(0.0, own)
            elif not report.backlog.get(source):
                self.silent[source] = self.silent.get(source, 0.0) + whole
                found[source] = whole
        self.newest |= {s: time for s, time in report.newest.items() if time is not None}
        return {source: seconds for source, seconds in found.items() if seconds > 0.0}

    def _whole(self, report: Report) -> float:
        """Seconds by which the newest tuple of all is newer than before the batch."""
        times = [time for time in report.newest.values() if time is not None]
        if not times or not self.newest:
            return 0.0
        return max(0.0, (max(times) - max(self.newest.values())) / MICROS)

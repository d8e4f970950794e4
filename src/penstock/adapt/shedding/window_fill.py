"""How full windows are: what was kept of the streams lately, against what they hold at length.

When rates jump or shedding begins, windows follow only as old tuples leave them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from math import inf, log, sqrt

from penstock.adapt.settings import DEFAULT_SETTINGS, Settings
from penstock.duration import MICROS
from penstock.engine.reports.report import Report
from penstock.query import Query, TimeWindow


class Arrivals:
    """The rate of one input, and the tuples that its window holds."""

    def __init__(self, extent: float, settings: Settings):
        self._extent = extent
        self._settings = settings
        self._kept: deque[tuple[float, float]] = deque()
        self._now = 0.0
        self._earlier = 0.0
        self._weighed_until = 0.0
        self.rate: float | None = None
        self.content = 0.0

    def hear(self, tuples: int, kept: int, span: float, *, is_first: bool, is_shed: bool) -> None:
        """Take in a batch; state from before the run is taken to be like its first batch."""
        if self.rate is None and not is_first:
            self._earlier = kept / span
        self._follow(tuples, span)
        self._now += span
        if self._extent < inf:
            self._kept.append((self._now, kept))
            if is_shed:
                self._weighed_until = self._now + self._extent
        self.content += kept
        while self._kept and self._kept[0][0] <= self._now - self._extent:
            self.content -= self._kept.popleft()[1]

    @property
    def held(self) -> float:
        """Tuples in the window."""
        return self.content + self._earlier * max(0.0, min(self._extent, 1e9) - self._now)

    @property
    def weighed_for(self) -> float:
        """Seconds of event time for which the window will still hold tuples of a batch that was
        shed, which stand for others. How long one of ROWS does is not known."""
        return self._weighed_until - self._now

    def _follow(self, tuples: int, span: float) -> None:
        """Follow the rate: of a Poisson stream the noise is known, and more than that is news."""
        new, old = tuples / span, self.rate
        noise = inf if not tuples or not old else 1.0 / sqrt(min(tuples, old * span) or 1.0)
        if not old or not tuples or abs(log(new / old)) > self._settings.shed_noise * noise:
            self.rate = new
        else:
            self.rate = old + self._settings.shed_smoothing * (new - old)


class WindowFill:
    """The rates and the windows of all streams of a query."""

    def __init__(self, query: Query, settings: Settings = DEFAULT_SETTINGS):
        self._inputs = {
            item.alias: Arrivals(_extent(item.window), settings) for item in query.streams
        }

    def hear(self, report: Report) -> None:
        """Take in what a batch has read and kept."""
        if not report.span:
            return
        for alias, item in report.inputs.items():
            if alias in self._inputs:
                self._inputs[alias].hear(
                    item.tuples,
                    item.tuples - item.shed,
                    report.span,
                    is_first=report.batch <= 1,
                    is_shed=item.keep < 1.0,
                )

    @property
    def rates(self) -> Mapping[str, float]:
        """Tuples/s of each stream, by alias, as of the last batches."""
        return {alias: each.rate for alias, each in self._inputs.items() if each.rate is not None}

    @property
    def all_held(self) -> Mapping[str, float]:
        """Tuples, before filters, that the windows of streams hold, by alias."""
        return {alias: each.held for alias, each in self._inputs.items()}

    def weighed(self, later: float) -> frozenset[str]:
        """The streams whose windows will hold tuples with weights, so many seconds later."""
        return frozenset(a for a, each in self._inputs.items() if each.weighed_for > later)

    @property
    def weighed_for(self) -> float:
        """Seconds of event time until no window holds such tuples any more."""
        return max((0.0, *(each.weighed_for for each in self._inputs.values())))

    def held(self, alias: str) -> float | None:
        """Tuples, before filters, that a stream's window holds; None if it is no stream."""
        return self._inputs[alias].held if alias in self._inputs else None


def _extent(window: object) -> float:
    """Seconds for which a window keeps tuples at the most."""
    match window:
        case TimeWindow(extent=int() as extent, slide=slide):
            return (extent + slide) / MICROS
    return inf

"""The budget of planning: the part of a run's work that may go into weighing plans and training.

Work is counted in rows, at the seconds of a usual machine and of what functions declare, never by
the clock: the same streams give the same budget.
"""

from __future__ import annotations

from penstock.adapt.settings import Settings
from penstock.engine.reports.report import Report
from penstock.engine.routes.screening import SECONDS_A_ROW, declared_seconds
from penstock.query import Query

_READ, _PROBED, _FOUND = 1e-6, 3e-7, 2e-8
"""Seconds to read a tuple or write a result, to probe with one, and for each that it finds."""
_DOUBLED = 10
"""Times that the work from one training to the next is doubled at the most."""
_CHECKED = 1e-8
"""Seconds to check a condition that calls nothing: it looks at whole columns."""


class Budget:
    """Counts the work of the batches, and what was spent of it on planning."""

    def __init__(self, query: Query, settings: Settings):
        conditions = (*query.filters, *query.thetas)
        self._calls = {str(c): declared_seconds(c) - SECONDS_A_ROW for c in conditions}
        self._weighing = settings.weighing_seconds * len(query.inputs) ** 2
        self._training = settings.training_of_stream * len(query.streams)
        self._settings = settings
        self._free = settings.free_weighings
        self._work, self._left, self._times = 0.0, 0.0, 0

    def take(self, report: Report) -> None:
        """Count the work of a batch."""
        read = sum(each.tuples for each in report.inputs.values())
        work = _READ * (read + report.results)
        for each in report.operators:
            if each.kind == "probe":
                work += each.went_in * _PROBED + each.came_out * _FOUND
            else:
                work += each.went_in * (_CHECKED + self._calls.get(each.operator, 0.0))
        self._work += work
        self._left += work * self._settings.planning_share

    def renew(self) -> None:
        """The streams have changed: plans are weighed some times whatever that takes."""
        self._free = self._settings.free_weighings

    @property
    def allows_weighing(self) -> bool:
        return self._free > 0 or self._left >= self._weighing

    def allows_training(self, times: int) -> bool:
        """Whether there has been so much work that training might pay, after so many times."""
        if times != self._times:
            self._times, self._work = times, 0.0
            self._left -= self._training
        payback = self._settings.training_payback * 2.0 ** min(times, _DOUBLED)
        return self._work >= self._training * payback

    def weigh(self) -> None:
        """Count one weighing."""
        if self._free > 0:
            self._free -= 1
        else:
            self._left -= self._weighing

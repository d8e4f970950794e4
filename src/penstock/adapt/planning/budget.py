"""The budget of planning: the part of a run's work that may go into weighing plans and training.

Work is counted in rows, at the seconds of a usual machine and of what functions declare, never by
the clock: the same streams give the same budget.
"""

from __future__ import annotations

from penstock.adapt.settings import Settings
from penstock.engine.reports.report import Report
from penstock.engine.routes.screening import SECONDS_A_ROW, declared_seconds
from penstock.query import Query


class Budget:
    """Counts the work of the batches, and what was spent of it on planning."""

    def __init__(self, query: Query, settings: Settings):
        self._seconds = {str(c): declared_seconds(c) for c in (*query.filters, *query.thetas)}
        self._weighing = settings.weighing_seconds * len(query.inputs) ** 2
        self._training = settings.training_of_stream * len(query.streams)
        self._settings = settings
        self._free = settings.free_weighings
        self._work, self._left, self._times = 0.0, 0.0, 0

    def take(self, report: Report) -> None:
        """Count the work of a batch."""
        read = sum(each.tuples for each in report.inputs.values())
        work = SECONDS_A_ROW * (read + report.results)
        for each in report.operators:
            work += each.went_in * self._seconds.get(each.operator, SECONDS_A_ROW)
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
        return self._work >= self._training * self._settings.training_payback

    def weigh(self) -> None:
        """Count one weighing."""
        if self._free > 0:
            self._free -= 1
        else:
            self._left -= self._weighing

"""The lead of a run's delay: where on the curve of what to keep each next batch is to be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from penstock.adapt.settings import DEFAULT_SETTINGS, Settings
from penstock.adapt.shedding.behind import Behind, remedy_of
from penstock.adapt.shedding.controller import DelayController
from penstock.adapt.shedding.forecast import PASSED
from penstock.adapt.shedding.onset import Onset
from penstock.adapt.shedding.queue import Queue, Standing
from penstock.adapt.shedding.wish import Wish
from penstock.adapt.shedding.work_model import Job, WorkModel
from penstock.engine.reports.parts import Change
from penstock.engine.reports.report import Report

_OFF = "shedding is off: all is kept from the next batch on"


class Forecasts(Protocol):
    """What batches take, by a curve of what to keep: from all, at 0, to next to nothing."""

    def seconds(self, position: float, span: float, ahead: float = 0.0) -> float:
        """Seconds of the batch that reads a span of event time, next or so many ahead."""

    def position(
        self, seconds: float, span: float, ahead: float = 0.0, later: float = 0.0
    ) -> float:
        """Where the next batch, and one `ahead` of it, take no more than so many seconds."""

    def done(self, report: Report) -> Job:
        """The work of a batch that is over."""

    @property
    def weighed_for(self) -> float:
        """Seconds of event time for which estimates are made, if nothing more is shed."""

    def share(self, position: float) -> float:
        """The part of the results that is left in the long run."""


@dataclass(frozen=True)
class Case:
    """What is decided by after a batch: how the run stands, the delay of the batch, what the next
    ones take, and the load."""

    now: Standing
    delay: float
    forecast: Forecasts
    load: float


class DelayLead:
    """Hears of each batch how late it was, and leads the delay to the one that is wished for.

    `limits` has the pieces that a batch takes in at the most, of sources that have such a limit.
    """

    def __init__(
        self, wish: Wish, limits: Mapping[str, int], settings: Settings = DEFAULT_SETTINGS
    ):
        self.wish = wish
        self.model = WorkModel(settings)
        self.is_on = wish.is_on
        self.is_ours = wish.is_on
        self._settings = settings
        self._queue, self._is_limited = Queue(wish.trigger, limits), bool(limits)
        self._controller = DelayController(wish.delay, wish.trigger, settings)
        self._onset = Onset(wish.delay, settings)
        self._behind = Behind(settings)
        self._heard = 0

    def obey(self, order: str) -> str:
        """Shed, or shed no more, from the next batch on; the answer."""
        self.is_on = order == "on"
        self.is_ours = self.is_ours or self.is_on
        return f"shedding is on, for a delay of {self.wish.delay:g} s" if self.is_on else _OFF

    def hear(self, report: Report, *, is_shed: bool) -> Standing:
        """How the run stands after a batch, which has been shed or not."""
        self._heard += 1
        if self._heard == 1:
            # It was started with drop boxes: they go once they are not needed.
            self._onset.is_shedding = is_shed
        return self._queue.hear(report)

    def end(self) -> Change:
        """Shed no more, because somebody has said so."""
        self._onset.is_shedding = False
        return Change("shed", "shedding was switched off")

    def case(self, report: Report, now: Standing, forecast: Forecasts) -> Case | None:
        """What is decided by; None as long as nothing is known of what batches take."""
        if self._heard > self._settings.shed_cold_batches:
            job = forecast.done(report)
            self.model.learn(job, now.took)
            # What a batch took by chance the next one will not.
            now = replace(now, took=self.model.seconds(job))
        if not self.model.is_known:
            return None
        delay = report.delay if report.delay is not None else now.delay
        return Case(now, delay, forecast, self._load(now, delay, forecast))

    def _load(self, now: Standing, delay: float, forecast: Forecasts) -> float:
        """The load, with nothing shed from now on.

        While windows hold tuples that were shed, views are estimated, which takes longer: so a load
        that was shed would have to be shed for ever. What passes by itself does not count, unless
        results were far too late by then.
        """
        share, span = self._in_the_long_run(now)
        load = forecast.seconds(0.0, span) / share
        passes = forecast.weighed_for * now.pace
        latest = delay + max(0.0, load - 1.0) * passes
        if not passes or latest > self._settings.shed_behind * self.wish.delay:
            return load
        settled = forecast.seconds(0.0, span, PASSED) / share
        return min(load, settled) if settled <= self._settings.shed_catch_up else load

    def next_position(self, case: Case) -> float:
        """Where on the curve the next batch is to be."""
        now, forecast, controller = case.now, case.forecast, self._controller
        whole = forecast.seconds(0.0, now.span)
        own = now.waiting + whole
        was_shedding = self._onset.is_shedding
        self._onset.hear(case.delay, case.load, max(own, controller.after(now, whole)))
        if not was_shedding:
            controller.begin()
        wanted = controller.wanted(now)
        if self._is_far_behind(case):
            wanted = self._settings.shed_catch_up * now.span * now.pace
        fits = case.load <= 1.0 and own <= controller.target
        position = 0.0
        if self._onset.is_shedding and not fits:
            ahead, later = self._settings.shed_ahead, max(self.wish.trigger, wanted) / now.pace
            position = forecast.position(wanted, now.span, ahead, min(now.span, later))
        controller.order(now, forecast.seconds(position, now.span))
        return position

    def is_moved(self, case: Case, moves: list[float]) -> bool:
        """Whether drop boxes that differ by such factors are worth setting."""
        is_near = abs(case.delay - self.wish.delay) <= self._settings.shed_band * self.wish.delay
        least = self._settings.shed_least_move if is_near else 0.0
        return max(moves, default=0.0) > least

    def reason(self, case: Case) -> str:
        """Why drop boxes are set."""
        return f"delay {case.delay:.1f} s, wanted {self.wish.delay:g} s, load {case.load:.2g}"

    def said_behind(
        self, report: Report, now: Standing, find: Callable[[], Case | None]
    ) -> Change | None:
        """That a run does not keep up which may not shed, if that is to be said."""
        if report.delay is None or not report.span:
            return None
        is_busy = report.busy is None or report.busy >= self._settings.behind_busy
        # Whoever catches up with data that waited is late, and does not fall behind.
        load = now.took / (report.span * now.pace) if is_busy else 0.0
        is_late = report.delay > self._settings.shed_calm_delay * self.wish.delay
        # What would help takes some work to find out.
        case = find() if load > 1.0 and is_late else None
        return self._behind.hear(report.delay, load, lambda: self._remedy(load, case))

    def _remedy(self, load: float, case: Case | None) -> str:
        if case is None:
            return remedy_of(None, load, self.wish.delay)
        position = case.forecast.position(*self._in_the_long_run(case.now))
        return remedy_of(case.forecast.share(position), load, self.wish.delay)

    def _in_the_long_run(self, now: Standing) -> tuple[float, float]:
        """Seconds that a batch may take in the long run, and the event time that it takes in: as
        much as at the target, or as the next one takes in if that is more."""
        target = self.wish.delay
        apart = max(self.wish.trigger, target / 2.0)
        span = max(apart / now.pace, now.span)
        return (target / apart - 1.0) * span * now.pace, span

    def _is_far_behind(self, case: Case) -> bool:
        """Whether so much waits that limited batches must catch up with it, one by one."""
        return self._is_limited and case.delay > self._settings.shed_behind * self.wish.delay

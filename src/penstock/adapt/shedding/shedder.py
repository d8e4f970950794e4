"""The shedder: drop boxes for the next batch, so that the delay stays at its target.

Feedback and feed-forward: the controller says how long the next batch may take, the forecast what
it would take, and the keep curve what to drop so that the most results are left.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from penstock.adapt.settings import DEFAULT_SETTINGS, Settings
from penstock.adapt.shedding.behind import Behind, remedy_of
from penstock.adapt.shedding.controller import DelayController
from penstock.adapt.shedding.curve_maker import CurveMaker
from penstock.adapt.shedding.forecast import Forecast
from penstock.adapt.shedding.onset import Onset
from penstock.adapt.shedding.queue import Queue, Standing, limits_of
from penstock.adapt.shedding.window_fill import WindowFill
from penstock.adapt.shedding.wish import Wish
from penstock.adapt.shedding.work_model import WorkModel
from penstock.engine.reports.parts import Change
from penstock.engine.reports.report import Report
from penstock.figure import Figure
from penstock.plan.drops import DropBoxes, worth_shedding
from penstock.plan.plan import Plan
from penstock.query import Query
from penstock.stats.known import Known

Boxes = tuple[DropBoxes, Change | None]


@dataclass(frozen=True)
class _Case:
    """What is decided by after a batch: how the query stands, the delay of the batch, what the next
    ones take, and the load."""

    now: Standing
    delay: float
    forecast: Forecast
    load: float


class Shedder:
    """Hears of each batch, and says what the next one is to keep of each stream."""

    def __init__(
        self,
        query: Query,
        wish: Wish,
        *,
        is_inline: bool = False,
        settings: Settings = DEFAULT_SETTINGS,
    ):
        self._wish = wish
        self._settings = settings
        limits = limits_of(query)
        self._queue, self._is_limited = Queue(wish.trigger, limits), bool(limits)
        self._controller = DelayController(wish.delay, wish.trigger, settings)
        self._onset = Onset(wish.delay, settings)
        self._fill = WindowFill(query, settings)
        self._model = WorkModel(settings)
        self._curves = CurveMaker(is_inline=is_inline, settings=settings)
        self._behind = Behind(settings)
        self._is_on = wish.is_on
        self._is_ours = wish.is_on
        self._heard = 0

    def obey(self, order: str) -> str:
        """Shed, or shed no more, from the next batch on; the answer."""
        self._is_on = order == "on"
        self._is_ours = self._is_ours or self._is_on
        return f"shedding is on, for a delay of {self._wish.delay:g} s" if self._is_on else _OFF

    def close(self) -> None:
        """The run has ended."""
        self._curves.close()

    def next_boxes(self, report: Report, known: Callable[[], Known], plan: Plan) -> Boxes | None:
        """The drop boxes of the next batch, and what to say of them; None if nothing changes.

        What is known is asked for only if it matters.
        """
        now = self._queue.hear(report)
        self._fill.hear(report)
        self._heard += 1
        if self._heard == 1:
            # It was started with drop boxes: they go once they are not needed.
            self._onset.is_shedding = bool(plan.drops.kept)
        if not self._is_on:
            return self._off(plan) or self._say_behind(report, now, known, plan)
        case = self._case(report, now, known, plan)
        if case is None:
            return None
        return self._boxes(plan, case, self._next_position(case))

    def _case(
        self, report: Report, now: Standing, known: Callable[[], Known], plan: Plan
    ) -> _Case | None:
        """What is decided by; None as long as nothing is known of what batches take."""
        rates = {alias: Figure(rate, "measured") for alias, rate in self._fill.rates.items()}
        found = known()
        curve = self._curves.curve(replace(found, rates={**found.rates, **rates}), plan)
        if curve is None or not report.span:
            return None
        forecast = Forecast(curve, self._fill, self._model)
        if self._heard > self._settings.shed_cold_batches:
            job = forecast.done(report)
            self._model.learn(job, now.took)
            # What a batch took by chance the next one will not.
            now = replace(now, took=self._model.seconds(job))
        if not self._model.is_known:
            return None
        share, span = self._in_the_long_run(now)
        delay = report.delay if report.delay is not None else now.delay
        return _Case(now, delay, forecast, forecast.seconds(0.0, span) / share)

    def _in_the_long_run(self, now: Standing) -> tuple[float, float]:
        """Seconds that a batch may take in the long run, and the event time that it takes in: as
        much as at the target, or as the next one takes in if that is more."""
        target = self._wish.delay
        apart = max(self._wish.trigger, target / 2.0)
        span = max(apart / now.pace, now.span)
        return (target / apart - 1.0) * span * now.pace, span

    def _next_position(self, case: _Case) -> float:
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
            ahead, later = self._settings.shed_ahead, max(self._wish.trigger, wanted) / now.pace
            position = forecast.position(wanted, now.span, ahead, min(now.span, later))
        controller.order(now, forecast.seconds(position, now.span))
        return position

    def _is_far_behind(self, case: _Case) -> bool:
        """Whether so much waits that limited batches must catch up with it, one by one."""
        return self._is_limited and case.delay > self._settings.shed_behind * self._wish.delay

    def _boxes(self, plan: Plan, case: _Case, position: float) -> Boxes | None:
        """Drop boxes for a position, unless they are nearly those that there are."""
        drops, target, curve = plan.drops, self._wish.delay, case.forecast.curve
        kept = curve.kept(position) if position else {}
        found = worth_shedding(kept)
        moves = [
            abs(found.get(alias, 1.0) / (drops.fraction(alias) or 1.0) - 1.0)
            for alias in {*found, *dict(drops.kept)}
        ]
        is_near = abs(case.delay - target) <= self._settings.shed_band * target
        least = self._settings.shed_least_move if is_near else 0.0
        if max(moves, default=0.0) <= least and bool(found) == bool(drops.kept):
            return None
        boxes = replace(drops, kept=tuple(found.items()), estimates=not self._wish.exact_of_kept)
        what = f"delay {case.delay:.1f} s, wanted {target:g} s, load {case.load:.2g}"
        return boxes, Change("shed", f"{what}: {_kept(plan, found, curve.share(found))}")

    def _off(self, plan: Plan) -> Boxes | None:
        """No drop boxes, if somebody has switched shedding off."""
        if not self._is_ours or not plan.drops.kept:
            return None
        self._onset.is_shedding = False
        return replace(plan.drops, kept=()), Change("shed", "shedding was switched off")

    def _say_behind(
        self, report: Report, now: Standing, known: Callable[[], Known], plan: Plan
    ) -> Boxes | None:
        """Say that a query does not keep up which may not shed."""
        if report.delay is None or not report.span:
            return None
        is_busy = report.busy is None or report.busy >= self._settings.behind_busy
        # Whoever catches up with data that waited is late, and does not fall behind.
        load = now.took / (report.span * now.pace) if is_busy else 0.0
        is_late = report.delay > self._settings.shed_calm_delay * self._wish.delay
        # What would help takes some work to find out.
        case = self._case(report, now, known, plan) if load > 1.0 and is_late else None
        said = self._behind.hear(report.delay, load, lambda: self._remedy(load, case))
        return None if said is None else (plan.drops, said)

    def _remedy(self, load: float, case: _Case | None) -> str:
        if case is None:
            return remedy_of(None, load, self._wish.delay)
        position = case.forecast.position(*self._in_the_long_run(case.now))
        curve = case.forecast.curve
        return remedy_of(curve.share(curve.kept(position)), load, self._wish.delay)


_OFF = "shedding is off: all is kept from the next batch on"


def _kept(plan: Plan, kept: Mapping[str, float], left: float) -> str:
    if not kept:
        return "keeps all of every stream"
    streams = [item.alias for item in plan.query.streams]
    parts = ", ".join(f"{100.0 * kept.get(alias, 1.0):.0f} % of {alias}" for alias in streams)
    return f"keeps {parts}; {left:.2f} of the results expected"

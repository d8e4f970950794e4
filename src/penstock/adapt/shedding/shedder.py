"""The shedder: drop boxes for the next batch, so that the delay stays at its target.

Feedback and feed-forward: the controller says how long the next batch may take, the forecast what
it would take, and the keep curve what to drop so that the most results are left.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from penstock.adapt.settings import DEFAULT_SETTINGS, Settings
from penstock.adapt.shedding.behind import Behind, remedy_of
from penstock.adapt.shedding.controller import DelayController
from penstock.adapt.shedding.curve_maker import CurveMaker
from penstock.adapt.shedding.forecast import Forecast
from penstock.adapt.shedding.queue import Queue, Standing
from penstock.adapt.shedding.window_fill import WindowFill
from penstock.adapt.shedding.work_model import WorkModel
from penstock.engine.reports.parts import Change
from penstock.engine.reports.report import Report
from penstock.engine.run.options import RunOptions
from penstock.figure import Figure
from penstock.plan.drops import DropBoxes
from penstock.plan.plan import Plan
from penstock.query import Query
from penstock.stats.known import Known

Boxes = tuple[DropBoxes, Change | None]


@dataclass(frozen=True)
class Wish:
    """What is wanted of a run: a delay, seconds, in batches at least `trigger` seconds apart.

    `is_on` lets tuples be shed for it; views then are estimates, or `exact_of_kept`.
    """

    delay: float
    trigger: float
    is_on: bool = True
    exact_of_kept: bool = False


def wish_of(options: RunOptions, *, exact_of_kept: bool = False) -> Wish:
    """The wish of a run: with a delay it may shed, without one it is only watched."""
    trigger = options.trigger.seconds
    delay = default_delay(trigger) if options.delay is None else options.delay.seconds
    return Wish(delay, trigger, options.delay is not None, exact_of_kept)


def default_delay(trigger: float, settings: Settings = DEFAULT_SETTINGS) -> float:
    """The delay, seconds, that is wanted where nobody says."""
    return max(settings.shed_delay, settings.shed_triggers * trigger)


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
        self._queue = Queue(wish.trigger, is_limited=_is_limited(query))
        self._controller = DelayController(wish.delay, wish.trigger, settings)
        self._fill = WindowFill(query, settings)
        self._model = WorkModel(settings)
        self._curves = CurveMaker(is_inline=is_inline, settings=settings)
        self._behind = Behind(settings)
        self._is_on = wish.is_on
        self._is_shedding = False
        self._is_ours = wish.is_on
        self._late, self._calm, self._heard = 0, 0, 0

    def obey(self, order: str) -> str:
        """Shed, or shed no more, from the next batch on; the answer."""
        self._is_on = order == "on"
        self._is_ours = self._is_ours or self._is_on
        return f"shedding is on, for a delay of {self._wish.delay:g} s" if self._is_on else _OFF

    def close(self) -> None:
        """The run has ended."""
        self._curves.close()

    def next_boxes(self, report: Report, known: Known, plan: Plan) -> Boxes | None:
        """The drop boxes of the next batch, and what to say of them; None if nothing changes."""
        now = self._queue.hear(report)
        self._fill.hear(report)
        self._heard += 1
        if self._heard == 1:
            # It was started with drop boxes: they go once they are not needed.
            self._is_shedding = bool(plan.drops.kept)
        rates = {alias: Figure(rate, "measured") for alias, rate in self._fill.rates.items()}
        curve = self._curves.curve(replace(known, rates={**known.rates, **rates}), plan)
        if curve is None or not report.span:
            return self._off(plan)
        forecast = Forecast(curve, self._fill, self._model)
        if self._heard > self._settings.shed_cold_batches:
            job = forecast.done(report)
            self._model.learn(job, now.took)
            # What a batch took by chance the next one will not.
            now = replace(now, took=self._model.seconds(job))
        if not self._model.is_known or not self._is_on:
            return self._off(plan) or self._say_behind(report, now, forecast, plan)
        delay = report.delay if report.delay is not None else now.delay
        position = self._position(now, delay, forecast)
        return self._boxes(plan, curve.kept(position) if position else {}, delay, forecast)

    def _position(self, now: Standing, delay: float, forecast: Forecast) -> float:
        """Where on the curve the next batch is to be."""
        whole, load = forecast.seconds(0.0, now.span), self._load(forecast, now)
        wanted = self._controller.wanted(now)
        self._watch(now, delay, whole, load)
        fits = load <= 1.0 and now.waiting + whole <= self._controller.target
        position = 0.0
        if self._is_shedding and not fits:
            position = forecast.position(wanted, now.span, self._settings.shed_ahead)
        self._controller.order(now, forecast.seconds(position, now.span))
        return position

    def _watch(self, now: Standing, delay: float, whole: float, load: float) -> None:
        """Begin to shed, or end it."""
        target, settings = self._controller.target, self._settings
        self._late = self._late + 1 if delay > target else 0
        is_calm = delay < settings.shed_calm_delay * target and load <= 1.0
        self._calm = self._calm + 1 if is_calm else 0
        rises = load > 1.0 and max(now.waiting + whole, self._controller.after(now, whole)) > target
        if self._heard > settings.shed_cold_batches and (
            rises or self._late >= settings.shed_late_batches
        ):
            self._is_shedding = True
        elif self._calm >= settings.shed_calm_batches:
            self._is_shedding = False

    def _load(self, forecast: Forecast, now: Standing) -> float:
        """Seconds that a second of data takes, all kept, in batches as they are at the target."""
        share, span = self._at_target(now)
        return forecast.seconds(0.0, span) / share

    def _at_target(self, now: Standing) -> tuple[float, float]:
        """Seconds that a batch may take in the long run, and the event time that it takes in."""
        target = self._controller.target
        apart = max(self._wish.trigger, target / 2.0)
        return target - apart, apart * (now.span / now.taken if now.taken else 1.0)

    def _boxes(
        self, plan: Plan, kept: Mapping[str, float], delay: float, forecast: Forecast
    ) -> Boxes | None:
        """Drop boxes for the fractions, unless they are nearly those that there are."""
        drops, target = plan.drops, self._controller.target
        found = {alias: fraction for alias, fraction in kept.items() if fraction < 1.0}
        moves = [
            abs(found.get(alias, 1.0) / (drops.fraction(alias) or 1.0) - 1.0)
            for alias in {*found, *dict(drops.kept)}
        ]
        is_near = abs(delay - target) <= self._settings.shed_band * target
        least = self._settings.shed_least_move if is_near else 0.0
        if max(moves, default=0.0) <= least and bool(found) == bool(drops.kept):
            return None
        boxes = DropBoxes(tuple(found.items()), drops.seed, not self._wish.exact_of_kept)
        left = forecast.curve.share(found)
        return boxes, Change("shed", _reason(plan, found, delay, target, left))

    def _off(self, plan: Plan) -> Boxes | None:
        """No drop boxes, if somebody has switched shedding off."""
        if self._is_on or not self._is_ours or not plan.drops.kept:
            return None
        self._is_shedding = False
        return replace(plan.drops, kept=()), Change("shed", "shedding was switched off")

    def _say_behind(
        self, report: Report, now: Standing, forecast: Forecast, plan: Plan
    ) -> Boxes | None:
        """Say that a query does not keep up which may not shed."""
        if not self._model.is_known or report.delay is None:
            return None
        is_busy = report.busy is None or report.busy >= self._settings.behind_busy
        # Whoever catches up with data that waited is late, and does not fall behind.
        is_busy = is_busy and report.seconds > (report.span or 0.0)
        load = self._load(forecast, now) if is_busy else 0.0
        position = forecast.position(*self._at_target(now)) if load > 1.0 else 0.0
        left = forecast.curve.share(forecast.curve.kept(position))
        said = self._behind.hear(report.delay, load, remedy_of(left, load, self._wish.delay))
        return None if said is None else (plan.drops, said)


_OFF = "shedding is off: all is kept from the next batch on"


def _is_limited(query: Query) -> bool:
    """Whether batches of some stream do not take in all there is."""
    sources = query.stream_sources.values()
    return any(source.option(name) for source in sources for name in ("max_files", "max_time"))


def _reason(plan: Plan, kept: Mapping[str, float], delay: float, target: float, left: float) -> str:
    what = f"delay {delay:.1f} s, wanted {target:g} s"
    if not kept:
        return f"{what}: keeps all of every stream"
    streams = [item.alias for item in plan.query.streams]
    parts = ", ".join(f"{100.0 * kept.get(alias, 1.0):.0f} % of {alias}" for alias in streams)
    return f"{what}: keeps {parts}; {left:.2f} of the results expected"

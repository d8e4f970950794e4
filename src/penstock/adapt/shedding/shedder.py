"""The shedder: drop boxes for the next batch, so that the delay stays at its target.

Feedback and feed-forward: the controller says how long the next batch may take, the forecast what
it would take, and the keep curve what to drop so that the most results are left.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from penstock.adapt.settings import DEFAULT_SETTINGS, Settings
from penstock.adapt.shedding.curve_maker import CurveMaker
from penstock.adapt.shedding.forecast import Forecast
from penstock.adapt.shedding.lead import Case, DelayLead
from penstock.adapt.shedding.queue import Standing, limits_of
from penstock.adapt.shedding.window_fill import WindowFill
from penstock.adapt.shedding.wish import Wish
from penstock.engine.reports.parts import Change
from penstock.engine.reports.report import Report
from penstock.figure import Figure
from penstock.plan.drops import DropBoxes, worth_shedding
from penstock.plan.plan import Plan
from penstock.query import Query
from penstock.stats.known import Known

Boxes = tuple[DropBoxes, Change | None]


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
        self._lead = DelayLead(wish, limits_of(query), settings)
        self._fill = WindowFill(query, settings)
        self.curves = CurveMaker(is_inline=is_inline, settings=settings)

    def obey(self, order: str) -> str:
        """Shed, or shed no more, from the next batch on; the answer."""
        return self._lead.obey(order)

    def close(self) -> None:
        """The run has ended."""
        self.curves.close()

    def prepare(self, known: Callable[[], Known], plan: Plan) -> None:
        """Have what to shed of a plan worked out beside its first batch: it may be in a burst."""
        if self._lead.is_on:
            self.curves.curve(with_rates(known(), self._fill), plan)

    def next_boxes(self, report: Report, known: Callable[[], Known], plan: Plan) -> Boxes | None:
        """The drop boxes of the next batch, and what to say of them; None if nothing changes.

        What is known is asked for only if it matters.
        """
        now = self._lead.hear(report, is_shed=bool(plan.drops.kept))
        self._fill.hear(report)
        if not self._lead.is_on:
            return self._off(plan) or self._say_behind(report, now, known, plan)
        forecast = self._forecast(report, known, plan)
        case = None if forecast is None else self._lead.case(report, now, forecast)
        if forecast is None or case is None:
            return None
        return self._boxes(plan, case, forecast, self._lead.next_position(case))

    def _forecast(self, report: Report, known: Callable[[], Known], plan: Plan) -> Forecast | None:
        """What batches of a plan take; None as long as nobody can tell."""
        curve = self.curves.curve(with_rates(known(), self._fill), plan)
        if curve is None or not report.span:
            return None
        return Forecast(curve, self._fill, self._lead.model)

    def _boxes(self, plan: Plan, case: Case, forecast: Forecast, position: float) -> Boxes | None:
        """Drop boxes for a position, unless they are nearly those that there are."""
        drops, curve = plan.drops, forecast.curve
        found = worth_shedding(curve.kept(position) if position else {})
        is_same_kind = bool(found) == bool(drops.kept)
        if not self._lead.is_moved(case, moves_of(drops, found)) and is_same_kind:
            return None
        boxes = boxes_of(drops, found, self._lead.wish)
        said = f"{self._lead.reason(case)}: {_kept(plan, found, curve.share(found))}"
        return boxes, Change("shed", said)

    def _off(self, plan: Plan) -> Boxes | None:
        """No drop boxes, if somebody has switched shedding off."""
        if not self._lead.is_ours or not plan.drops.kept:
            return None
        return replace(plan.drops, kept=()), self._lead.end()

    def _say_behind(
        self, report: Report, now: Standing, known: Callable[[], Known], plan: Plan
    ) -> Boxes | None:
        """Say that a query does not keep up which may not shed."""

        def find() -> Case | None:
            forecast = self._forecast(report, known, plan)
            return None if forecast is None else self._lead.case(report, now, forecast)

        said = self._lead.said_behind(report, now, find)
        return None if said is None else (plan.drops, said)


def with_rates(known: Known, fill: WindowFill) -> Known:
    """What is known, with the rates of the last batches."""
    rates = {alias: Figure(rate, "measured") for alias, rate in fill.rates.items()}
    return replace(known, rates={**known.rates, **rates})


def moves_of(drops: DropBoxes, found: Mapping[str, float]) -> list[float]:
    """By how much fractions differ from those of drop boxes, as parts of these."""
    return [
        abs(found.get(alias, 1.0) / (drops.fraction(alias) or 1.0) - 1.0)
        for alias in {*found, *dict(drops.kept)}
    ]


def boxes_of(drops: DropBoxes, found: Mapping[str, float], wish: Wish) -> DropBoxes:
    """Drop boxes that keep other fractions."""
    return replace(drops, kept=tuple(found.items()), estimates=not wish.exact_of_kept)


def _kept(plan: Plan, kept: Mapping[str, float], left: float) -> str:
    if not kept:
        return "keeps all of every stream"
    streams = [item.alias for item in plan.query.streams]
    parts = ", ".join(f"{100.0 * kept.get(alias, 1.0):.0f} % of {alias}" for alias in streams)
    return f"keeps {parts}; {left:.2f} of the results expected"

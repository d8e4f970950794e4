"""The shedder of a script: drop boxes of all its queries, so that one delay stays at its target."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from penstock.adapt.script.joint_curve import JointCurve, JointForecast, joint_curve
from penstock.adapt.settings import DEFAULT_SETTINGS, Settings
from penstock.adapt.shedding.curve_maker import CurveMaker
from penstock.adapt.shedding.forecast import Forecast
from penstock.adapt.shedding.keep_curve import KeepCurve, keep_curve, whole_curve
from penstock.adapt.shedding.lead import Case, DelayLead
from penstock.adapt.shedding.queue import Standing, limits_of
from penstock.adapt.shedding.shedder import boxes_of, moves_of, with_rates
from penstock.adapt.shedding.window_fill import WindowFill
from penstock.adapt.shedding.wish import Wish
from penstock.engine.reports.parts import Change
from penstock.engine.reports.report import Report
from penstock.plan.drops import DropBoxes, worth_shedding
from penstock.plan.plan import Plan
from penstock.query import Query
from penstock.query.script import Member
from penstock.stats.known import Known

Boxes = tuple[dict[str, DropBoxes], Change | None]
Knowns = Mapping[str, Callable[[], Known]]
Plans = Mapping[str, Plan]


class ScriptShedder:
    """Hears of each batch of a script, and says what the next one is to keep of each stream.

    `queries` are those that have work of their own, by name; of these the ones that are `sheddable`
    are shed, and the others take what they take. Where one of them finds combinations for others,
    `takers`, these lack what it sheds.
    """

    def __init__(
        self,
        queries: Mapping[str, Query],
        sheddable: frozenset[str],
        wish: Wish,
        *,
        takers: Mapping[str, tuple[Member, ...]] | None = None,
        is_inline: bool = False,
        settings: Settings = DEFAULT_SETTINGS,
    ):
        limits = {name: most for each in queries.values() for name, most in limits_of(each).items()}
        self._lead = DelayLead(wish, limits, settings)
        self._sheddable = sheddable
        self._takers = {name: found for name, found in (takers or {}).items() if found}
        self._settings = settings
        self._fills = {name: WindowFill(query, settings) for name, query in queries.items()}
        self._curves = {
            name: CurveMaker(
                is_inline=is_inline,
                settings=settings,
                make=keep_curve if name in sheddable else whole_curve,
            )
            for name in queries
        }
        self._joint: JointCurve | None = None

    @property
    def led(self) -> frozenset[str]:
        """The queries whose drop boxes are set from the start of a run on."""
        if not self._lead.wish.is_on:
            return frozenset()
        takers = (each.name for name in self._sheddable for each in self._takers.get(name, ()))
        return self._sheddable.union(takers)

    def obey(self, order: str) -> str:
        """Shed, or shed no more, from the next batch on; the answer."""
        return self._lead.obey(order)

    def close(self) -> None:
        """The run has ended."""
        for each in self._curves.values():
            each.close()

    def next_boxes(self, report: Report, known: Knowns, plans: Plans) -> Boxes | None:
        """The drop boxes of queries in the next batch, and what to say of them; None if nothing
        changes."""
        now = self._lead.hear(report, is_shed=any(plans[n].drops.kept for n in self._sheddable))
        for name, fill in self._fills.items():
            fill.hear(report.members[name])
        if not self._lead.is_on:
            return self._off(plans) or self._say_behind(report, now, known, plans)
        forecast = self._forecast(report, known, plans)
        case = None if forecast is None else self._lead.case(report, now, forecast)
        if forecast is None or case is None or not self._sheddable:
            return None
        return self._boxes(plans, case, forecast.curve, self._lead.next_position(case))

    def _forecast(self, report: Report, known: Knowns, plans: Plans) -> JointForecast | None:
        """What batches of these plans take; None as long as nobody can tell."""
        if not report.span:
            return None
        curves: dict[str, KeepCurve] = {}
        for name, maker in self._curves.items():
            found = maker.curve(with_rates(known[name](), self._fills[name]), plans[name])
            if found is None:
                return None
            curves[name] = found
        model = self._lead.model
        parts = {n: Forecast(curve, self._fills[n], model) for n, curve in curves.items()}
        return JointForecast(parts, self._together(curves), model)

    def _together(self, curves: Mapping[str, KeepCurve]) -> JointCurve:
        """The joint curve of those that may be shed, made once for their own curves."""
        mine = {name: curves[name] for name in sorted(self._sheddable)}
        made = self._joint
        if made is None or any(made.curves[name] is not each for name, each in mine.items()):
            weights = {name: len(found) for name, found in self._takers.items()}
            made = self._joint = joint_curve(mine, self._settings, weights)
        return made

    def _boxes(self, plans: Plans, case: Case, curve: JointCurve, position: float) -> Boxes | None:
        """Drop boxes for a position, unless they are nearly those that there are."""
        kept = curve.kept(position) if position else {}
        found = {name: worth_shedding(kept.get(name, {})) for name in curve.curves}
        drops = {name: plans[name].drops for name in found}
        moves = [move for name in found for move in moves_of(drops[name], found[name])]
        is_same_kind = all(bool(found[n]) == bool(each.kept) for n, each in drops.items())
        if not self._lead.is_moved(case, moves) and is_same_kind:
            return None
        boxes = {name: boxes_of(drops[name], found[name], self._lead.wish) for name in found}
        boxes |= self._taken(boxes, plans)
        said = f"{self._lead.reason(case)}: {_kept(plans, found, curve.share(found))}"
        return boxes, Change("shed", said)

    def _off(self, plans: Plans) -> Boxes | None:
        """No drop boxes, if somebody has switched shedding off."""
        shed = {n: plans[n].drops for n in self._sheddable if plans[n].drops.kept}
        if not self._lead.is_ours or not shed:
            return None
        boxes = {name: replace(drops, kept=()) for name, drops in shed.items()}
        return boxes | self._taken(boxes, plans), self._lead.end()

    def _taken(self, boxes: Mapping[str, DropBoxes], plans: Plans) -> dict[str, DropBoxes]:
        """The same drop boxes for those who take combinations, under their own aliases: what they
        take has been shed so."""
        found = {}
        for maker, takers in self._takers.items():
            for taker in takers if maker in boxes else ():
                assert taker.takes is not None, "it takes from somebody"
                made, aliases = boxes[maker], taker.takes.aliases
                kept = dict(made.kept)
                mine = tuple((a, kept[theirs]) for a, theirs in aliases if theirs in kept)
                own = plans[taker.name].drops
                found[taker.name] = replace(own, kept=mine, estimates=made.estimates)
        return found

    def _say_behind(
        self, report: Report, now: Standing, known: Knowns, plans: Plans
    ) -> Boxes | None:
        """Say that a script does not keep up which may not shed."""

        def find() -> Case | None:
            forecast = self._forecast(report, known, plans) if self._sheddable else None
            return None if forecast is None else self._lead.case(report, now, forecast)

        said = self._lead.said_behind(report, now, find)
        return None if said is None else ({}, said)


def _kept(plans: Plans, kept: Mapping[str, Mapping[str, float]], left: float) -> str:
    shed = {name: fractions for name, fractions in kept.items() if fractions}
    if not shed:
        return "keeps all of every stream"
    parts = [
        f"{name} keeps " + ", ".join(f"{100.0 * x:.0f} % of {a}" for a, x in fractions.items())
        for name, fractions in shed.items()
    ]
    return f"{'; '.join(parts)}; {left:.2f} of the results of all that may be shed expected"

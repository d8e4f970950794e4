"""The forecast of a batch: its seconds for what is kept, by the windows as they are just now."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod

from penstock.adapt.shedding.keep_curve import KeepCurve
from penstock.adapt.shedding.window_fill import WindowFill
from penstock.adapt.shedding.work_model import Job, WorkModel
from penstock.engine.reports.report import Report
from penstock.optimize.algebra.posynomial import Posynomial
from penstock.optimize.model.flow import Flow

_STEPS = 30
"""Halvings of the part of the curve in which the wanted position lies."""
PASSED = 1e9
"""Batches ahead after which windows hold nothing of now."""
_MUCH_SHORTER = 0.8
"""The part of its time that a batch takes at the most which is much shorter."""


def first_that(fits: Callable[[float], bool], end: float) -> float:
    """The first position up to the end of a curve that fits, as all do after it."""
    low, high = 0.0, end
    if fits(low):
        return low
    for _ in range(_STEPS):
        middle = (low + high) / 2.0
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high


@dataclass(frozen=True)
class Forecast:
    """What batches of a plan take, by the curve of what to keep of its streams."""

    curve: KeepCurve
    fill: WindowFill
    model: WorkModel

    def seconds(self, position: float, span: float, ahead: float = 0.0) -> float:
        """Seconds of the batch that reads a span of event time and keeps so much of it, next or so
        many batches ahead."""
        return self.model.seconds(self.job(position, span, ahead))

    def job(self, position: float, span: float, ahead: float = 0.0) -> Job:
        """The work of that batch."""
        x, rates = self.curve.kept(position), self.fill.rates
        usual = {alias: self._usual(alias) for alias in rates}
        # A stream that was silent when the curve was made has no usual rate to go by.
        flows = {a: x[a] * rate / usual[a] for a, rate in rates.items() if usual[a]}
        rows = sum(rates.values()) * span
        load = self.curve.load(position, self.fill.weighed((ahead + 0.5) * span))
        return self._job(rows, load, flows, span, ahead)

    def done(self, report: Report) -> Job:
        """The work of a batch that is over."""
        span = report.span or 0.0
        kept = {alias: item.tuples - item.shed for alias, item in report.inputs.items()}
        flows = {a: n / span / self._usual(a) for a, n in kept.items() if span and self._usual(a)}
        fractions = {alias: item.keep for alias, item in report.inputs.items()}
        rows = sum(item.tuples for item in report.inputs.values())
        load = self.curve.load_of(fractions, self.fill.weighed(-0.5 * span))
        return self._job(rows, load, flows, span)

    def position(
        self, seconds: float, span: float, ahead: float = 0.0, later: float = 0.0
    ) -> float:
        """Where on the curve the batch takes so many seconds, and one `ahead` of it by so many
        batches, each of which reads a span of `later`, takes no more: 0 where all may be kept.

        What is kept now fills windows, and is paid for by later batches. If not even a batch that
        keeps nothing is short enough, because of what the windows hold already, no more is dropped
        than will do once they have passed, unless that makes the next batch much shorter.
        """
        end = self.curve.end

        def fits(position: float) -> bool:
            now = self.seconds(position, span)
            return now <= seconds and self.seconds(position, later or span, ahead) <= seconds

        def will_fit(position: float) -> bool:
            return self.seconds(position, later or span, PASSED) <= seconds

        if fits(end):
            return first_that(fits, end)
        enough = first_that(will_fit, end)
        is_much = self.seconds(end, span) <= _MUCH_SHORTER * self.seconds(enough, span)
        return end if is_much else enough

    @property
    def weighed_for(self) -> float:
        """Seconds of event time for which estimates are made, if nothing more is shed."""
        return self.fill.weighed_for

    def share(self, position: float) -> float:
        """The part of the results that is left at a position, in the long run."""
        return self.curve.share(self.curve.kept(position))

    def _usual(self, alias: str) -> float:
        """The rate for which the curve was made."""
        figure = self.curve.problem.known.rates.get(alias)
        return figure.value if figure is not None else 0.0

    def _job(
        self,
        rows: float,
        load: Posynomial,
        flows: Mapping[str, float],
        span: float,
        ahead: float = 0.0,
    ) -> Job:
        """The streams of a term drive it in turn, and meet what the windows of the others hold."""
        coming = [flows.get(flow.alias, 1.0) for flow in self.curve.problem.inputs]
        pairs = zip(self.curve.problem.inputs, coming, strict=True)
        met = [self._met(flow, new, (ahead + 0.5) * span) for flow, new in pairs]

        def value(posynomial: Posynomial) -> float:
            terms = ((each.coefficient, sorted(each.factors)) for each in posynomial)
            return sum(c * self._multiple(members, coming, met) for c, members in terms)

        return Job(rows, value(load) * span, value(self.curve.output) * span)

    def _met(self, flow: Flow, coming: float, later: float) -> float:
        """How many times as many tuples as the figures say are in a window, so many seconds of
        event time later: by then it holds new ones too."""
        held, usual = self.fill.held(flow.alias), self._usual(flow.alias)
        if held is None or not flow.extent or not usual:
            return coming
        full, own = held / (usual * flow.extent), min(1.0, later / flow.extent)
        return full + own * (coming - full)

    def _multiple(self, members: list[int], coming: list[float], met: list[float]) -> float:
        """How many times as often as the figures say something happens to combinations.

        As a combination has one last member, streams drive by the shortness of their windows. One
        whose window does not shrink is in a term only if it drives.
        """
        inputs = self.curve.problem.inputs
        drivers = [i for i in members if not inputs[i].extent] or members
        shares = [1.0 / (inputs[i].extent or 1.0) for i in drivers]
        parts = [
            share * coming[i] * prod(met[j] for j in members if j != i)
            for i, share in zip(drivers, shares, strict=True)
        ]
        return sum(parts) / sum(shares) if parts else 1.0

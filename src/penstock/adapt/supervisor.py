"""The supervisor of a run: it measures, notices drift, plans again, and switches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from threading import Thread

from penstock.adapt.drift.detector import load_windows
from penstock.adapt.drift.watch import Watch
from penstock.adapt.figures.figures import Figures
from penstock.adapt.figures.measured import Measured
from penstock.adapt.figures.overlay import figure_in, given_of, overlaid
from penstock.adapt.figures.subject import Subject, described
from penstock.adapt.planning.planner import Planning
from penstock.adapt.predictions import Predictions
from penstock.adapt.replanner import MODES, Mode, Replanner, Standing
from penstock.adapt.settings import DEFAULT_SETTINGS, Settings
from penstock.engine.control.order import Order
from penstock.engine.reports.parts import Change, FigureReport
from penstock.engine.reports.report import Report
from penstock.engine.state.modules import Module
from penstock.engine.wire.facts import Fact
from penstock.errors import PlanError, UsageError
from penstock.optimize.options import PlanOptions
from penstock.plan.plan import Plan
from penstock.plan.text.parse import forced_plan, render_plan
from penstock.stats.guess import complete
from penstock.stats.known import Known
from penstock.stats.statistics import Statistics


class StreamSupervisor:
    """Follows the streams of one run; the pipeline calls it between batches."""

    def __init__(
        self,
        plan: Plan,
        known: Known,
        options: PlanOptions,
        *,
        mode: Mode = "on",
        settings: Settings = DEFAULT_SETTINGS,
        planning: Planning = "background",
    ):
        self.figures = Figures(known.query, settings)
        self.replanner = Replanner(options, settings, planning, mode)
        self._settings = settings
        self._given, self._first = given_of(known), known
        self._calibrated = known.costs
        self._watch = Watch(settings)
        self._running = plan
        self._predictions = Predictions(plan, known)
        self._pinned: Plan | None = None
        self._changes: list[Change] = []
        self._standing: Standing | None = None
        self._drifted_at, self._drift_time = 0, 0.0
        if planning == "inline":
            self._load()
        else:
            Thread(target=self._load, name="penstock-river", daemon=True).start()

    # What the pipeline calls

    def next_plan(self, running: Plan, number: int) -> Plan | None:
        """The plan from batch `number` on; None for the same."""
        if self._pinned is not None:
            plan, self._pinned = replace(self._pinned, drops=running.drops), None
            return self._followed(plan, self.known())
        if self._standing is None:
            return None
        switch, change = self.replanner.decide(running, replace(self._standing, number=number))
        if change is not None:
            self._changes.append(change)
        return None if switch is None else self._followed(switch.new.plan, switch.known)

    def observe(self, report: Report, facts: Sequence[Fact], plan: Plan) -> Report:
        """Take in a batch that is final, and tell what it is measured against."""
        self._notice(plan)
        readings = self.figures.take(report, facts, plan)
        drifted = self._watch.see(readings)
        for subject, batches in drifted.items():
            self._restart(subject, batches, report.batch)
        measured = self.figures.measured()
        self._standing = self._stands(report, measured)
        has_moved = any(self._has_moved(subject, each) for subject, each in measured.items())
        if self.replanner.wants(report.batch, bool(drifted), has_moved):
            self.replanner.ask(self._known(measured), plan, self._standing)
        report = replace(report, figures=self._told(measured))
        changes, self._changes = self._changes, []
        return replace(self._predictions.told(report), changes=(*report.changes, *changes))

    def obey(self, order: Order) -> str:
        """Do what an order about plans says."""
        match order.kind:
            case "replan":
                return self._set(order.value)
            case "pin":
                self._pinned = forced_plan(self._running.query, order.value)
                self.replanner.mode = "off"
                return f"the plan is pinned: {render_plan(self._pinned)}"
        raise UsageError(f"the supervisor cannot {order.kind}", hint="it takes replan and pin")

    def close(self) -> None:
        """End the planning beside the run."""
        self.replanner.planner.close()

    # Figures

    def known(self) -> Known:
        """All that is known now: what was given, with what was measured over it."""
        return self._known(self.figures.measured())

    def statistics(self) -> Statistics:
        """The same as statistics, without guesses."""
        return self._over(self.figures.measured())

    def _over(self, measured: Mapping[Subject, Measured]) -> Statistics:
        return overlaid(self._given, self._first, measured, self._settings)

    def _known(self, measured: Mapping[Subject, Measured]) -> Known:
        return complete(self._first.query, self._over(measured), self._calibrated)

    def _has_moved(self, subject: Subject, each: Measured) -> bool:
        """Whether a figure is off from what plans were last weighed by, beyond its noise."""
        base = figure_in(self.replanner.weighed or self._first, subject)
        now = each.over(base, self._settings)
        if now is None or base.value <= 0.0 or now.value <= 0.0:
            return False
        factor = max(now.value, base.value) / min(now.value, base.value) - 1.0
        noise = self._settings.moved_errors * each.relative_error
        return factor > self._settings.moved and (factor > noise or not each.hits)

    def _restart(self, subject: Subject, batches: int, number: int) -> None:
        """Forget what was before a drift, and tell of it."""
        self.figures.restart(subject, batches)
        value = self.figures.latest(subject)
        self._watch.begin(subject, value)
        self._drifted_at, self._drift_time = number, self.figures.clock.since
        what = described(subject, self._first.query)
        since = "in this batch" if batches < 2 else f"over the last {batches} batches"
        self._changes.append(Change("drift", f"{what} is {value:.3g} {since}"))

    def _told(self, measured: Mapping[Subject, Measured]) -> tuple[FigureReport, ...]:
        return tuple(
            FigureReport(
                described(subject, self._first.query),
                each.value,
                each.value * each.relative_error if each.hits else None,
                subject.unit,
                figure_in(self._predictions.known, subject).value,
            )
            for subject, each in measured.items()
        )

    # Standing

    def _stands(self, report: Report, measured: Mapping[Subject, Measured]) -> Standing:
        clock = self.figures.clock
        return Standing(
            number=report.batch,
            regime=clock.since - self._drift_time,
            since_drift=report.batch - self._drifted_at,
            largest_window=self.figures.largest_window,
            busy=1.0 if report.busy is None else report.busy,
            backlog=sum(report.backlog.values()),
            rows=_rows(report),
        )

    def _followed(self, plan: Plan, known: Known) -> Plan:
        self._running, self._predictions = plan, Predictions(plan, known)
        return plan

    def _notice(self, plan: Plan) -> None:
        """Somebody has given a plan by hand: it is followed, and no other, until told otherwise."""
        if render_plan(plan) != render_plan(self._running):
            self.replanner.mode = "off"
            self._changes.append(
                Change("order", "a plan was given by hand: it stays", render_plan(plan))
            )
        if plan is not self._running:
            self._running = plan
            self._predictions = Predictions(plan, self._predictions.known)

    def _set(self, value: str) -> str:
        mode = next((mode for mode in MODES if mode == value), None)
        if mode is None:
            raise PlanError(f"replan cannot be {value!r}", hint=f"it is one of {', '.join(MODES)}")
        self.replanner.mode = mode
        return f"replan is {mode}"

    def _load(self) -> None:
        self._watch.windows = load_windows(self._settings)


def _rows(report: Report) -> dict[str, float]:
    """The rows of each input's window, and of inner joins, by name."""
    places = {Module(name).place: each.tuples for name, each in report.modules.items()}
    return {place[0]: float(tuples) for place, tuples in places.items() if place is not None}

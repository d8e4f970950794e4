"""The supervisor of a run: it measures, notices drift, plans again, and switches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from penstock.adapt.drift.watch import Watch
from penstock.adapt.figures.figures import Figures
from penstock.adapt.figures.sizes import window_rows
from penstock.adapt.figures.subject import Subject
from penstock.adapt.helpers import Sheds, Trains
from penstock.adapt.knowledge import Knowledge
from penstock.adapt.planning.budget import Budget
from penstock.adapt.planning.expected import Load
from penstock.adapt.planning.identity import identity
from penstock.adapt.planning.planner import Planning
from penstock.adapt.predictions import Predictions
from penstock.adapt.replanner import MODES, Mode, Replanner, Standing
from penstock.adapt.settings import DEFAULT_SETTINGS, Settings
from penstock.adapt.shedding.window_fill import WindowFill
from penstock.adapt.switching.follow_up import FollowUp, told
from penstock.engine.control.order import Order
from penstock.engine.join.sampling import Draw
from penstock.engine.reports.parts import Change, FigureReport
from penstock.engine.reports.report import Report
from penstock.engine.wire.facts import Fact
from penstock.errors import PlanError, UsageError
from penstock.optimize.options import PlanOptions
from penstock.plan.drops import DropBoxes
from penstock.plan.mesh import MeshJoin
from penstock.plan.plan import Plan
from penstock.plan.text.parse import forced_plan, render_plan
from penstock.stats.known import Known


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
        shedder: Sheds | None = None,
        trainer: Trains | None = None,
        trigger: float | None = None,
        taken: frozenset[frozenset[str]] = frozenset(),
    ):
        """Of a script's query, `taken` are the inputs whose combinations others take: only plans
        that come by these are followed."""
        self._shedder, self._trainer = shedder, trainer
        self._drops: DropBoxes | None = None
        self.knowledge = Knowledge(known, settings)
        self._budget = Budget(plan.query, settings)
        self.replanner = Replanner(options, settings, planning, mode, self._budget, taken)
        self._follow_up = FollowUp(settings)
        self._fill = WindowFill(plan.query, settings)
        self._settings = settings
        self._watch = Watch(settings)
        self.running, self._identity = plan, identity(plan)
        self._trigger = trigger
        self._predictions = Predictions(plan, known, trigger)
        self._wanted: Plan | None = None
        self._changes: list[Change] = []
        self._figures: tuple[FigureReport, ...] = ()
        self._standing: Standing | None = None
        self._drifted_at, self._drift_time = 0, 0.0

    @property
    def figures(self) -> Figures:
        return self.knowledge.figures

    # What the pipeline calls

    def next_plan(self, running: Plan, number: int) -> Plan | None:
        """The plan from batch `number` on, with its drop boxes; None for the same."""
        plan = self._next(running, number)
        if self._drops is not None:
            plan, self._drops = replace(plan or running, drops=self._drops), None
            self._adopted(plan, self._predictions.known)
        return plan

    def _next(self, running: Plan, number: int) -> Plan | None:
        if self._wanted is not None:
            plan, self._wanted = replace(self._wanted, drops=running.drops), None
            return self._adopted(plan, self._predictions.known)
        if self._standing is None:
            return None
        is_shed = bool((self._drops or running.drops).kept)
        standing = replace(self._standing, number=number, is_shed=is_shed)
        mine = self._identity if running is self.running else identity(running)
        weighed, change = self.replanner.decide(mine, standing)
        if weighed is not None:
            self.knowledge.weighed = weighed.known
        if change is None:
            return None
        self._changes.append(change)
        switch = self.replanner.last
        if change.kind != "switch" or switch is None:
            return None
        self._follow_up.begin(switch, self.knowledge.recent())
        return self._adopted(replace(switch.new.plan, drops=running.drops), switch.known)

    def set_boxes(self, drops: DropBoxes) -> None:
        """Have the next batch shed so, as somebody says who sheds for several queries."""
        self._drops = drops

    def samples(self, number: int) -> Mapping[str, Draw]:
        """What batch `number` is to draw for the trainer, where plans may be chosen anew.

        Nothing before it may train: to read more columns, and send them, is a good part of a batch.
        A mesh that runs may be stale at any time.
        """
        trainer = self._trainer
        if trainer is None or self.replanner.mode == "off":
            return {}
        may_train = isinstance(self.running, MeshJoin)
        may_train = may_train or self._budget.allows_training(trainer.trainings)
        return trainer.samples() if may_train else {}

    def observe(self, report: Report, facts: Sequence[Fact], plan: Plan) -> Report:
        """Take in a batch that is final, and tell what it is measured against."""
        self._notice(plan)
        self._budget.take(report)
        if self._standing is None:
            self._drifted_at = report.batch
        knowledge = self.knowledge
        drifted = self._watch.see(knowledge.take(report, facts, plan))
        for subject, readings in drifted.items():
            self._restart(subject, readings, report.batch)
        self._standing = self._stands(report)
        self._judge(report, plan)
        if drifted and self._trainer is not None:
            self._trainer.drift(plan)
        self._train(report, facts, plan)
        standing = self._standing
        if self.replanner.wants(standing, has_drifted=bool(drifted), moves=self):
            self.replanner.ask(knowledge.question(self._trainer), plan, standing)
        self._shed(report, plan)
        return self._told(report)

    def obey(self, order: Order) -> str:
        """Do what an order about plans says."""
        match order.kind:
            case "replan":
                return self._set(order.value)
            case "shed" if self._shedder is not None:
                return self._shedder.obey(order.value)
            case "pin":
                self._wanted = forced_plan(self.running.query, order.value)
                self.replanner.mode = "off"
                self._follow_up.drop()
                return f"the plan stays from now on: {render_plan(self._wanted)}"
        raise UsageError(f"the supervisor cannot {order.kind}", hint="it takes replan and pin")

    def close(self) -> None:
        """End the planning beside the run."""
        self.replanner.planner.close()
        for helper in (self._shedder, self._trainer):
            if helper is not None:
                helper.close()

    # Drift and outcomes

    def _restart(self, subject: Subject, readings: int, number: int) -> None:
        """Forget what was before a drift, and tell of it."""
        batches = self.knowledge.restart(subject, readings)
        value = self.figures.latest(subject)
        self._watch.begin(subject)
        self._drifted_at = number
        self._drift_time = self.figures.clock.since - batches * self.figures.span
        since = "in this batch" if batches < 2 else f"over the last {batches} batches"
        what, unit = self.knowledge.name(subject), subject.unit
        self._changes.append(Change("drift", f"{what}: {value:.3g} {unit} {since}"))

    def _judge(self, report: Report, plan: Plan) -> None:
        """Hear what came of the last switch, and take it back if that is nothing."""
        self.replanner.save(report.cpu)
        self._fill.hear(report)
        if not self.figures.reader(plan).is_pure(report):
            return
        load = _load(report, self.figures.span, self._fill.all_held)
        judged = self._follow_up.hear(report.cpu, load, plan, self.knowledge.recent)
        self.knowledge.factor = self._follow_up.judge.factor or self.knowledge.factor
        if judged is None:
            return
        outcome, switch = judged
        is_back = self.replanner.mode == "on" and outcome.is_void(self._settings)
        self._changes.append(told(outcome, switch, is_back=is_back))
        if is_back:
            batches = self._settings.barred_windows * self.figures.largest_window / load.seconds
            until = report.batch + max(self._settings.barred_batches, int(batches))
            self.replanner.corrections.bar(switch.old, switch.new, outcome, until)
            self.replanner.back(report.batch + 1)
            self._wanted = switch.old.plan

    def _train(self, report: Report, facts: Sequence[Fact], plan: Plan) -> None:
        """Let the trainer hear of a batch, and tell what is stale."""
        if self._trainer is not None:
            by = self._predictions.known.training
            is_affordable = self._budget.allows_training(self._trainer.trainings)
            stale = self._trainer.observe(report.operators, facts, plan, by, is_affordable)
            self._changes += [] if stale is None else [stale]

    def _shed(self, report: Report, plan: Plan) -> None:
        """Let the shedder set the drop boxes of the next batch."""
        if self._shedder is None:
            return
        found = self._shedder.next_boxes(report, self.knowledge.known, plan)
        if found is None:
            return
        self._drops, change = found
        self._changes += [] if change is None else [change]

    def has_moved(self) -> bool:
        """Whether there is a reason to weigh plans again: a figure, or training."""
        wants_plan = self._trainer is not None and self._trainer.wants_plan
        return wants_plan or self.knowledge.has_moved()

    def has_moved_far(self) -> bool:
        """Whether a rate has moved so far that plans should not wait."""
        return self.knowledge.has_moved_far()

    # Standing

    def _stands(self, report: Report) -> Standing:
        return Standing(
            number=report.batch,
            regime=self.figures.clock.since - self._drift_time,
            since_drift=report.batch - self._drifted_at,
            largest_window=self.figures.largest_window,
            busy=1.0 if report.busy is None else report.busy,
            backlog=sum(report.backlog.values()),
            rows=window_rows(report),
        )

    def _told(self, report: Report) -> Report:
        changes, self._changes = self._changes, []
        every, stats = self._settings.told_every, report.stats
        if changes or report.batch < every or not report.batch % every:
            self._figures = self.knowledge.told(self._predictions.known)
            stats = self.knowledge.tables()
        changes = [*report.changes, *changes]
        return self._predictions.told(
            report, figures=self._figures, stats=stats, changes=tuple(changes)
        )

    def _adopted(self, plan: Plan, known: Known) -> Plan:
        before, self.running, self._identity = self._identity, plan, identity(plan)
        if self._identity != before:
            self._watch.begin_conditions()
            if self._shedder is not None:
                self._shedder.prepare(self.knowledge.known, plan)
        self._predictions = Predictions(plan, known, self._trigger)
        return plan

    def _notice(self, plan: Plan) -> None:
        """Somebody has given a plan by hand: it is followed, and no other, until told otherwise."""
        if plan is self.running:
            return
        given, text = identity(plan), render_plan(plan)
        if self._wanted is not None and identity(self._wanted) == given:
            self._wanted = None
        elif given != self._identity:
            self.replanner.mode, self._drops = "off", None
            self._follow_up.drop()
            self._changes.append(Change("order", "a plan was given by hand: it stays", text))
        self._adopted(plan, self._predictions.known)

    def _set(self, value: str) -> str:
        mode = next((mode for mode in MODES if mode == value), None)
        if mode is None:
            raise PlanError(f"replan cannot be {value!r}", hint=f"it is one of {', '.join(MODES)}")
        self.replanner.mode = mode
        return f"replan is {mode}"


def _load(report: Report, span: float, held: Mapping[str, float]) -> Load:
    """What a batch had to do."""
    kept = {alias: float(each.tuples - each.shed) for alias, each in report.inputs.items()}
    return Load(span, kept, window_rows(report), held)

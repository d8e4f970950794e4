"""The pipeline of a running query: batch after batch, each made final by its manifest."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from threading import Lock

from penstock.engine.control.order import Order
from penstock.engine.measures.collecting import uncollected
from penstock.engine.measures.measured import gathered, measured
from penstock.engine.measures.watch import Watch
from penstock.engine.reports.log import ReportLog
from penstock.engine.reports.parts import Change
from penstock.engine.reports.report import Report, report_of
from penstock.engine.run.adaptive_routing import AdaptiveRouting
from penstock.engine.run.changed.carrying import Carrying
from penstock.engine.run.commit import Committer
from penstock.engine.run.given_plan import Planned, plan_of
from penstock.engine.run.job import Runner
from penstock.engine.run.options import REBUILT_AT_ONCE
from penstock.engine.run.preflight import refuse_closed
from penstock.engine.run.supervisor import Guarded, Supervisor
from penstock.engine.run.tables.renewal import renewed_tables
from penstock.engine.run.turn import Turn, Turns
from penstock.engine.sinks.sink import Sink, Staging
from penstock.engine.sources.feed import serving_name
from penstock.engine.state import manifest as manifests
from penstock.engine.state.checkpoint import Checkpoint, is_same_query
from penstock.engine.state.manifest import Manifest
from penstock.engine.state.pin import read_pin, remove_pin, write_pin
from penstock.engine.state.plan_log import PlanLog, PlanRecord
from penstock.engine.state.silence import Silence
from penstock.engine.state.store import Store
from penstock.engine.wire.facts import Fact, UnreadableFile, of_kind, readings
from penstock.engine.wire.task_errors import raise_error
from penstock.errors import PenstockError, PlanError, UsageError
from penstock.plan.plan import Plan
from penstock.query import Query

_LOG = logging.getLogger(__name__)
# Unreadable files of a batch that are named; there may be thousands.
_NAMED = 10


class Pipeline:
    """Runs the batches of one query over one checkpoint into one sink."""

    def __init__(
        self,
        plan: Plan,
        checkpoint: Checkpoint,
        sink: Sink,
        *,
        overwrite: bool = False,
        deliver: Callable[[Manifest], None] | None = None,
        supervisor: Supervisor | None = None,
        keeps_boxes: bool = False,
        rebuilt_at_once: int = REBUILT_AT_ONCE,
        pin: str | None = None,
    ):
        """A pipeline that goes on from the newest manifest; if it `keeps_boxes`, since somebody
        sets them while it runs, with the drop boxes of the last batch. `pin` is the plan's text if
        it was pinned before."""
        self.watch = Watch()
        self._turns = Turns(checkpoint, rebuilt_at_once=rebuilt_at_once)
        self._keeps_boxes = keeps_boxes
        self._supervisor: Supervisor | None = None if supervisor is None else Guarded(supervisor)
        self._next_plan: Plan | None = None
        self._planning = Lock()
        self._notes: list[Change] = []
        self._changes: tuple[Change, ...] = ()
        self._is_closed = False
        self.sink = sink
        self.checkpoint = checkpoint
        self.log = ReportLog(checkpoint.store)
        self._committer = Committer(checkpoint, sink, deliver or (lambda manifest: None))
        self._report: Callable[[Report], None] = lambda report: None
        found = manifests.latest(checkpoint.store)
        refuse_closed(checkpoint, found)
        self.manifest = found or Manifest(batch=-1)
        carrying = None
        if checkpoint.changed is not None:
            carrying = Carrying(checkpoint, plan.query, self.manifest)
            carrying.check()
        begun = begun_batch(checkpoint.store, self.manifest.batch + 1)
        self._plans = PlanLog(checkpoint.store, begun)
        if keeps_boxes and self._plans.last is not None:
            plan = replace(plan, drops=self._plans.last.drops)
        self._turns.follow(self._ready(plan), self.manifest)
        query = self.plan.query
        known = self.manifest.streams
        self.silence = Silence(
            checkpoint.store,
            {name: known[name].parts if name in known else () for name in query.stream_sources},
        )
        try:
            self.manifest = self._committer.recover(self.manifest, query, overwrite=overwrite)
            if carrying is not None:
                self._change(replace(carrying, standing=self.manifest))
            self._begin_with(pin)
        except BaseException:
            self._committer.close()
            raise

    def _change(self, carrying: Carrying) -> None:
        """Go on with the state of the query as it was before it was changed."""
        self.manifest = carrying.state()
        self.checkpoint.adopt()
        self.note(Change("query", carrying.words()))

    @property
    def asked(self) -> Query:
        """The query."""
        return self.plan.query

    @property
    def plan(self) -> Plan:
        """The plan that batches follow."""
        return self._turns.plan

    @property
    def adaptive(self) -> AdaptiveRouting:
        """What is decided while the plan runs."""
        return self._turns.adaptive

    @property
    def staging(self) -> Staging | None:
        """Where tasks write results, if anywhere."""
        return self._committer.staging

    def on_report(self, report: Callable[[Report], None]) -> None:
        """Have a function called with the report of each batch."""
        self._report = report

    def note(self, change: Change) -> None:
        """Have the report of the next batch tell of a change."""
        self._notes.append(change)

    def obey(self, order: Order) -> str:
        """Plan or shed as an order says; the answer in words, or a PenstockError."""
        if order.kind == "pin":
            self.replan(order.value)
        if self._supervisor is not None:
            answer = self._supervisor.obey(order)
        elif order.kind != "pin":
            raise UsageError(
                "nobody watches the streams of this run",
                hint="it follows the plan that it was started with; --plan gives it another",
            )
        return self._pinned(order) or answer

    def _pinned(self, order: Order) -> str | None:
        """Have later runs follow a plan that was pinned too, until replan says otherwise."""
        if order.kind == "pin":
            write_pin(self.checkpoint.store, order.value)
            return f"the plan from batch {self.manifest.batch + 1} on"
        if order.kind == "replan":
            remove_pin(self.checkpoint.store)
        return None

    def _begin_with(self, pin: str | None) -> None:
        """Say that a plan was pinned before; where another is followed, that one is no more."""
        if pin is not None:
            self.note(Change("order", "a plan was pinned before this run: it stays", pin))
        elif read_pin(self.checkpoint.store) is not None:
            remove_pin(self.checkpoint.store)

    def close(self, error: str | None = None) -> None:
        """Let go of the checkpoint; `error` is what ended the run, if something did."""
        if self._is_closed:
            return
        self._is_closed = True
        try:
            if self._supervisor is not None:
                self._supervisor.close()
            self.log.close(error)
        finally:
            self._committer.close()
            self.checkpoint.close()

    def replan(self, given: Plan | Planned | str) -> None:
        """Have the batches from the next one on follow another plan for the same query."""
        plan = plan_of(given, self.plan)
        if not is_same_query(plan.query, self.plan.query):
            raise PlanError(
                "the new plan is for another query",
                hint="a running query may change its plan, not what it asks",
            )
        self._turns.check(plan, self.manifest)
        with self._planning:
            self._next_plan = plan

    def process(
        self,
        number: int,
        run: Runner,
        *,
        offsets: Mapping[str, int] | None = None,
        drains: bool = False,
    ) -> None:
        """Run batch `number`, or show its results again if it is final already."""
        if number <= self.manifest.batch:
            self._committer.show(self.manifest)
            return
        started = time.monotonic()
        self.watch.begin()
        run = self.watch.over(run)
        self._turn(number)
        query = self.plan.query
        silent = self.silence.decide(number, query.stream_sources.values())
        samples = {} if self._supervisor is None else self._supervisor.samples(number)
        turn = self._turns.begin(
            number,
            self.manifest,
            run,
            silent,
            staging=self.staging,
            drains=drains,
            samples=samples,
            renewed=renewed_tables(query, self.manifest.offsets, offsets or {}),
            litter=self._committer.litter,
        )
        told = run(turn.job)
        with uncollected():
            facts = gathered((*turn.told, *told) if turn.told else told)
            raise_error(facts)
            self._finish(turn, facts, offsets or {}, started)

    def _finish(
        self, turn: Turn, facts: Sequence[Fact], offsets: Mapping[str, int], started: float
    ) -> None:
        """Make a batch final whose tasks have told all, and tell of it."""
        query = self.plan.query
        self.adaptive.learn(facts)
        made = turn.made(facts, self.sink, self.checkpoint.mark)
        made = self._committer.placed(replace(made, offsets=offsets))
        self._committer.commit(made, self.watch)
        old, self.manifest = self.manifest, made
        with self.watch.phase("commit"):
            begun = (old.modules, turn.before.modules)
            self._committer.sweep(made, old.batch, begun, facts)
            self._plans.forget(before=old.batch)
        self.silence.hear(readings(facts))
        warn_of_files(facts)
        self._tell(report_of(query, old, made, time.monotonic() - started), old, facts)

    @property
    def is_due(self) -> bool:
        """Whether a batch is due although nothing came: a stream is silent that others wait for."""
        sources = tuple(self.plan.query.stream_sources.values())
        return self.silence.rises(sources, self.manifest.streams)

    def drain(self, run: Runner) -> None:
        """Answer whatever waits for the frontier, and close the checkpoint."""
        number = self.manifest.batch + 1
        self.process(number, run, offsets=self.manifest.offsets, drains=True)

    def _turn(self, number: int) -> None:
        """Follow another plan from batch `number` on, if somebody wants that: users first.

        A batch that is run again sheds as it did before.
        """
        told = self._plans.of(number)
        if told is not None:
            self._shed_again(told)
            return
        plan, reason = self._wanted(number)
        if plan is not None and plan != self.plan:
            self._turns.follow(plan, self.manifest)
        self._plans.keep(number, self.plan, reason)

    def _shed_again(self, told: PlanRecord) -> None:
        """Shed as a batch did that is run again; how it joins is up to the plan of now."""
        plan = replace(self.plan, drops=told.drops)
        if plan == self.plan:
            return
        with self._planning:
            if self._next_plan is None and not self._keeps_boxes:
                self._next_plan = self.plan
        self._turns.follow(plan, self.manifest)

    def _wanted(self, number: int) -> tuple[Plan | None, str]:
        """Another plan, and who wants it."""
        with self._planning:
            plan, self._next_plan = self._next_plan, None
        if plan is not None:
            return self._ready(plan), "it was given while the query ran"
        if self._supervisor is not None:
            plan = self._possible(self._supervisor.next_plan(self.plan, number))
        return plan, "the query started with it" if plan is None else self._why(plan)

    def _ready(self, plan: Plan) -> Plan:
        """A plan that knows whether drop boxes are set while it runs."""
        return replace(plan, drops=replace(plan.drops, may_shed=self._keeps_boxes))

    def _why(self, plan: Plan) -> str:
        """What the supervisor has said of the drop boxes, if these are what is new."""
        said = [each.reason for each in self._changes if each.kind == "shed"]
        is_said = said and plan.drops != self.plan.drops
        return "; ".join(said) if is_said else "the reports say why"

    def _possible(self, plan: Plan | None) -> Plan | None:
        """A plan of the supervisor's, if batches can follow it."""
        try:
            if plan is not None:
                self._turns.check(plan, self.manifest)
            return plan
        except PenstockError as error:
            _LOG.warning("a plan cannot be followed: %s", error)
            return None

    def _tell(self, report: Report, old: Manifest, facts: Sequence[Fact]) -> None:
        """Report a batch that is final."""
        both = (old, self.manifest)
        report = measured(report, self.plan, self._turns.text, both, facts, self.watch)
        self.watch = self.watch.next_batch()
        self._turns.sketched(facts)
        if self._supervisor is not None:
            report = self._supervisor.observe(report, facts, self.plan)
        self._changes = report.changes
        if self._notes:
            notes, self._notes = self._notes, []
            report = replace(report, changes=(*notes, *report.changes))
        self.log.tell(report)
        self._report(report)


def begun_batch(store: Store, number: int) -> int | None:
    """The batch that comes next, if an earlier run has begun it."""
    return number if store.exists(serving_name(number)) else None


def warn_of_files(facts: Iterable[Fact]) -> None:
    """Name the files that a batch had to leave out."""
    found = of_kind(facts, UnreadableFile)
    for fact in found[:_NAMED]:
        _LOG.warning("%s: dropped a file: %s", fact.source, fact.reason)
    if found[_NAMED:]:
        _LOG.warning("and %s files more", f"{len(found) - _NAMED:,}")

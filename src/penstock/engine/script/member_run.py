"""One query of a script that runs: its plan and state, and where its results go."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace

from penstock.engine.measures.measured import measured
from penstock.engine.measures.watch import Watch
from penstock.engine.reports.report import Report, report_of
from penstock.engine.run.changed.carrying import Carrying
from penstock.engine.run.commit import written_by
from penstock.engine.run.job import Runner
from penstock.engine.run.tables.renewal import Load
from penstock.engine.run.turn import Turn, Turns
from penstock.engine.script.derived_streams import heard_of
from penstock.engine.script.narrowing import narrowed, placed_by
from penstock.engine.script.shared_joins import without_inner
from penstock.engine.sinks.publisher import Publisher
from penstock.engine.state.checkpoint import Checkpoint
from penstock.engine.state.manifest import Manifest
from penstock.engine.state.plan_log import PlanLog
from penstock.engine.state.upkeep.sweeping import Sweeper
from penstock.engine.wire.facts import Fact
from penstock.errors import PenstockError
from penstock.plan.plan import Plan
from penstock.query import Query
from penstock.query.script import Member

_LOG = logging.getLogger(__name__)


class MemberRun:
    """A query of a script, from batch to batch; who runs the script makes these final."""

    def __init__(
        self,
        member: Member,
        checkpoint: Checkpoint,
        turns: Turns,
        publisher: Publisher,
        standing: Manifest,
        takers: tuple[str, ...] = (),
        *,
        keeps_boxes: bool = False,
    ):
        """A query that goes on from its own manifest; `takers` take what it finds, if any do. If it
        `keeps_boxes`, somebody sets its drop boxes while it runs: it begins with the last ones."""
        self.member = member
        self.turns = turns
        self.publisher = publisher
        self.manifest = standing
        self._checkpoint = checkpoint
        self._takers = takers
        self._keeps_boxes = keeps_boxes
        self._turn: Turn | None = None
        self._sweeper = Sweeper(checkpoint.store)

    @property
    def name(self) -> str:
        return self.member.name

    @property
    def query(self) -> Query:
        return self.turns.plan.query

    def follow(self, plan: Plan, begun: int | None) -> None:
        """Follow a plan; the batch that an earlier run has `begun` sheds as it did then."""
        self._plans = PlanLog(self._checkpoint.store, begun)
        if self._keeps_boxes and self._plans.last is not None:
            plan = replace(plan, drops=self._plans.last.drops)
        drops = replace(plan.drops, may_shed=self._keeps_boxes)
        self.turns.follow(replace(plan, drops=drops), self.manifest)
        self._plan = self.turns.plan
        self._reason = "the script started with it"

    def possible(self, plan: Plan) -> bool:
        """Whether batches can follow a plan; why not is a warning."""
        try:
            self.turns.check(plan, self.manifest)
            return True
        except PenstockError as error:
            _LOG.warning("%s: a plan cannot be followed: %s", self.name, error)
            return False

    def turn(self, number: int, wanted: Plan | None, reason: str = "") -> None:
        """Follow another plan from batch `number` on, if one is `wanted`. A batch that is run again
        sheds as it did before; how it joins is up to the plan of now."""
        told = self._plans.of(number)
        if told is not None:
            self._follow(replace(self.turns.plan, drops=told.drops))
            if self._keeps_boxes:
                self._plan = replace(self._plan, drops=told.drops)
            return
        if wanted is not None:
            self._plan, self._reason = wanted, reason
        self._follow(self._plan)
        self._plans.keep(number, self.turns.plan, self._reason)

    def _follow(self, plan: Plan) -> None:
        if plan != self.turns.plan:
            self.turns.follow(plan, self.manifest)

    def recover(self, before: Manifest | None, *, overwrite: bool) -> None:
        """After a crash: show what is final, and remove what is not; `before` is what the manifest
        before the newest says of this query, if it does."""
        self.manifest = self.publisher.recover(self.manifest, self.query, overwrite=overwrite)
        self._sweeper.begin(self.manifest, before)
        if self._checkpoint.store.fence is None:  # Else behind the first commit.
            self.publisher.clean()
        if self._takers != self.manifest.takers:
            store, layout = self._checkpoint.store, self.turns.layout
            standing = narrowed(store, self.manifest, layout, self._checkpoint.partitions)
            self.manifest = without_inner(standing)

    def changed(self) -> tuple[str, ...]:
        """Go on with the state of the query as it was, if it was changed; what is to be said."""
        if self._checkpoint.changed is None:
            return ()
        carrying = Carrying(self._checkpoint, self.member.query, self.manifest)
        self.manifest = carrying.state()
        self._checkpoint.adopt()
        return (carrying.words(),)

    def begin(
        self,
        number: int,
        run: Runner,
        silent: frozenset[str],
        drains: bool,
        times: Mapping[str, int | None],
        renewed: frozenset[str] = frozenset(),
        load: Load | None = None,
    ) -> Turn:
        """Begin a batch; `times` say how far the queries have come that this one reads, `load`
        reads tables that are `renewed`."""
        sources = self.query.sources
        mine = frozenset(n for n in silent if n in sources or n.partition("[")[0] in sources)
        self._turn = self.turns.begin(
            number,
            self.manifest,
            run,
            mine,
            staging=self.publisher.staging,
            drains=drains,
            heard=heard_of(self.query, times),
            renewed=renewed & sources.keys(),
            load=load,
        )
        return self._turn

    def made(self, facts: Sequence[Fact]) -> Manifest:
        """The manifest after the batch, by what its tasks have told."""
        assert self._turn is not None, "the batch has begun"
        self.turns.adaptive.learn(facts)
        made = self._turn.made(facts, self.publisher.sink, self._checkpoint.mark)
        parts = tuple(sorted(tuple(sorted(part)) for part in self.turns.layout.parts))
        made = replace(made, takers=self._takers, taken_parts=parts)
        if self._takers:
            layout = self.turns.layout
            made = replace(made, placed_by=placed_by(layout), unknown_keys=layout.unknown_keys)
        return self.publisher.placed(made)

    def settle(self, made: Manifest, facts: Sequence[Fact]) -> None:
        """Go on from a batch that is final: what it made unreachable is deleted."""
        assert self._turn is not None, "the batch has begun"
        begun = (self.manifest.modules, self._turn.before.modules)
        self._sweeper.sweep(made, begun, written_by(facts))
        self._plans.forget(before=self.manifest.batch)
        self.publisher.clean()
        self.manifest = made

    def report(self, old: Manifest, facts: Sequence[Fact], watch: Watch) -> Report:
        """What the last batch did for this query, by facts that are gathered; its seconds are those
        of its own stages."""
        own = _own(watch, facts)
        report = report_of(self.query, old, self.manifest, sum(own.phases.values()))
        both = (old, self.manifest)
        self.turns.sketched(facts)
        return measured(report, self.turns.plan, self.turns.text, both, facts, own)


def _own(watch: Watch, facts: Sequence[Fact]) -> Watch:
    """The watch over what one query did in a batch, by the times that its tasks took."""
    own = Watch(watch.is_parallel, oldest=watch.oldest, shown=watch.shown, reported=watch.reported)
    own.over(lambda job: facts)(None)
    own.phases.pop("spark", None)
    return own

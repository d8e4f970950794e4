"""Turns: what one query does in a batch, whoever makes that batch final."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from penstock.engine.join.key_sketches import KeyShares
from penstock.engine.join.sampling import Draw
from penstock.engine.measures.sketches import next_shares
from penstock.engine.places.place import Place
from penstock.engine.results.columns import ResultColumns, write_columns
from penstock.engine.routes.routing import routing_of
from penstock.engine.rows.layout import Layout
from penstock.engine.run.adaptive_routing import AdaptiveRouting
from penstock.engine.run.advance import advanced
from penstock.engine.run.batch_jobs import BatchJobs, layout_of
from penstock.engine.run.inner_state import with_inner_state
from penstock.engine.run.job import Job, Runner
from penstock.engine.run.options import REBUILT_AT_ONCE
from penstock.engine.run.tables.renewal import Load, with_new_versions
from penstock.engine.sinks.sink import Sink, Staging
from penstock.engine.sources.derived_rows import Handover
from penstock.engine.state.checkpoint import Checkpoint
from penstock.engine.state.frontier import Reading
from penstock.engine.state.manifest import Manifest
from penstock.engine.state.modules import SHOWN
from penstock.engine.state.upkeep.litter import Litter
from penstock.engine.wire.facts import Fact
from penstock.errors import PlanError
from penstock.plan.plan import Plan
from penstock.plan.sharing.offers import offers
from penstock.plan.text.parse import render_plan


@dataclass(frozen=True)
class Turn:
    """A batch of one query that has begun: its jobs, and the state before it, with all that its
    plan needs of inner state. `silent` sources are not waited for; if it `drains`, none is."""

    jobs: BatchJobs
    before: Manifest
    silent: frozenset[str]
    drains: bool
    told: tuple[Fact, ...] = ()
    """What was told by the job that has read new versions of tables."""

    @property
    def job(self) -> Job:
        """The job that reads and joins."""
        return self.jobs.job(self.before, self.silent, self.drains)

    def made(self, facts: Sequence[Fact], sink: Sink, mark: str) -> Manifest:
        """The manifest after the batch, by what its tasks have told."""
        made = advanced(self.jobs, self.before, facts, self.silent, sink=sink, mark=mark)
        if not self.drains:
            return made
        # Nothing comes any more that could meet what is kept; what a view shows stays so.
        shown = {m: chunks for m, chunks in made.modules.items() if m == SHOWN}
        return replace(made, modules=shown, inner=(), gaps={}, is_closed=True)


@dataclass(frozen=True)
class TakenJoin:
    """What others take of a query's combinations: the inputs whose times they must know, the sets
    of some inputs whose combinations some of them take, and whether views among them are estimated
    from what drop boxes leave."""

    timed: frozenset[str]
    parts: frozenset[frozenset[str]]
    has_views: bool = False


class Turns:
    """The batches of one query: the plan that they follow, and what was learned on the way.

    Of a script, `shared` is the folder of what its queries read, and `handover` is where this one
    leaves its results for others, if it does. Where others take the combinations that it finds,
    `taken` says what of them.
    """

    plan: Plan
    layout: Layout
    adaptive: AdaptiveRouting
    text: str
    """The plan as text."""

    def __init__(
        self,
        checkpoint: Checkpoint,
        *,
        rebuilt_at_once: int = REBUILT_AT_ONCE,
        shared: Place | None = None,
        handover: Handover | None = None,
        taken: TakenJoin | None = None,
    ):
        self._checkpoint = checkpoint
        self._rebuilt_at_once = rebuilt_at_once
        self._shared = shared
        self._handover = handover
        self._taken = taken
        self._key_shares: KeyShares = {}
        self._columns: ResultColumns | None = None

    def check(self, plan: Plan, standing: Manifest) -> None:
        """Refuse a plan that batches cannot follow, or that would not find what others take."""
        routing_of(plan, self._layout(plan, standing))
        if self._taken is not None and not offers(plan, self._taken.parts):
            raise PlanError(
                f"the plan does not come by all that others take: {render_plan(plan)}",
                hint="leave the plan to the planner",
            )

    def follow(self, plan: Plan, standing: Manifest) -> None:
        """Follow a plan from now on; one that batches cannot follow is refused."""
        plan = replace(plan, query=self._checkpoint.placed(plan.query))
        layout = self._layout(plan, standing)
        adaptive = AdaptiveRouting(plan, layout)
        adaptive.routing(standing.batch + 1)
        self.plan, self.layout, self.adaptive = plan, layout, adaptive
        self._say_columns(ResultColumns.of(layout.shown))
        self.text = render_plan(plan)

    def begin(
        self,
        number: int,
        standing: Manifest,
        run: Runner,
        silent: frozenset[str],
        *,
        staging: Staging | None,
        drains: bool = False,
        samples: Mapping[str, Draw] | None = None,
        heard: tuple[Reading, ...] = (),
        renewed: frozenset[str] = frozenset(),
        load: Load | None = None,
        litter: Litter | None = None,
    ) -> Turn:
        """Begin batch `number` over the state of the one before: inner state is seen to, and tables
        that are `renewed` have their new versions, which `load` reads (as a runner, if it is not
        given). Tasks may delete `litter`."""
        routing = self.adaptive.routing(number)
        jobs = BatchJobs(
            number=number,
            plan=self.plan,
            layout=self.layout,
            routing=routing,
            screeners=self.adaptive.screeners(number, routing),
            partitions=self._checkpoint.partitions,
            root=self._checkpoint.store.root,
            staging=staging,
            key_shares=self._key_shares,
            samples=samples or {},
            shared=self._shared,
            handover=self._handover,
            heard=heard,
            renewed=renewed,
            litter=litter,
        )
        standing, told = with_new_versions(jobs, standing, load or run)
        jobs, before = with_inner_state(jobs, standing, run, self._rebuilt_at_once)
        return Turn(jobs, before, silent, drains, told)

    def sketched(self, facts: Sequence[Fact]) -> None:
        """Have the next batch sketch as many keys as this one's gathered facts suggest."""
        self._key_shares = next_shares(self._key_shares, facts)

    def _layout(self, plan: Plan, standing: Manifest) -> Layout:
        if self._taken is None:
            return layout_of(plan, standing, tells_times=self._handover is not None)
        # Keys may go with those who join by them: earlier parts say nothing of those that are left.
        before = () if standing.placed_by else map(frozenset, standing.taken_parts)
        sampled = {a for a, x in plan.drops.kept if x < 1.0} if self._taken.has_views else ()
        return layout_of(
            plan,
            standing,
            tells_times=True,
            timed=self._taken.timed,
            parts=self._taken.parts.union(before),
            unknown=frozenset(standing.unknown_keys),
            sampled=frozenset(sampled),
        )

    def _say_columns(self, columns: ResultColumns) -> None:
        """Have readers of the checkpoint know the columns of its results."""
        if columns != self._columns:
            write_columns(self._checkpoint.store, columns)
            self._columns = columns

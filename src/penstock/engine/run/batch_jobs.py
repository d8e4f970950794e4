"""The jobs of a batch: the one that reads and joins, and one that rebuilds missing state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from penstock.engine.join.batch import Batch
from penstock.engine.join.expiry import floors_of
from penstock.engine.join.key_sketches import KeyShares
from penstock.engine.join.pack import Packing
from penstock.engine.join.rhythm import sketches_keys
from penstock.engine.join.sampling import Draw
from penstock.engine.join.sequencer import Sequencer
from penstock.engine.places.place import Place
from penstock.engine.routes.multiway_routes import Routing
from penstock.engine.routes.routing import routing_of
from penstock.engine.routes.screening import Screener
from penstock.engine.rows.layout import Layout
from penstock.engine.run.job import Job
from penstock.engine.sinks.sink import Staging
from penstock.engine.sources.derived_rows import Handover
from penstock.engine.state.frontier import Reading, frontier_of, late_below
from penstock.engine.state.manifest import Manifest
from penstock.engine.state.sealing import Sealing
from penstock.engine.state.tick_span import DueTicks
from penstock.engine.state.upkeep.litter import Litter
from penstock.engine.views.view_step import ViewStep
from penstock.errors import PlanError
from penstock.plan.default_plan import default_plan
from penstock.plan.plan import Plan
from penstock.plan.sampling import sampled_by


def layout_of(
    plan: Plan,
    standing: Manifest,
    *,
    tells_times: bool = False,
    timed: frozenset[str] = frozenset(),
    parts: frozenset[frozenset[str]] = frozenset(),
    unknown: frozenset[tuple[str, str]] = frozenset(),
    sampled: frozenset[str] = frozenset(),
) -> Layout:
    """The layout of a plan's tuples over the state that earlier plans have left.

    Inputs that were once folded stay weighted: their tuples are not to be had again. And those that
    were once shed stay sampled: some of their tuples stand for others. Results that once had
    intervals keep these columns. Beside the inputs that the plan's own view samples there are those
    that are `sampled` for views of others.
    """
    if plan.early and plan.query.view is None:
        raise PlanError(
            f"the plan aggregates {', '.join(plan.early)} early, but the query does not",
            hint="only queries with GROUP BY or aggregates have early aggregation",
        )
    view = plan.query.view
    if view is not None and view.top is not None and (plan.drops.kept or plan.drops.may_shed):
        raise PlanError(
            "the plan sheds, but the query shows the first rows of a view",
            hint="do not shed: others would seem to be the first",
        )
    weighted = frozenset(standing.weighted).union(plan.early)
    sampled = sampled.union(standing.sampled, sampled_by(plan))
    is_shed = bool(sampled) or plan.drops.may_shed or standing.has_ends
    is_estimate = is_shed and plan.query.view is not None and plan.drops.estimates
    early = frozenset(plan.early)
    return Layout(
        plan.query, weighted, early, sampled, is_estimate, tells_times, timed, parts, unknown
    )


@dataclass(frozen=True)
class BatchJobs:
    """Makes the jobs of one batch from its plan and the manifest before it."""

    number: int
    """Number of the batch."""

    plan: Plan
    """The plan that it follows."""

    layout: Layout
    """Where the plan's tuples lie."""

    routing: Routing
    """The routes of the plan, as they were drawn for the batch."""

    screeners: Mapping[str, Screener]
    """Who takes the new tuples of an input through its filters, by alias."""

    partitions: int
    """Partitions of each space."""

    root: Place
    """The checkpoint's folder."""

    staging: Staging | None
    """Where tasks write results, if anywhere."""

    key_shares: KeyShares = field(default_factory=dict)
    """How large a part of the keys of each input is sketched."""

    samples: Mapping[str, Draw] = field(default_factory=dict)
    """Samples that are to be drawn of new tuples, by alias."""

    shared: Place | None = None
    """The folder of what all queries of a script read, if it is one of several."""

    handover: Handover | None = None
    """Where results are left for other queries, if they are."""

    heard: tuple[Reading, ...] = ()
    """What is known of the streams before anybody reads."""

    renewed: frozenset[str] = frozenset()
    """The tables that have another version from this batch on; a job of their own reads them."""

    litter: Litter | None = None
    """Chunks of earlier batches that tasks may delete."""

    def job(self, before: Manifest, silent: frozenset[str], drains: bool) -> Job:
        """The job of the batch; `silent` sources are not waited for, `drains` waits for none."""
        streams, sources = before.streams, self.plan.query.stream_sources
        # What another query gives is never late: it knows how far it has come.
        declared = {name: s for name, s in sources.items() if s.format != "derived"}
        batch = self._batch(before, silent, drains)
        packing = Packing(
            self.layout,
            self.routing,
            self.partitions,
            {name: late_below(source, streams.get(name)) for name, source in declared.items()},
            self.plan.drops,
            batch.open_tick,
            self.screeners,
            self.shared or self.root,
            self.key_shares if sketches_keys(self.number) else None,
            self.samples,
            self.heard,
            self.renewed,
        )
        sequencer = None
        if self.plan.query.is_sequenced:
            sequencer = Sequencer(batch, before.sequence, streams, silent, drains)
        if batch.due is None:
            return Job(batch, packing, sequencer)
        return Job(batch, packing, sequencer, ViewStep(batch, batch.due))

    def renewing(self, before: Manifest) -> Job:
        """A job that reads the new versions of tables, and nothing else."""
        job = self.job(before, frozenset(), False)
        assert job.packing is not None, "it reads"
        others = self.plan.query.sources.keys() - self.renewed
        packing = replace(job.packing, leaves=frozenset(others), heard=(), samples={})
        return replace(job, packing=packing)

    def rebuilding(self, before: Manifest, lacks_intervals: bool) -> Job:
        """A job that makes inner state, with all results where intervals are to be made too."""
        plan = self.routing
        if plan.rusters:
            # What is kept has no rusters any more; whatever the route, the results are the same.
            plan = routing_of(default_plan(self.plan.query), self.layout)
        routes = tuple(r for r in plan.routes if r.makes or lacks_intervals)
        batch = replace(self._batch(before), routing=Routing(routes, plan.inners), rebuilds=True)
        if batch.due is None or not lacks_intervals:
            return Job(batch)
        return Job(batch, view=ViewStep(batch, batch.due))

    def _batch(
        self, before: Manifest, silent: frozenset[str] = frozenset(), drains: bool = False
    ) -> Batch:
        return Batch(
            number=self.number,
            layout=self.layout,
            routing=self.routing,
            partitions=self.partitions,
            root=self.root,
            state=before.modules,
            floors=floors_of(self.plan.query, self.routing.inners, before.streams),
            staging=self.staging,
            handover=self.handover,
            renewed=before.renewed,
            due=self._due(before, silent, drains),
            shed_times=before.shed_times,
            sealing=self._sealing(before, silent, drains),
            litter=self.litter,
        )

    def _sealing(self, before: Manifest, silent: frozenset[str], drains: bool) -> Sealing | None:
        """How far the inputs of an outer join are before the batch, if there is one."""
        query = self.plan.query
        return None if query.outer is None else Sealing(query, before.streams, silent, drains)

    def _due(self, before: Manifest, silent: frozenset[str], drains: bool) -> DueTicks | None:
        """The ticks of a view that the batch may evaluate, if there is one."""
        ticks, sources = self.layout.ticks, tuple(self.plan.query.stream_sources.values())
        if ticks is None:
            return None
        open_tick = ticks.next_after(frontier_of(sources, before.streams))
        return DueTicks(ticks, sources, before.streams, silent, drains, open_tick)

"""The inner state of a plan: kept from the batch before, filled by and by, or rebuilt at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from penstock.duration import MICROS
from penstock.engine.join.expiry import modules_after
from penstock.engine.join.filling import gaps_of, is_endless, meanwhile, micros_left, text_of
from penstock.engine.routes.multiway_routes import Routing
from penstock.engine.routes.routing import routing_of
from penstock.engine.rows.layout import Layout
from penstock.engine.run.batch_jobs import BatchJobs, layout_of
from penstock.engine.run.job import Runner
from penstock.engine.run.options import REBUILT_AT_ONCE
from penstock.engine.state.gaps import Gaps
from penstock.engine.state.manifest import Manifest
from penstock.engine.state.modules import INTERVALS, Module
from penstock.engine.state.store import Store
from penstock.engine.wire.facts import ChangesTold, Fact, PassingChunk, RowEnds, SortedFacts
from penstock.engine.wire.task_errors import raise_error
from penstock.plan.plan import Plan
from penstock.query import RowsWindow


@dataclass(frozen=True)
class SwitchCost:
    """How a plan comes to the inner state that it needs, and at which cost.

    It has it (`free`), lets it `fill` itself while another plan gives the results, or has to
    `rebuild` it, or the intervals of a view, before its first batch.
    """

    kind: Literal["free", "fill", "rebuild"]

    rows: int = 0
    """The rows in the windows that a rebuild joins, and those of the inner results that are there
    now: about as many must be made."""

    seconds: float = 0.0
    """The seconds of event time until what fills itself is whole."""


@dataclass(frozen=True)
class _Switch:
    """A batch's way to its inner state: its routes, which plan gives results, what is lacking."""

    cost: SwitchCost
    routing: Routing
    results_by: str
    gaps: Mapping[Module, Gaps] = field(default_factory=dict)


def switch_cost(
    plan: Plan, standing: Manifest, rebuilt_at_once: int = REBUILT_AT_ONCE
) -> SwitchCost:
    """What it takes to follow a plan from the next batch on; the plan's query is the running one's,
    the manifest that of the last batch."""
    layout = layout_of(plan, standing)
    return _switch(plan, layout, routing_of(plan, layout), standing, rebuilt_at_once).cost


def with_inner_state(
    jobs: BatchJobs, standing: Manifest, run: Runner, rebuilt_at_once: int = REBUILT_AT_ONCE
) -> tuple[BatchJobs, Manifest]:
    """The jobs of a batch and the state before it, with exactly the inner state that they need,
    and with the interval table of a view that is not recomputed.

    What is missing is rebuilt from the inputs' windows, or left to fill itself: then the jobs take
    the results from the routes of another plan. Both become final with the batch.
    """
    switch = _switch(jobs.plan, jobs.layout, jobs.routing, standing, rebuilt_at_once)
    jobs = replace(jobs, routing=switch.routing)
    wanted = _modules(jobs.layout, switch.routing)
    kept = set(wanted) & _whole(jobs.layout, standing) if switch.cost.kind != "rebuild" else set()
    useless = set(standing.inner) - kept
    useless |= {INTERVALS} if jobs.routing.is_recomputed else set()
    before = replace(
        standing,
        modules={m: p for m, p in standing.modules.items() if m not in useless},
        inner=wanted,
        gaps=switch.gaps,
        results_by=switch.results_by,
    )
    if switch.cost.kind != "rebuild" or not before.modules:
        return jobs, before
    return jobs, _rebuilt(jobs, before, run, _lacks_intervals(jobs.routing, standing))


def _rebuilt(jobs: BatchJobs, before: Manifest, run: Runner, lacks_intervals: bool) -> Manifest:
    facts = run(jobs.rebuilding(before, lacks_intervals))
    raise_error(facts)
    Store(jobs.root).remove(passing_chunks(facts))
    return replace(before, modules=modules_after(before.modules, facts, {}))


def _switch(
    plan: Plan, layout: Layout, routing: Routing, standing: Manifest, rebuilt_at_once: int
) -> _Switch:
    query, wanted = layout.query, _modules(layout, routing)
    whole = _whole(layout, standing)
    gaps = gaps_of(query, routing, standing, whole) if wanted else {}
    rows = _window_rows(layout, routing, standing) + _inner_rows(standing)
    if _lacks_intervals(routing, standing):
        return _Switch(SwitchCost("rebuild", rows), routing, text_of(plan))
    if not gaps:
        return _Switch(SwitchCost("free"), routing, text_of(plan))
    if rows <= rebuilt_at_once or is_endless(gaps):
        return _Switch(SwitchCost("rebuild", rows), routing, text_of(plan))
    seconds = micros_left(query, gaps, standing.streams) / MICROS
    other, both = meanwhile(layout, routing, standing, whole)
    left = gaps_of(query, both, standing, whole)
    return _Switch(SwitchCost("fill", rows, seconds), both, text_of(other), left)


def _modules(layout: Layout, routing: Routing) -> tuple[Module, ...]:
    """The modules of inner joins; a snapshot makes their results and keeps none."""
    is_snapshot = layout.query.view is not None and layout.query.is_sequenced
    return () if is_snapshot else tuple(inner.module for inner in routing.inners)


def _whole(layout: Layout, standing: Manifest) -> set[Module]:
    """The inner modules that are there; none if their rows lack what the plan gives new ones."""
    is_same = layout.weighted == set(standing.weighted) and layout.sampled == set(standing.sampled)
    return set(standing.inner) if is_same else set()


def _lacks_intervals(routing: Routing, standing: Manifest) -> bool:
    return standing.is_recomputed and not routing.is_recomputed


def _window_rows(layout: Layout, routing: Routing, standing: Manifest) -> int:
    """The rows in the windows of all members of inner joins."""
    members = {alias for inner in routing.inners for alias in inner.members}
    return sum(
        chunk.rows
        for alias in members
        for chunks in standing.modules.get(_home(layout, alias), {}).values()
        for chunk in chunks
    )


def _inner_rows(standing: Manifest) -> int:
    """The rows of inner results: they may be far more than those in the windows."""
    kept = [standing.modules.get(module, {}) for module in standing.inner]
    return sum(chunk.rows for parts in kept for chunks in parts.values() for chunk in chunks)


def _home(layout: Layout, alias: str) -> Module:
    """The module in which all of an input's window is once."""
    is_rows = isinstance(layout.query.input(alias).window, RowsWindow)
    return Module.ring(alias) if is_rows else Module.kept(alias, layout.spaces[alias][0])


def passing_chunks(facts: Iterable[Fact]) -> list[str]:
    """The chunks that only the rounds of one batch have read."""
    told = SortedFacts.of(facts)
    found: list[PassingChunk | RowEnds | ChangesTold] = [
        *told.of_kind(PassingChunk),
        *told.of_kind(RowEnds),
        *told.of_kind(ChangesTold),
    ]
    return list({fact.chunk.name for fact in found if fact.chunk is not None})

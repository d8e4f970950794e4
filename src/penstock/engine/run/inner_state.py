"""The inner state of a plan: kept from the batch before, or rebuilt from the inputs' windows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from penstock.engine.join.expiry import modules_after
from penstock.engine.run.batch_jobs import BatchJobs
from penstock.engine.run.job import Runner
from penstock.engine.state.manifest import Manifest
from penstock.engine.state.modules import INTERVALS
from penstock.engine.state.store import Store
from penstock.engine.wire.facts import Fact, PassingChunk, RowEnds
from penstock.engine.wire.task_errors import raise_error


def with_inner_state(jobs: BatchJobs, standing: Manifest, run: Runner) -> Manifest:
    """The state before a batch, with exactly the inner state that the plan needs, and with the
    interval table of a view that is not recomputed.

    What is missing is rebuilt from the inputs' windows. It becomes final with the batch.
    """
    query, layout, routing = jobs.plan.query, jobs.layout, jobs.routing
    is_snapshot = query.view is not None and query.is_sequenced
    wanted = () if is_snapshot else tuple(inner.module for inner in routing.inners)
    there = set(standing.inner)
    lacks_intervals = standing.is_recomputed and not routing.is_recomputed
    is_there = (
        there.issuperset(wanted)
        and layout.weighted == set(standing.weighted)
        and layout.sampled == set(standing.sampled)
        and not lacks_intervals
    )
    useless = there.difference(wanted if is_there else ())
    useless |= {INTERVALS} if routing.is_recomputed else set()
    modules = {m: p for m, p in standing.modules.items() if m not in useless}
    before = replace(standing, modules=modules, inner=wanted)
    if is_there or not modules or not (wanted or lacks_intervals):
        return before
    facts = run(jobs.rebuilding(before, lacks_intervals))
    raise_error(facts)
    Store(jobs.root).remove(passing_chunks(facts))
    return replace(before, modules=modules_after(modules, facts, {}))


def passing_chunks(facts: Iterable[Fact]) -> list[str]:
    """The chunks that only the rounds of one batch have read."""
    return list({f.chunk.name for f in facts if isinstance(f, PassingChunk | RowEnds)})

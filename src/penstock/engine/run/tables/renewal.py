"""Renewal: the new version of a table takes the place of the old one before a batch joins."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from penstock.engine.join.expiry import modules_after
from penstock.engine.run.batch_jobs import BatchJobs
from penstock.engine.run.inner_state import passing_chunks
from penstock.engine.run.job import Job
from penstock.engine.state.manifest import Manifest
from penstock.engine.state.modules import INTERVALS, Module
from penstock.engine.state.store import Store
from penstock.engine.wire.facts import (
    Fact,
    Filtered,
    KeptRows,
    Numbered,
    UnreadableFile,
    of_kind,
    readings,
)
from penstock.engine.wire.task_errors import raise_error
from penstock.query import Query

Load = Callable[[Job], Sequence[Fact]]
"""Runs the job that reads new versions, and gives the facts that it left."""


def renewed_tables(
    query: Query, done: Mapping[str, int], after: Mapping[str, int]
) -> frozenset[str]:
    """The tables that have another version after a batch than before it, by their versions."""
    tables = (source.name for source in query.sources.values() if source.refresh is not None)
    return frozenset(name for name in tables if after.get(name, 0) > done.get(name, 0))


def with_new_versions(
    jobs: BatchJobs, standing: Manifest, load: Load
) -> tuple[Manifest, tuple[Fact, ...]]:
    """The state before a batch with the new versions of tables, and what reading them has told.

    Whatever was made with the old versions is gone: inner state, and the intervals of a view, are
    then rebuilt like those of another plan. All of it becomes final with the batch.
    """
    if not jobs.renewed:
        return standing, ()
    before = _without(jobs, standing)
    facts = load(jobs.renewing(before))
    raise_error(facts)
    Store(jobs.root).remove(passing_chunks(facts))
    numbered = sum(fact.count for fact in of_kind(facts, Numbered))
    after = replace(
        before,
        modules=modules_after(before.modules, facts, {}),
        sequence=before.sequence + numbered,
        renewed=jobs.number,
    )
    kept = (KeptRows, UnreadableFile, Filtered)
    return after, (*readings(facts), *(fact for fact in facts if isinstance(fact, kept)))


def _without(jobs: BatchJobs, standing: Manifest) -> Manifest:
    """The state without the tables that are renewed, and without what was made with them."""
    query = jobs.plan.query
    aliases = [item.alias for item in query.inputs if item.source.name in jobs.renewed]
    keeps_intervals = query.view is not None and not query.is_sequenced
    gone = {*standing.inner, *_modules(jobs, aliases), *([INTERVALS] if keeps_intervals else ())}
    return replace(
        standing,
        modules={m: parts for m, parts in standing.modules.items() if m not in gone},
        inner=(),
        gaps={},
        is_recomputed=standing.is_recomputed or keeps_intervals,
    )


def _modules(jobs: BatchJobs, aliases: Collection[str]) -> set[Module]:
    """Where the rows of some tables are kept, or wait for the frontier."""
    spaces = jobs.layout.spaces
    kept = {Module.kept(alias, space) for alias in aliases for space in spaces[alias]}
    return kept | {Module.pending(alias) for alias in aliases}

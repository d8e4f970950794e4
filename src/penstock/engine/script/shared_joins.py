"""Shared joins: one query of a script finds the combinations of several, which take their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from penstock.engine.join.batch import Taker
from penstock.engine.places.place import Place
from penstock.engine.run.job import Job
from penstock.engine.run.turn import TakenJoin
from penstock.engine.state import manifest as manifests
from penstock.engine.state.checkpoint import is_claimed
from penstock.engine.state.manifest import Manifest
from penstock.engine.state.store import Store
from penstock.engine.views.taking import differing
from penstock.query import Query
from penstock.query.query import Input
from penstock.query.script import NOTHING_STANDS, Member, Script, Standing
from penstock.query.window import UNBOUNDED


def taken_join(script: Script, maker: Member) -> TakenJoin | None:
    """What others take of a member's combinations; None if nobody does."""
    pairs = [(each, each.takes) for each in script.takers(maker.name) if each.takes is not None]
    if not pairs:
        return None
    timed = (
        taking.called(alias)
        for taker, taking in pairs
        for alias in differing(taker.query, maker.query, dict(taking.aliases))
    )
    members = {frozenset(alias for _, alias in taking.aliases) for _, taking in pairs}
    parts = frozenset(members - {frozenset(maker.query.aliases)})
    has_views = any(taker.query.view is not None for taker, _ in pairs)
    return TakenJoin(frozenset(timed), parts, has_views)


def with_takers(level: Sequence[Member], jobs: Mapping[str, Job]) -> dict[str, Job]:
    """The jobs of queries that run together, in their order: who finds combinations for others
    hands them out, and those who take them send no tuples."""
    takers = [Taker(n, jobs[m.name].batch, m.takes) for n, m in enumerate(level) if m.takes]
    made = {}
    for member in level:
        job, mine = jobs[member.name], [t for t in takers if t.taking.maker == member.name]
        if mine:
            job = replace(job, batch=replace(job.batch, takers=tuple(mine)))
        if member.takes is not None and job.packing is not None:
            job = replace(job, packing=replace(job.packing, sends=False))
        made[member.name] = job
    return made


def lasting_part(maker: Query) -> Query:
    """What stays the same of a shared join, whoever shares it: its inputs and equalities.

    Windows may become shorter and filters stricter when a query leaves: what is kept then has more
    in it than is needed, and those who take combinations look at each anyway.
    """
    inputs = tuple(_lasting_input(item) for item in maker.inputs)
    return replace(maker, inputs=inputs, outputs=(), filters=(), thetas=())


def _lasting_input(item: Input) -> Input:
    source = replace(item.source, fields=item.source.whole_fields)
    return replace(item, source=source, window=None if item.is_table else UNBOUNDED)


def without_inner(standing: Manifest) -> Manifest:
    """The state without inner results, which are made again from the windows: those of a join that
    others share now may have lives by windows that nobody has any more."""
    kept = {m: chunks for m, chunks in standing.modules.items() if m not in standing.inner}
    return replace(standing, modules=kept, inner=(), gaps={}, results_by="")


def standing_in(checkpoint: str | Path) -> Standing:
    """Which queries a script's checkpoint has begun, and who shares a join there."""
    store = Store(Place.of(checkpoint))
    found = manifests.newest(store, 1) if is_claimed(store) else []
    if not found:
        return NOTHING_STANDS
    members = found[0].members
    makers = {name: each.takers for name, each in members.items() if each.takers}
    return Standing(frozenset(members), makers)

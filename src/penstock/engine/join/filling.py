"""Filling: whether inner state is there, what it lacks, and which plan gives results until then."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np

from penstock.engine.join.expiry import Streams, coming_to
from penstock.engine.routes.filling_routes import filling_routing, makers, sides
from penstock.engine.routes.multiway_routes import Inner, Routing
from penstock.engine.routes.routing import routing_of
from penstock.engine.rows.layout import Layout
from penstock.engine.rows.lifetimes import FOREVER, alive_until
from penstock.engine.state.gaps import Gap, Gaps
from penstock.engine.state.manifest import Manifest
from penstock.engine.state.modules import Module
from penstock.errors import PlanError
from penstock.plan.default_plan import default_plan
from penstock.plan.plan import Plan
from penstock.plan.representative import representative
from penstock.plan.text.parse import forced_plan, render_plan
from penstock.plan.tree import TreeJoin
from penstock.query import Query


def gaps_of(
    query: Query, routing: Routing, standing: Manifest, whole: Collection[Module]
) -> dict[Module, Gaps]:
    """What the inner modules of a routing lack before the next batch, those that lack anything.

    Of the modules that are there, `whole` but for the gaps that they had; others begin now. Results
    that are made from others lack what these do.
    """
    gaps: dict[str, Gaps] = {}
    for inner in routing.inners:
        below = [gap for side in sides(makers(routing, inner)) for gap in gaps.get(side, ())]
        is_there = inner.module in whole
        own = standing.gaps.get(inner.module, ()) if is_there else (_begun(query, inner, standing),)
        gaps[inner.name] = tuple(
            gap for gap in dict.fromkeys((*own, *below)) if _is_open(query, gap, standing.streams)
        )
    return {inner.module: gaps[inner.name] for inner in routing.inners if gaps[inner.name]}


def _begun(query: Query, inner: Inner, standing: Manifest) -> Gap:
    """The gap of an inner join whose results are made from now on."""
    deaths = (_last_alive(query, alias, standing.streams) for alias in inner.members)
    return Gap(inner.members, min(deaths))


def _last_alive(query: Query, alias: str, streams: Streams) -> int:
    """The last event time at which a tuple of an input is alive that has come by now."""
    item = query.input(alias)
    if item.is_table:
        return FOREVER
    newest = streams[item.source.name].highest if item.source.name in streams else None
    if newest is None:
        return -FOREVER
    return min(int(alive_until(item.window, np.array([newest]))[0]), FOREVER)


def _is_open(query: Query, gap: Gap, streams: Streams) -> bool:
    has_members = gap.until > -FOREVER
    return has_members and coming_to(query, gap.members, streams) <= gap.until


def is_endless(gaps: Mapping[Module, Gaps]) -> bool:
    """Whether something stays missing, because no window of time ends the lives of its members."""
    return any(gap.until >= FOREVER for each in gaps.values() for gap in each)


def micros_left(query: Query, gaps: Mapping[Module, Gaps], streams: Streams) -> int:
    """The event time until all gaps are closed, microseconds."""
    found = {gap for each in gaps.values() for gap in each}
    left = (gap.until - coming_to(query, gap.members, streams) for gap in found)
    return max(left, default=0)


def text_of(plan: Plan) -> str:
    """The join of a plan that gives results as text, by which a later batch can go on with it."""
    join = plan if isinstance(plan, TreeJoin) else replace(representative(plan), recompute=None)
    return render_plan(replace(join, early=()))


def meanwhile(
    layout: Layout, wanted: Routing, standing: Manifest, whole: Collection[Module]
) -> tuple[Plan, Routing]:
    """A plan that needs no inner state but what is whole, with the routes that give its results and
    fill the inner state of the wanted one: the plan that gave the results so far, if it can."""
    query = layout.query
    for plan in (*_so_far(query, standing), default_plan(query)):
        routing = routing_of(plan, layout)
        both = filling_routing(routing, wanted)
        if both is not None and not gaps_of(query, routing, standing, whole):
            return plan, both
    raise AssertionError("the multi-way join needs no inner state")


def _so_far(query: Query, standing: Manifest) -> tuple[Plan, ...]:
    """The plan that gave the results of the last batch; none where its text cannot be read."""
    try:
        return (forced_plan(query, standing.results_by),) if standing.results_by else ()
    except PlanError:
        return ()

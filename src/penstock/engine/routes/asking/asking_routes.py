"""Asking routes: how the tuples that outer joins preserve find out whether they have partners.

They are apart from the routes of the pairs, which are those of an inner join, whatever the plan.
Where there is one outer join, a combination of preserved tuples asks once: with a `waits`, when the
nullable input has passed the last moment of its life; and who seeks some, when there is a first
one. Of several joins all is asked together (`joint_routes`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from penstock.engine.routes.asking.joint_routes import is_joint, joint_routes
from penstock.engine.routes.multiway_routes import Leg, Path, Route, Routing, Sought, Visit, legs_of
from penstock.engine.rows.columns import PLACE
from penstock.engine.rows.layout import Layout
from penstock.plan.default_plan import shares_key
from penstock.plan.multiway import Probe
from penstock.query.joins.outer import OuterJoins, Side


def with_asking_routes(routing: Routing, layout: Layout) -> Routing:
    """The routes of a plan, if its pairs are results, and those that ask for partners."""
    outer = layout.query.outer
    if outer is None:
        return routing
    asking = list(joint_routes(layout) if is_joint(layout) else _single_routes(layout, outer))
    numbered = tuple(replace(route, asks=number) for number, route in enumerate(asking))
    if outer.has_pairs:
        return replace(routing, routes=(*routing.routes, *numbered))
    return replace(routing, routes=numbered, inners=())


def _single_routes(layout: Layout, outer: OuterJoins) -> Iterator[Route]:
    (join,) = outer.joins
    for side in join.sides:
        yield from _routes(layout, outer, side)


def _routes(layout: Layout, outer: OuterJoins, side: Side) -> Iterator[Route]:
    query = layout.query
    streams = [alias for alias in side.preserved if not query.input(alias).is_table]
    is_known = query.input(side.nullable).is_table
    if query.view is not None and not is_known:
        legs = _over(_legs(layout, outer, side, streams[0]), includes_batch=True)
        yield Route(streams[0], _at_ticks(legs), picks="all")
        return
    for alias in streams:
        legs = _legs(layout, outer, side, alias)
        yield Route(alias, legs if not is_known else _at_once(legs))
    for alias in () if is_known else streams:
        legs = _over(_legs(layout, outer, side, alias), includes_batch=False)
        if outer.is_semi:
            yield Route(alias, _by_new_partners(legs), picks="touched")
        else:
            yield Route(alias, _dying_first(layout, alias, legs), picks="dying")


def _legs(layout: Layout, outer: OuterJoins, side: Side, driver: str) -> tuple[Leg, ...]:
    """The way of one preserved input's tuples by the others to the nullable one."""
    targets = [*_others(layout, side, driver), side.nullable]
    path = Path(driver, tuple(Probe(target, "sorted") for target in targets))
    *before, last = legs_of(path, layout)
    assert not last.is_broadcast, "an outer join has an equality in ON"
    *visits, final = last.visits
    sought = Sought(
        visit=_search(outer, final),
        wants="some" if outer.is_semi else "none",
        waits=not outer.is_semi,
        nulls=layout.payload(side.nullable) if outer.has_pairs else (),
        after=outer.after,
    )
    return (*before, replace(last, visits=tuple(visits), sought=(sought,)))


def _others(layout: Layout, side: Side, driver: str) -> list[str]:
    """The other preserved inputs, those that can be found by key first."""
    order: list[str] = []
    left = [alias for alias in side.preserved if alias != driver]
    while left:
        bound = [driver, *order]
        near = (alias for alias in left if shares_key(layout.keys, alias, bound))
        order.append(next(near, left[0]))
        left.remove(order[-1])
    return order


def _search(outer: OuterJoins, visit: Visit) -> Visit:
    """A probe that says of partners who has them, and when."""
    checks = tuple(check for check in visit.checks if check not in outer.after)
    keep = frozenset({PLACE})
    return replace(visit, checks=checks, keep=keep, includes_batch=True, is_final=False)


def _over(legs: tuple[Leg, ...], *, includes_batch: bool) -> tuple[Leg, ...]:
    """Legs whose visits look at all tuples, or at old ones; a table's rows are always there."""

    def over(visit: Visit) -> Visit:
        is_table = visit.windows == (None,)
        return replace(visit, includes_batch=includes_batch or is_table)

    return tuple(replace(leg, visits=tuple(map(over, leg.visits))) for leg in legs)


def _dying_first(layout: Layout, driver: str, legs: tuple[Leg, ...]) -> tuple[Leg, ...]:
    """Legs on which only those are met that do not die before the driver's tuple: so a combination
    is found by the first of its members that dies, and among several by the first of FROM."""
    aliases = layout.query.aliases

    def outliving(visit: Visit) -> Visit:
        if visit.windows == (None,):
            return visit
        is_before = aliases.index(visit.target) < aliases.index(driver)
        return replace(visit, outlives="longer" if is_before else "as long")

    return tuple(replace(leg, visits=tuple(map(outliving, leg.visits))) for leg in legs)


def _by_new_partners(legs: tuple[Leg, ...]) -> tuple[Leg, ...]:
    """Legs that ask for a partner among the new tuples, and for none among those before."""
    *before, last = legs
    (sought,) = last.sought
    assert sought.visit is not None, "it is a search"
    new = replace(sought, visit=replace(sought.visit, excludes_old=True), nulls=(), after=())
    old = replace(sought, visit=replace(sought.visit, includes_batch=False), wants="none")
    return (*before, replace(last, sought=(new, old)))


def _at_ticks(legs: tuple[Leg, ...]) -> tuple[Leg, ...]:
    return _asking(legs, waits=False, is_at_ticks=True)


def _at_once(legs: tuple[Leg, ...]) -> tuple[Leg, ...]:
    """Legs on which nobody waits: a table is all there."""
    return _asking(legs, waits=False, is_at_ticks=False)


def _asking(legs: tuple[Leg, ...], *, waits: bool, is_at_ticks: bool) -> tuple[Leg, ...]:
    *before, last = legs
    sought = (replace(each, waits=waits, is_at_ticks=is_at_ticks) for each in last.sought)
    return (*before, replace(last, sought=tuple(sought)))

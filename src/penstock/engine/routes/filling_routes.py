"""Filling routes: one plan gives the results while the inner state of another fills itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from penstock.engine.routes.multiway_routes import Inner, Route, Routing


def filling_routing(results: Routing, wanted: Routing) -> Routing | None:
    """The routes of a plan that gives `results`, and those that make the inner state of the
    `wanted` one; what both keep is made once, as the first does.

    None if they keep the same inner results in different spaces: a routing has but one of each.
    """
    given = {inner.name: inner for inner in results.inners}
    if any(given.get(each.name, each).space != each.space for each in wanted.inners):
        return None
    inners = dict(given)
    routes: list[Route] = []
    for inner in wanted.inners:
        if inner.name not in given:
            making = makers(wanted, inner)
            first = max(_ready(name, inners) for name in sides(making))
            inners[inner.name] = replace(inner, ready=first if inner.is_local else first + 1)
            routes += [replace(route, first_round=first, fills=True) for route in making]
    return replace(results, routes=(*results.routes, *routes), inners=tuple(inners.values()))


def makers(routing: Routing, inner: Inner) -> tuple[Route, ...]:
    """The routes that make the results of an inner join."""
    return tuple(route for route in routing.routes if route.makes == inner.name)


def sides(making: tuple[Route, ...]) -> set[str]:
    """The inputs and inner joins that are joined by the routes of one join."""
    drivers = {route.driver for route in making}
    return drivers.union(v.target for route in making for leg in route.legs for v in leg.visits)


def _ready(name: str, inners: Mapping[str, Inner]) -> int:
    """The round in which all that is new of an input or inner join is there."""
    return inners[name].ready if name in inners else 0

"""The plan of a query that nobody has forced: the order of FROM, but no product before a join."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from penstock.plan.multiway import Method, MultiwayJoin, Probe, ProbeOrder
from penstock.query import Query
from penstock.query.keys import KeyClass, key_classes


def default_plan(query: Query) -> MultiwayJoin:
    """Each stream visits the others in FROM order, by key if it can; tables are only visited."""
    classes = key_classes(query)
    return MultiwayJoin(
        query, tuple(default_order(query, classes, stream.alias) for stream in query.streams)
    )


def default_order(query: Query, classes: Iterable[KeyClass], driver: str) -> ProbeOrder:
    """The visits of one stream's new tuples: next is the first of FROM that can be found by key."""
    classes = tuple(classes)
    bound = [driver]
    probes = []
    left = [alias for alias in query.aliases if alias != driver]
    while left:
        target = next((alias for alias in left if shares_key(classes, alias, bound)), left[0])
        probes.append(Probe(target, default_method(classes, target, bound)))
        bound.append(target)
        left.remove(target)
    return ProbeOrder(driver, tuple(probes))


def default_method(classes: Iterable[KeyClass], target: str, bound: Collection[str]) -> Method:
    """A search on the key where the target shares one with an input bound before, else a loop."""
    return "sorted" if shares_key(classes, target, bound) else "nested"


def shares_key(classes: Iterable[KeyClass], target: str, bound: Collection[str]) -> bool:
    """Whether a key class holds the target and one of the inputs bound before it."""
    return any(target in c.streams and not set(bound).isdisjoint(c.streams) for c in classes)


def bound_before(
    driver: str, targets: tuple[str, ...], position: int, index: int
) -> tuple[str, ...]:
    """The inputs whose tuples are in hand at visit `index`; the driver's come at `position`."""
    return targets[:index] + ((driver,) if index >= position else ())

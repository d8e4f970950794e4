"""Routes: a probe order turned into legs, one for each space that the tuples must move to."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.engine.layout import Layout, column_name, hash_name
from penstock.errors import PlanError
from penstock.plan.multiway import MultiwayJoin, ProbeOrder
from penstock.query import Condition
from penstock.query.expression import columns_of


@dataclass(frozen=True)
class Visit:
    """One probe: the target's state is searched by `key`, or looked through whole if that is None.

    `also` are further key classes to compare, `checks` the conditions that can be decided once the
    target is bound, `keep` the columns that are still needed afterwards. `includes_batch` says
    whether the target's tuples of the same batch count, `is_final` that results are complete.
    """

    target: str
    key: int | None
    also: tuple[int, ...]
    checks: tuple[Condition, ...]
    keep: frozenset[str]
    includes_batch: bool
    is_final: bool


@dataclass(frozen=True)
class Leg:
    """Visits within one space. Tuples reach it by the hash of a key, or all of its partitions."""

    space: int
    is_broadcast: bool
    visits: tuple[Visit, ...]


@dataclass(frozen=True)
class Route:
    """All the legs of one stream's new tuples."""

    driver: str
    legs: tuple[Leg, ...]


def routes_of(plan: MultiwayJoin, layout: Layout) -> tuple[Route, ...]:
    """The route of each stream."""
    return tuple(_route(order, layout) for order in plan.orders)


def _route(order: ProbeOrder, layout: Layout) -> Route:
    if order.position:
        raise PlanError(
            f"the plan puts the new tuples of {order.driver} behind another window",
            hint="naive and general lazy plans run in the laboratory: --engine local --every 1s",
        )
    legs: list[Leg] = []
    bound = [order.driver]
    for number, probe in enumerate(order.probes):
        here = legs[-1].space if legs else None
        key = _key_of(layout, bound, probe.target, here)
        if key is not None and probe.method == "nested":
            raise PlanError(
                f"{order.driver} probes {probe.target} by nested loops, but they are joined by key",
                hint="nested loops on equalities run in the laboratory: --engine local --eager",
            )
        visit = _visit(layout, order, number, bound, key)
        space = layout.spaces[probe.target][0] if key is None else key
        if legs and key is not None and space == here:
            legs[-1] = Leg(space, legs[-1].is_broadcast, (*legs[-1].visits, visit))
        else:
            legs.append(Leg(space, key is None, (visit,)))
        bound.append(probe.target)
    if not legs:
        legs.append(Leg(layout.spaces[order.driver][0], False, ()))
    return Route(order.driver, tuple(legs))


def _key_of(layout: Layout, bound: list[str], target: str, here: int | None) -> int | None:
    """The key class to probe a target by: the one of this space if it serves, to save a move."""
    shared = [k for k in layout.keys_of(target) if set(bound) & set(layout.keys[k].streams)]
    return here if here in shared else next(iter(shared), None)


def _visit(
    layout: Layout, order: ProbeOrder, number: int, bound: list[str], key: int | None
) -> Visit:
    target = order.probes[number].target
    aliases = layout.query.aliases
    shared = [k for k in layout.keys_of(target) if set(bound) & set(layout.keys[k].streams)]
    now_bound = {*bound, target}
    checks = [c for c in layout.checks if c.streams <= now_bound and not c.streams <= set(bound)]
    is_older = aliases.index(target) < aliases.index(order.driver)
    return Visit(
        target=target,
        key=key,
        also=tuple(k for k in shared if k != key),
        checks=tuple(checks),
        keep=_needed_after(layout, order, number),
        includes_batch=is_older or layout.query.input(target).is_table,
        is_final=number == len(order.probes) - 1,
    )


def _needed_after(layout: Layout, order: ProbeOrder, number: int) -> frozenset[str]:
    """The columns that results, later checks and later probes read."""
    bound = {order.driver, *order.targets[: number + 1]}
    later = order.targets[number + 1 :]
    wanted = [output.expression for output in layout.query.outputs]
    wanted += [check.expression for check in layout.checks if not check.streams <= bound]
    names = {column_name(c) for e in wanted for c in columns_of(e) if c.stream in bound}
    hashes = {
        hash_name(k)
        for target in later
        for k in layout.keys_of(target)
        if bound & set(layout.keys[k].streams)
    }
    return frozenset(names | hashes)

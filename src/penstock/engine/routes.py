"""Routes: a plan turned into legs, one for each space that the tuples must move to."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from penstock.engine.layout import Layout, column_name, hash_name
from penstock.errors import PlanError
from penstock.plan.multiway import MultiwayJoin, ProbeOrder
from penstock.query import Condition, Window
from penstock.query.expression import columns_of


@dataclass(frozen=True)
class Visit:
    """One probe: the target's state is searched by `key`, or looked through whole if that is None.

    The target is an input or an inner result of a join tree; `windows` are those of its members.
    `also` are further key classes to compare, `checks` the conditions that can be decided once the
    target is bound, `keep` the columns that are still needed afterwards. `includes_batch` says
    whether the target's tuples of the same batch count, `is_final` that results are complete and
    their times do not matter any more.
    """

    target: str
    windows: tuple[Window | None, ...]
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
    """All the legs of what is new of an input or inner result, from round `first_round` on.

    It makes complete results, or those of the inner join that `makes` names.
    """

    driver: str
    legs: tuple[Leg, ...]
    first_round: int = 0
    makes: str | None = None

    @property
    def starts_at_home(self) -> bool:
        """Whether tuples start probing where they are kept, so that they travel once."""
        return not self.legs[0].is_broadcast

    def leg(self, round_: int) -> Leg | None:
        """The leg of a round, if it has one then."""
        number = round_ - self.first_round
        return self.legs[number] if 0 <= number < len(self.legs) else None


def module_name(name: str, space: int) -> str:
    """The state module of an input or inner join in a space."""
    return f"{name}@{space}"


@dataclass(frozen=True)
class Inner:
    """The results of an inner join, kept in a space until their first member dies.

    All that are new in a batch are there in round `ready`: found in that round at the very
    partitions that keep them if `is_local`, else sent there by the round before.
    """

    name: str
    members: tuple[str, ...]
    space: int
    ready: int
    is_local: bool

    @property
    def module(self) -> str:
        """The state module, which means the same in all plans that have it."""
        return module_name(self.name, self.space)


@dataclass(frozen=True)
class Routing:
    """A plan for the steps: routes in the order in which a round takes them, and inner state."""

    routes: tuple[Route, ...]
    inners: tuple[Inner, ...] = ()

    @property
    def rounds(self) -> int:
        ends = [route.first_round + len(route.legs) for route in self.routes]
        return max(ends + [inner.ready + 1 for inner in self.inners], default=1)

    def inner(self, name: str | None) -> Inner | None:
        """The inner join of that name; complete results and inputs have none."""
        return next((inner for inner in self.inners if inner.name == name), None)

    def route_of(self, driver: str) -> Route | None:
        """The route of what is new of an input or inner join; a table may have none."""
        return next((route for route in self.routes if route.driver == driver), None)


def routes_of(plan: MultiwayJoin, layout: Layout) -> Routing:
    """The route of each stream of a multi-way plan."""
    return Routing(tuple(_route(order, layout) for order in plan.orders))


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
    shared = shared_keys(layout, bound, [target])
    return here if here in shared else next(iter(shared), None)


def _visit(
    layout: Layout, order: ProbeOrder, number: int, bound: list[str], key: int | None
) -> Visit:
    target = order.probes[number].target
    aliases = layout.query.aliases
    is_older = aliases.index(target) < aliases.index(order.driver)
    return Visit(
        target=target,
        windows=(layout.query.input(target).window,),
        key=key,
        also=tuple(k for k in shared_keys(layout, bound, [target]) if k != key),
        checks=decided_by(layout, bound, [target]),
        keep=needed_after(layout, [*bound, target]),
        includes_batch=is_older or layout.query.input(target).is_table,
        is_final=number == len(order.probes) - 1 and layout.query.view is None,
    )


def shared_keys(layout: Layout, one: Collection[str], other: Collection[str]) -> tuple[int, ...]:
    """The key classes that hold an input of each side."""
    return tuple(
        k
        for k, key in enumerate(layout.keys)
        if not set(one).isdisjoint(key.streams) and not set(other).isdisjoint(key.streams)
    )


def decided_by(
    layout: Layout, one: Collection[str], other: Collection[str]
) -> tuple[Condition, ...]:
    """The checks that can be made when two sides meet, and on neither of them alone."""
    both = {*one, *other}
    needs = {check: layout.bound_for(check) for check in layout.checks}
    return tuple(
        check
        for check, need in needs.items()
        if need <= both and not any(need <= set(side) for side in (one, other))
    )


def needed_after(layout: Layout, bound: Collection[str]) -> frozenset[str]:
    """The columns of the inputs bound so far that results, later checks and later probes read."""
    members = set(bound)
    wanted = [output.expression for output in layout.outputs]
    waiting = [check for check in layout.checks if not layout.bound_for(check) <= members]
    wanted += [check.expression for check in waiting]
    names = {column_name(c) for e in wanted for c in columns_of(e) if c.stream in members}
    names |= {name for alias in members for name in layout.weights(alias)}
    rest = [alias for alias in layout.query.aliases if alias not in members]
    return frozenset(names | {hash_name(k) for k in shared_keys(layout, members, rest)})

"""Routes: a plan turned into legs, one for each space that the tuples must move to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from penstock.engine.routes.laboratory_hint import NESTED_LOOPS, laboratory_hint
from penstock.engine.routes.rusters import Rusters
from penstock.engine.rows.columns import column_name, hash_name, number_name, time_name
from penstock.engine.rows.layout import Layout
from penstock.engine.state.modules import Module
from penstock.engine.wire.tags import Tag, TagKind
from penstock.errors import PlanError
from penstock.plan.multiway import MultiwayJoin, Probe, ProbeOrder
from penstock.plan.sharing.offers import finding
from penstock.query import Column, Condition, Window
from penstock.query.expression import columns_of

When = Literal["before", "during", "until"]
"""When the frontier of all streams has passed a time: before a batch, with it, or by its end."""


@dataclass(frozen=True)
class Visit:
    """One probe: the target's state is searched by `key`, or looked through whole if that is None.

    The target is an input or an inner result of a join tree; `windows` are those of its members.
    `also` are further key classes to compare, `checks` the conditions that can be decided once the
    target is bound, `keep` the columns that are still needed afterwards. `includes_batch` says
    whether the target's tuples of the same batch count, `is_final` that results are complete and
    their times do not matter any more. `screens` are filters of the driver that come next. Of a
    tuple that dies, only those are found that live `longer` than it, or `as long` at least; of one
    that is the last, those that came `earlier`, or `as late` at most; where the probe
    `excludes_old`, only those of the same batch.
    """

    target: str
    windows: tuple[Window | None, ...]
    key: int | None
    also: tuple[int, ...]
    checks: tuple[Condition, ...]
    keep: frozenset[str]
    includes_batch: bool
    is_final: bool
    screens: tuple[Condition, ...] = ()
    outlives: Literal["longer", "as long"] | None = None
    precedes: Literal["earlier", "as late"] | None = None
    excludes_old: bool = False


@dataclass(frozen=True)
class Sought:
    """A search for partners: who has `some`, or who has `none`, goes on.

    `visit` is the probe by which they are found; where it is None there are none. If it `waits`,
    combinations are asked about once no partner can come any more; of a view (`is_at_ticks`) it is
    asked at which ticks they have some, or none. It may also be asked when the time of the `first`
    one is passed. Who goes on has the columns `nulls` of the nullable input as NULLs, and must meet
    the conditions that come `after` the join.
    """

    visit: Visit | None
    wants: Literal["some", "none"]
    waits: bool = False
    is_at_ticks: bool = False
    first: When | None = None
    nulls: tuple[Column, ...] = ()
    after: tuple[Condition, ...] = ()


@dataclass(frozen=True)
class Leg:
    """Visits within one space, then what is sought there. Tuples reach it by the hash of a key, or
    all of its partitions."""

    space: int
    is_broadcast: bool
    visits: tuple[Visit, ...]
    sought: tuple[Sought, ...] = ()


@dataclass(frozen=True)
class Route:
    """All the legs of what is new of an input or inner result, from round `first_round` on.

    It makes complete results, or those of the inner join that `makes` names. Of a mesh it is the
    route of one `ruster`; where that is None, all of the driver's tuples take it. What goes into
    its operators, and what comes out, is told under its `number`: in a mesh that of the first of
    the routes that have the same probes.
    Who takes combinations of some inputs is `given` those that it comes by. One that `ends_early`
    makes no complete results, but is there for these alone.
    A route that `fills` makes inner state for a plan to come, beside the routes of the one that
    gives the results.
    Routes of an outer join ask for partners, and `asks` is their number. Not only new tuples take
    them, but as `picks` says the old ones that die, those that new partners may meet, or all; or
    when the frontier of all streams passes their ends, their own times, or those of partners that
    they are met by.
    """

    driver: str
    legs: tuple[Leg, ...]
    first_round: int = 0
    makes: str | None = None
    ruster: int | None = None
    number: int = 0
    given: frozenset[frozenset[str]] = frozenset()
    ends_early: bool = False
    fills: bool = False
    asks: int | None = None
    picks: Literal["new", "dying", "touched", "all", "ending", "coming", "met"] = "new"

    @property
    def starts_at_home(self) -> bool:
        """Whether tuples start probing where they are kept, so that they travel once."""
        return not self.legs[0].is_broadcast

    def tag(self, kind: TagKind) -> Tag:
        """The tag of its tuples' packets: `drive:A`, or `drive#2:A` for one ruster, or where all
        tuples of the driver take several routes.

        Those of a route that fills or asks are told apart from those of the driver's other ones.
        """
        if self.asks is not None:
            return Tag("asking", self.driver, self.asks)
        number = self.ruster if self.ruster is not None else self.number or None
        return Tag("fill" if self.fills else kind, self.driver, number)

    def leg(self, round_: int) -> Leg | None:
        """The leg of a round, if it has one then."""
        number = round_ - self.first_round
        return self.legs[number] if 0 <= number < len(self.legs) else None


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
    def module(self) -> Module:
        """The state module, which means the same in all plans that have it."""
        return Module.kept(self.name, self.space)


@dataclass(frozen=True)
class Routing:
    """A plan for the steps: routes in the order in which a round takes them, and inner state.

    Where a plan is a mesh, `rusters` say which new tuples take which of a driver's routes. If it
    `is_recomputed`, the one route joins all that is in the windows.
    """

    routes: tuple[Route, ...]
    inners: tuple[Inner, ...] = ()
    rusters: tuple[Rusters, ...] = ()
    is_recomputed: bool = False

    @property
    def rounds(self) -> int:
        ends = [route.first_round + len(route.legs) for route in self.routes]
        return max(ends + [inner.ready + 1 for inner in self.inners], default=1)

    @property
    def spaces(self) -> frozenset[int]:
        """The spaces in which anything is probed or inner results are kept."""
        probed = [leg.space for route in self.routes for leg in route.legs]
        return frozenset(probed + [inner.space for inner in self.inners])

    def inner(self, name: str | None) -> Inner | None:
        """The inner join of that name; complete results and inputs have none."""
        return next((inner for inner in self.inners if inner.name == name), None)

    def rusters_of(self, driver: str) -> Rusters | None:
        """How the new tuples of an input are sorted, if the plan is a mesh."""
        return next((rusters for rusters in self.rusters if rusters.driver == driver), None)

    def routes_of(self, driver: str) -> tuple[Route, ...]:
        """The routes of what is new of an input or inner join; a table may have none."""
        return tuple(route for route in self.routes if route.driver == driver)


@dataclass(frozen=True)
class Path:
    """The probes that new tuples of `driver` make, one after another.

    `screens` are the driver's filters that have a place of their own among them: each with the
    number of the probe that it comes after, −1 if it is decided before all of them.
    """

    driver: str
    probes: tuple[Probe, ...]
    screens: Mapping[Condition, int] = field(default_factory=dict)


def multiway_routing(plan: MultiwayJoin, layout: Layout) -> Routing:
    """The route of each stream of a multi-way plan, or the one of a view that is recomputed.

    Each route is a delta join: new tuples against the state of all other inputs.
    """
    if plan.recompute is None:
        return Routing(tuple(_routes(plan, layout)))
    _refuse_recomputing(plan, plan.recompute)
    return Routing((_over_all(_route(plan.order(plan.recompute), layout)),), is_recomputed=True)


def _routes(plan: MultiwayJoin, layout: Layout) -> Iterator[Route]:
    """The routes of all orders; where a driver has several, they are told apart by numbers."""
    finders = {part: finding(plan, part) for part in layout.real_parts}
    numbers: Counter[str] = Counter()
    for order in plan.orders:
        route = _route(order, layout)
        yield replace(
            route,
            number=numbers[order.driver],
            given=frozenset(part for part, join in finders.items() if join == order.members),
            ends_early=len(order.members) < len(layout.query.aliases),
        )
        numbers[order.driver] += 1


def _refuse_recomputing(plan: MultiwayJoin, driver: str) -> None:
    """Refuse to recompute what is no view, or has no two streams with windows of time."""
    query = plan.query
    why = None
    if query.view is None:
        why = "the query has no GROUP BY and no aggregates"
    elif query.is_sequenced:
        why = "views over ROWS windows are recomputed in any case"
    elif driver not in {item.alias for item in query.streams}:
        why = f"{driver} is not a stream of the query"
    elif len(query.streams) < 2:
        why = "there is only one stream, whose tuples are not kept"
    if why is not None:
        raise PlanError(f"the plan recomputes the view: {why}", hint="leave out `recompute`")


def _over_all(route: Route) -> Route:
    """A route that finds all of its targets' tuples, also those of the same batch."""
    legs = (
        replace(leg, visits=tuple(replace(visit, includes_batch=True) for visit in leg.visits))
        for leg in route.legs
    )
    return replace(route, legs=tuple(legs))


def _route(order: ProbeOrder, layout: Layout) -> Route:
    if order.position:
        raise PlanError(
            f"the plan puts the new tuples of {order.driver} behind another window",
            hint=laboratory_hint(
                layout.query,
                "naive and general lazy plans run",
                "--engine local --every 1s",
                f"leave {order.driver} out of its own order",
            ),
        )
    return Route(order.driver, legs_of(Path(order.driver, order.probes), layout))


def legs_of(path: Path, layout: Layout) -> tuple[Leg, ...]:
    """A path cut where its tuples must move."""
    legs: list[Leg] = []
    bound = [path.driver]
    for number, probe in enumerate(path.probes):
        here = legs[-1].space if legs else None
        key = _key_of(layout, bound, probe.target, here)
        if key is not None and probe.method == "nested":
            raise PlanError(
                f"{path.driver} probes {probe.target} by nested loops, but they are joined by key",
                hint=laboratory_hint(layout.query, *NESTED_LOOPS),
            )
        visit = _visit(layout, path, number, bound, key)
        space = layout.spaces[probe.target][0] if key is None else key
        if legs and key is not None and space == here:
            legs[-1] = Leg(space, legs[-1].is_broadcast, (*legs[-1].visits, visit))
        else:
            legs.append(Leg(space, key is None, (visit,)))
        bound.append(probe.target)
    return tuple(legs) or (Leg(layout.spaces[path.driver][0], False, ()),)


def _key_of(layout: Layout, bound: list[str], target: str, here: int | None) -> int | None:
    """The key class to probe a target by: the one of this space if it serves, to save a move."""
    shared = shared_keys(layout, bound, [target])
    return here if here in shared else next(iter(shared), None)


def _visit(layout: Layout, path: Path, number: int, bound: list[str], key: int | None) -> Visit:
    target = path.probes[number].target
    aliases = layout.query.aliases
    is_older = aliases.index(target) < aliases.index(path.driver)
    decided = {screen for screen, place in path.screens.items() if place <= number}
    return Visit(
        target=target,
        windows=(layout.query.input(target).window,),
        key=key,
        also=tuple(k for k in shared_keys(layout, bound, [target]) if k != key),
        checks=tuple(c for c in decided_by(layout, bound, [target]) if c not in path.screens),
        keep=needed_after(layout, [*bound, target], decided),
        includes_batch=is_older or layout.query.input(target).is_table,
        is_final=number == len(path.probes) - 1 and layout.ends_plain,
        screens=tuple(screen for screen, place in path.screens.items() if place == number),
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
    return tuple(
        check
        for check in layout.checks
        if layout.is_decided(check, both)
        and not any(layout.is_decided(check, side) for side in (one, other))
    )


def needed_after(
    layout: Layout, bound: Collection[str], decided: Collection[Condition] = ()
) -> frozenset[str]:
    """The columns of the inputs bound so far that results, later checks and later probes read.

    Of filters that wait, some may be `decided` before all inputs are bound.
    """
    members = set(bound)
    wanted = [output.expression for output in layout.outputs]
    later = [check for check in layout.checks if not layout.is_decided(check, members)]
    waiting = [check for check in later if check not in decided]
    wanted += [check.expression for check in waiting]
    names = {column_name(c) for e in wanted for c in columns_of(e) if c.stream in members}
    names |= {name for alias in members for name in layout.weights(alias)}
    names |= {number_name(alias) for alias in layout.relations if alias in members}
    names |= {time_name(alias) for alias in layout.timed if alias in members}
    rest = [alias for alias in layout.query.aliases if alias not in members]
    return frozenset(names | {hash_name(k) for k in shared_keys(layout, members, rest)})

"""Joint routes: how results of several outer joins are found, each once.

They are asked about when the frontier of all streams passes their time. Then all that can be in
them, and all their partners, are there, old or new: a result is found by the one of its tuples that
decides about its time, and by no other.

- Where a partner could still have come, that is the end of the combination that had none: the first
  of its tuples that dies finds it.
- Else it is the time of its last tuple, which finds it, or that of the first partner in a semi join
  if this is later: then the tuple that the partner meets finds it.

Under a view all that is in the windows asks at which of the due ticks it has partners.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from penstock.engine.routes.asking.patterns import Pattern, patterns_of
from penstock.engine.routes.asking.way import Way
from penstock.engine.routes.multiway_routes import Leg, Route, Sought, Visit, When, shared_keys
from penstock.engine.rows.layout import Layout
from penstock.query.joins.outer import OuterJoin


def is_joint(layout: Layout) -> bool:
    """Whether results wait for the frontier of all streams."""
    query, outer = layout.query, layout.query.outer
    if outer is None or (outer.is_single and not query.asks_jointly):
        return False
    return not outer.is_single or len(query.inputs) > 2 or layout.tells_times


def joint_routes(layout: Layout) -> Iterator[Route]:
    """The routes of all results that are not simply those of an inner join."""
    outer = layout.query.outer
    assert outer is not None, "there are joins that are not inner ones"
    for pattern in patterns_of(layout.query, outer):
        if layout.query.view is not None:
            yield _at_ticks(layout, pattern)
        elif pattern.waiting is not None:
            yield from _ending(layout, pattern, pattern.waiting)
        else:
            yield from _coming(layout, pattern)
            yield from _met(layout, pattern)


def _at_ticks(layout: Layout, pattern: Pattern) -> Route:
    (driver, *_) = _streams(layout, pattern.outer.core)
    way = Way(layout, pattern, [driver])
    for alias in way.near(pattern.outer.core):
        way.bind(alias)
    _ask_all(way, Sought(None, "none", is_at_ticks=True))
    return Route(driver, way.end(), picks="all")


def _ending(layout: Layout, pattern: Pattern, waiting: OuterJoin) -> Iterator[Route]:
    """Routes of tuples that are the first to die of a combination that lacks a partner."""
    whole = [alias for alias in pattern.present if alias in waiting.preserved]
    for driver in _streams(layout, whole):
        way = Way(layout, pattern, [driver])
        for alias in way.near(whole):
            way.bind(alias)
        way.legs = [_outliving(layout, driver, leg) for leg in way.legs]
        _ask_all(way, Sought(None, "none"), waiting)
        yield Route(driver, way.end(), picks="ending")


def _coming(layout: Layout, pattern: Pattern) -> Iterator[Route]:
    """Routes of tuples that are the last of a combination, which has all partners by then."""
    for driver in _streams(layout, pattern.present):
        way = Way(layout, pattern, [driver])
        for alias in way.near(pattern.present):
            way.bind(alias)
        way.legs = [_preceding(layout, driver, leg) for leg in way.legs]
        _ask_all(way, Sought(None, "none"))
        yield Route(driver, way.end(), picks="coming")


def _met(layout: Layout, pattern: Pattern) -> Iterator[Route]:
    """Routes of tuples that meet the partner which a combination has waited for."""
    for join in pattern.choosing:
        if join.kind == "anti" or layout.query.input(join.nullable).is_table:
            continue
        driver, space = _partner_of(layout, pattern, join)
        way = Way(layout, pattern, [driver])
        way.start(space)
        for alias in way.near(pattern.present):
            way.bind(alias)
        _ask_all(way, Sought(None, "none"), last=join)
        yield Route(driver, way.end(), picks="met")


def _partner_of(layout: Layout, pattern: Pattern, join: OuterJoin) -> tuple[str, int]:
    """A stream that is compared with the input of a semi join, and the space where they meet."""
    equal = {alias for e in join.equalities for alias in e.streams}
    for alias in _streams(layout, pattern.present):
        if alias in equal:
            return alias, shared_keys(layout, [alias], [join.nullable])[0]
    raise AssertionError("a semi join compares with a stream")


def _ask_all(
    way: Way, plain: Sought, waiting: OuterJoin | None = None, last: OuterJoin | None = None
) -> None:
    """Take combinations through the joins whose inputs are not bound yet, in their order.

    They have been `waiting` in one, or it is its first partner in another that came `last`.
    """
    pattern = way.pattern
    for join in pattern.left:
        if join.nullable in pattern.absent:
            _ask_none(way, join, replace(plain, waits=join is waiting))
        elif join.nullable not in way.bound:
            way.bind(join.nullable)
    is_before = last is not None
    for join in pattern.choosing:
        if join.kind == "anti":
            _ask_none(way, join, replace(plain, waits=join is waiting))
            continue
        is_before = is_before and join is not last
        is_timed = not plain.is_at_ticks and waiting is None and not _is_table(way, join)
        when: When = "during" if join is last else "before" if is_before else "until"
        way.ask(join, replace(plain, wants="some", first=when if is_timed else None))


def _ask_none(way: Way, join: OuterJoin, sought: Sought) -> None:
    if not way.pattern.is_unmet(join):
        way.ask(join, sought)
    elif join.has_pairs:
        way.lack(join)


def _is_table(way: Way, join: OuterJoin) -> bool:
    return way.layout.query.input(join.nullable).is_table


def _streams(layout: Layout, aliases: Sequence[str]) -> list[str]:
    return [alias for alias in aliases if not layout.query.input(alias).is_table]


def _outliving(layout: Layout, driver: str, leg: Leg) -> Leg:
    """A leg on which only those are met that do not die before the driver's tuple; of several that
    die at once, the first of FROM finds the combination."""

    def outliving(visit: Visit) -> Visit:
        is_before = _is_before(layout, visit.target, driver)
        return replace(visit, outlives="longer" if is_before else "as long")

    return _with_streams(leg, outliving)


def _preceding(layout: Layout, driver: str, leg: Leg) -> Leg:
    """A leg on which only those are met that come before the driver's tuple; of several that come
    at once, the last of FROM finds the combination."""

    def preceding(visit: Visit) -> Visit:
        is_before = _is_before(layout, visit.target, driver)
        return replace(visit, precedes="as late" if is_before else "earlier")

    return _with_streams(leg, preceding)


def _is_before(layout: Layout, alias: str, other: str) -> bool:
    aliases = layout.query.aliases
    return aliases.index(alias) < aliases.index(other)


def _with_streams(leg: Leg, change: Callable[[Visit], Visit]) -> Leg:
    visits = (v if v.windows == (None,) else change(v) for v in leg.visits)
    return replace(leg, visits=tuple(visits))

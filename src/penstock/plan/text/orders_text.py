"""Probe orders as text, for `--plan`: `A: B C; B: A/hash C; C: B C A` and back.

Of a plan that finds several joins, those of each follow each other: `A: B; B: A;; A: C; C: A`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from itertools import groupby
from typing import cast, get_args

from penstock.plan.default_plan import bound_before, default_method, default_order, shares_key
from penstock.plan.multiway import Method, MultiwayJoin, Probe, ProbeOrder
from penstock.plan.text.notation import Clause, Word, quote, read_clauses, refuse
from penstock.query import Query
from penstock.query.keys import KeyClass, key_classes


def forced_orders(query: Query, text: str) -> MultiwayJoin:
    """The plan that the text describes; streams that it does not name keep their default order."""
    clauses = list(read_clauses(text))
    if any(clause.join for clause in clauses):
        return MultiwayJoin(query, tuple(_several_joins(query, clauses)))
    classes = key_classes(query)
    forced = _by_driver(query, clauses, query.aliases)
    return MultiwayJoin(
        query,
        tuple(
            forced.get(stream.alias) or default_order(query, classes, stream.alias)
            for stream in query.streams
        ),
    )


def _several_joins(query: Query, clauses: Sequence[Clause]) -> Iterator[ProbeOrder]:
    """The orders of all joins; each join has one for every stream in it."""
    for _, group in groupby(clauses, key=lambda clause: clause.join):
        mine = list(group)
        words = [word for clause in mine for word in (clause.driver, *clause.visits)]
        names = {word.text for word in words}
        forced = _by_driver(query, mine, tuple(a for a in query.aliases if a in names))
        for stream in query.streams:
            if stream.alias in names and stream.alias not in forced:
                what = f"{stream.alias} has no probe order in the join with it"
                refuse(what, mine[0].place, "each stream of a join has one")
        yield from forced.values()


def _by_driver(
    query: Query, clauses: Iterable[Clause], members: tuple[str, ...]
) -> dict[str, ProbeOrder]:
    """The orders of one join, of the inputs that are its members."""
    classes = key_classes(query)
    forced: dict[str, ProbeOrder] = {}
    for clause in clauses:
        driver = driver_of(query, clause.driver)
        if driver in forced:
            refuse(f"{driver} has two probe orders", clause.driver.place, "keep one of them")
        forced[driver] = _order(query, classes, clause, members)
    return forced


def render_orders(plan: MultiwayJoin) -> str:
    """The text that `forced_orders` turns into this plan."""
    classes = key_classes(plan.query)
    return ";; ".join(
        "; ".join(
            " ".join([f"{quote(order.driver)}:", *_render_visits(classes, order)])
            for order in plan.orders
            if order.members == members
        )
        for members in plan.joins
    )


def _render_visits(classes: tuple[KeyClass, ...], order: ProbeOrder) -> Iterator[str]:
    for index, probe in enumerate(order.probes):
        if order.position and index == order.position:
            yield quote(order.driver)
        bound = bound_before(order.driver, order.targets, order.position, index)
        is_default = probe.method == default_method(classes, probe.target, bound)
        yield quote(probe.target) + ("" if is_default else f"/{probe.method}")
    if order.probes and order.position == len(order.probes):
        yield quote(order.driver)


def _order(
    query: Query, classes: tuple[KeyClass, ...], clause: Clause, members: tuple[str, ...]
) -> ProbeOrder:
    driver = clause.driver.text
    _check_visits(query, clause, members)
    names = [word.text for word in clause.visits]
    position = names.index(driver) if driver in names else 0
    words = tuple(word for word in clause.visits if word.text != driver)
    targets = tuple(word.text for word in words)
    probes = tuple(
        Probe(word.text, _method(classes, word, bound_before(driver, targets, position, index)))
        for index, word in enumerate(words)
    )
    return ProbeOrder(driver, probes, position)


def _check_visits(query: Query, clause: Clause, members: tuple[str, ...]) -> None:
    driver = clause.driver.text
    seen: set[str] = set()
    for word in clause.visits:
        check_known(query, word)
        if word.text in seen:
            refuse(f"{word.text} is visited twice", word.place, "an order names each input once")
        if word.text == driver and word.method is not None:
            refuse("new tuples are not probed", word.place, f"write {driver} without a method")
        seen.add(word.text)
    missing = [alias for alias in members if alias not in seen | {driver}]
    if missing:
        what = f"the order of {driver} leaves out {' and '.join(missing)}"
        refuse(what, clause.place, "an order names every other input")


def method_of(word: Word) -> Method | None:
    """The method that a word names, if any."""
    methods = get_args(Method)
    if word.method is not None and word.method not in methods:
        refuse(f"no method {word.method!r}", word.place, f"methods are {', '.join(methods)}")
    return cast("Method | None", word.method)


def _method(classes: tuple[KeyClass, ...], word: Word, bound: tuple[str, ...]) -> Method:
    method = method_of(word)
    if method is None:
        return default_method(classes, word.text, bound)
    if method != "nested" and not shares_key(classes, word.text, bound):
        why = f"no equality links it to {' or '.join(bound)}" if bound else "it is visited first"
        what = f"{word.text} cannot be probed by {word.method}: {why}"
        refuse(what, word.place, f"write {word.text}/nested, or visit an input it is equal to")
    return method


def driver_of(query: Query, word: Word) -> str:
    """The stream that a word names, which must be one that can drive."""
    check_known(query, word)
    if word.method is not None:
        refuse("a driver has no method", word.place, "methods belong to the inputs it visits")
    if query.input(word.text).is_table:
        streams = ", ".join(stream.alias for stream in query.streams)
        hint = f"a table is only visited; the streams are {streams}"
        refuse(f"{word.text} is a table and drives nothing", word.place, hint)
    return word.text


def check_known(query: Query, word: Word) -> None:
    """Refuse a name that no input has."""
    if word.text in query.aliases:
        return
    by_lower = {alias.lower(): alias for alias in query.aliases}
    near = get_close_matches(word.text.lower(), by_lower, n=1)
    known = f"the query has {', '.join(query.aliases)}"
    hint = f"did you mean {by_lower[near[0]]}?" if near else known
    refuse(f"no input is called {word.text}", word.place, hint)

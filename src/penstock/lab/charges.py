"""Charges: what filters and predicates take by themselves on a simulated clock, and where."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.expressions.evaluate import Naming, holds
from penstock.engine.rows.columns import plain_name
from penstock.engine.rows.layout import Layout
from penstock.errors import PlanError
from penstock.lab.clock import ClockCosts, JoinCosts, OwnCosts, SimulatedClock, WindowCharge
from penstock.lab.kernels.prices import VISIT, Prices
from penstock.lab.layout.joinable import comparisons_of
from penstock.lab.layout.positions import Lifetimes
from penstock.plan.plan import Plan
from penstock.plan.tree import Branch, Leaf, Node, TreeJoin, branches, leaves
from penstock.query import Condition, Query

Int64s = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Screening:
    """A predicate on rows, and those that it is evaluated on: the others did not pass before."""

    rows: Int64s
    seconds: float


def screenings(
    conditions: Iterable[Condition],
    rows: pa.Table,
    name: Naming,
    own: OwnCosts,
    settled: Mapping[str, NDArray[np.bool_]] = MappingProxyType({}),
) -> tuple[tuple[Screening, ...], Int64s]:
    """The predicates that take time, evaluated one after the other, and the rows that pass all.

    Where one was `settled` before, it takes no time.
    """
    found, left = list[Screening](), np.arange(len(rows))
    for condition in conditions:
        seconds = own.conditions.get(str(condition), 0.0)
        if seconds:
            before = settled.get(str(condition))
            found.append(Screening(left if before is None else left[~before[left]], seconds))
        held = holds(condition.expression, rows.take(pa.array(left)), name)
        left = left[held.to_numpy(zero_copy_only=False)]
    return tuple(found), left


Course = tuple[Int64s, tuple[Condition, ...]]
"""Rows of a stream, and its filters in the order in which these rows come to them."""


def screens_of(
    query: Query,
    lives: Mapping[str, Lifetimes],
    own: OwnCosts,
    courses: Mapping[str, tuple[Course, ...]] = MappingProxyType({}),
) -> dict[str, tuple[Screening, ...]]:
    """The filters of each stream that take time; a table was there before the clock.

    Streams without `courses` of their own come to their filters in the order of the query.
    """
    priced = {alias for c in query.filters if own.conditions.get(str(c)) for alias in c.streams}
    found = {}
    for item in query.streams:
        if item.alias in priced:
            rows = lives[item.alias].rows
            whole = ((np.arange(len(rows)), query.filters_of(item.alias)),)
            each = courses.get(item.alias, whole)
            found[item.alias] = tuple(s for course in each for s in _screened(course, rows, own))
    return found


def _screened(course: Course, rows: pa.Table, own: OwnCosts) -> Iterator[Screening]:
    members, conditions = course
    for screen in screenings(conditions, rows.take(pa.array(members)), plain_name, own)[0]:
        yield Screening(members[screen.rows], screen.seconds)


def prices_of(plan: Plan, layout: Layout, clock: SimulatedClock) -> Prices:
    """The prices of predicates between inputs, and of the joins of a tree."""
    priced = [
        *((inputs, (seconds, 0.0)) for inputs, seconds in clock.own.equalities.items()),
        *_comparisons(layout, clock.own),
    ]
    joins = list(branches(plan.root)) if isinstance(plan, TreeJoin) else []
    _refuse_strange(joins, clock.joins)
    each = np.array([_of_sides(join, priced, clock) for join in joins], np.float64)
    each = each.reshape(-1, 2, 2)
    windows = [clock.windows.get(alias, WindowCharge()) for alias in plan.query.aliases]
    charged = np.array([(window.settle, window.probe) for window in windows], np.float64)
    return Prices(
        np.array([_bits(plan.query, inputs) for inputs, _ in priced], np.int64),
        np.array([seconds for _, seconds in priced], np.float64).reshape(-1, 2),
        each if each.any() else each[:0],
        charged if charged.any() else charged[:0],
    )


_Priced = tuple[frozenset[str], tuple[float, float]]


def _comparisons(layout: Layout, own: OwnCosts) -> Iterator[_Priced]:
    """The checks that the kernel makes: each row that it looks at is compared once."""
    _, outside = comparisons_of(layout)
    for check in layout.checks:
        seconds = own.conditions.get(str(check), 0.0)
        if seconds and check not in outside:
            yield check.streams, (0.0, seconds)


def _of_join(join: Branch, priced: Iterable[_Priced], clock: SimulatedClock) -> Floats:
    """Seconds of a visit and of a look at a join, beyond what every join has."""
    sides = frozenset(leaves(join.left)), frozenset(leaves(join.right))
    total = np.zeros(2)
    for inputs, seconds in priced:
        if inputs <= sides[0] | sides[1] and inputs & sides[0] and inputs & sides[1]:
            total += seconds
    other = clock.joins.get(sides[0] | sides[1])
    if other is not None:
        total += _beyond(other, clock.costs, is_keyed=join.method != "nested")
    return total


def _of_sides(join: Branch, priced: Iterable[_Priced], clock: SimulatedClock) -> Floats:
    """The same for what comes from the left and from the right: it settles there, and probes the
    other side."""
    each = np.stack([_of_join(join, priced, clock)] * 2)
    is_keyed = join.method != "nested"
    for side, (mine, other) in enumerate(((join.left, join.right), (join.right, join.left))):
        each[side, VISIT] += _window(mine, clock).settle
        each[side, VISIT] += _window(other, clock).probe if is_keyed else 0.0
    return each


def _window(node: Node, clock: SimulatedClock) -> WindowCharge:
    """What is charged at a side of a join: inner results cost what is usual."""
    free = WindowCharge()
    return clock.windows.get(node.alias, free) if isinstance(node, Leaf) else free


def _beyond(other: JoinCosts, costs: ClockCosts, *, is_keyed: bool) -> Floats:
    """What a join takes more, or less, than the others. Each row comes, probes and dies once."""

    def more(kind: str) -> float:
        own: float | None = getattr(other, kind)
        return 0.0 if own is None else own - float(getattr(costs, kind))

    probes = more("probes") if is_keyed else 0.0
    return np.array([more("inserts") + more("expired") + probes, more("compares")])


def _bits(query: Query, inputs: Iterable[str]) -> int:
    return sum(1 << query.aliases.index(alias) for alias in inputs)


def _refuse_strange(joins: Iterable[Branch], given: Mapping[frozenset[str], JoinCosts]) -> None:
    """Refuse costs of a join that the plan does not have."""
    known = [frozenset(leaves(join)) for join in joins]
    strange = next((inputs for inputs in given if inputs not in known), None)
    if strange is not None:
        raise PlanError(
            f"no join of the plan has the inputs {' '.join(sorted(strange))} below it",
            hint="costs of single joins are for trees: force one with --plan",
        )

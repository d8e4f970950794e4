"""G&O's rules for probe orders, on the settings of Tables 5 to 7 and Figure 3."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations

import pytest

from penstock.optimize.algebra.posynomial import value
from penstock.optimize.joins.ordering import (
    augmented,
    by_bucket_size,
    descending_selectivity,
    general_lazy,
    hashed_innermost,
)
from penstock.optimize.joins.probe_search import best_orders
from penstock.optimize.model.load import load_of
from penstock.optimize.model.problem import Problem
from penstock.papers.multi_join import common_attribute, driver_cost, multiway_cost, time_window
from penstock.plan.multiway import MultiwayJoin, ProbeOrder
from penstock.stats.costs import Costs
from support.plans.common_attribute import (
    FIGURE_3B,
    NAMES,
    TABLE_5,
    TABLE_6,
    TABLE_7,
    Rows,
    common_problem,
    distinct_of,
)
from support.plans.planning import problem_of, query_of


def comparisons(rows: Rows, order: Sequence[str]) -> float:
    windows = {n: time_window(r[0], r[1]) for n, r in zip(NAMES, rows, strict=True)}
    return multiway_cost(windows, order, common_attribute(distinct_of(rows)))


def global_order(orders: Sequence[ProbeOrder]) -> tuple[str, ...]:
    """The one order from which all the streams' own orders follow."""
    (found,) = (
        order
        for order in permutations(NAMES)
        if order[0] == orders[NAMES.index(order[1])].targets[0]
        and all(o.targets == tuple(n for n in order if n != o.driver) for o in orders)
    )
    return found


def names(digits: str) -> tuple[str, ...]:
    return tuple(f"S{digit}" for digit in digits)


@pytest.mark.parametrize(
    ("rows", "plain", "plain_cost", "moved", "moved_cost"),
    [
        (TABLE_5, "1234", 16_000, "1234", 16_000),
        (TABLE_6, "2341", 248_450, "2134", 80_400),
        (TABLE_7, "3412", 49_542, "3142", 47_977),
    ],
)
def test_tables_5_to_7(
    rows: Rows, plain: str, plain_cost: float, moved: str, moved_cost: float
) -> None:
    problem = common_problem(rows)
    first = descending_selectivity(problem, "nested")
    assert global_order(first) == names(plain)
    assert comparisons(rows, names(plain)) == pytest.approx(plain_cost, abs=0.5)
    second = augmented(problem, "nested")
    assert global_order(second) == names(moved)
    assert comparisons(rows, names(moved)) == pytest.approx(moved_cost, abs=0.5)
    costs = [comparisons(rows, order) for order in permutations(NAMES)]
    assert comparisons(rows, names(moved)) == pytest.approx(min(costs))


@pytest.mark.parametrize("rows", [TABLE_5, TABLE_6, TABLE_7])
def test_the_planner_counts_comparisons_as_the_paper_does(rows: Rows) -> None:
    problem = common_problem(rows)
    plan = MultiwayJoin(problem.query, augmented(problem, "nested"))
    load = value(load_of(problem, plan), [1.0] * 4)
    assert load == pytest.approx(comparisons(rows, global_order(plan.orders)))


def general_costs(rows: Rows, tau: float, loops: Mapping[str, Sequence[str]]) -> dict[str, float]:
    windows = {n: time_window(r[0], r[1]) for n, r in zip(NAMES, rows, strict=True)}
    match = common_attribute(distinct_of(rows))
    return {n: driver_cost(windows, order, n, match, tau) for n, order in loops.items()}


def loops_of(order: ProbeOrder) -> tuple[str, ...]:
    place = order.position
    return (*order.targets[:place], order.driver, *order.targets[place:])


@pytest.mark.parametrize("tau", [1.0, 5.0, 20.0, 50.0])
@pytest.mark.parametrize("rows", [TABLE_5, TABLE_7, FIGURE_3B])
def test_general_lazy_is_as_good_as_any_order_of_the_lazy_join(rows: Rows, tau: float) -> None:
    orders = general_lazy(common_problem(rows), tau)
    found = general_costs(rows, tau, {o.driver: loops_of(o) for o in orders})
    for driver in NAMES:
        first = [(driver, *rest) for rest in permutations(n for n in NAMES if n != driver)]
        lazy = [general_costs(rows, tau, {driver: order})[driver] for order in first]
        assert found[driver] <= min(lazy) * 1.05, driver


def test_many_new_tuples_of_a_fast_stream_come_last() -> None:
    """G&O §4.2: with a large τ S4 is ordered last, with a small one new tuples come first."""
    problem = common_problem(FIGURE_3B)
    *_, fast = general_lazy(problem, 50.0)
    assert (fast.driver, fast.position) == ("S4", 3)
    assert [order.position for order in general_lazy(problem, 0.1)] == [0, 0, 0, 0]


def test_equal_buckets_leave_the_order_and_more_of_them_move_a_window_up() -> None:
    problem = common_problem(TABLE_7)
    alike = by_bucket_size(problem, dict.fromkeys(NAMES, 5))
    assert global_order(alike) == global_order(descending_selectivity(problem))
    assert {probe.method for order in alike for probe in order.probes} == {"hash"}
    uneven = by_bucket_size(problem, {"S1": 100, "S2": 1, "S3": 1, "S4": 1})
    assert global_order(uneven)[0] == "S1"


def test_hashed_windows_are_innermost() -> None:
    for order in hashed_innermost(common_problem(TABLE_5), {"S1", "S2"}):
        methods = [probe.method for probe in order.probes]
        assert methods == sorted(methods, key=["nested", "hash"].index)
        assert {p.target for p in order.probes if p.method == "hash"} == {"S1", "S2"} - {
            order.driver
        }


def chain_problem() -> Problem:
    query = query_of(
        "SELECT A.b FROM A [ROWS 100], B [ROWS 100], C [ROWS 100], D [ROWS 100] "
        "WHERE A.b = B.a AND B.c = C.b AND B.d = D.b",
        {"A": "b", "B": "a c d", "C": "b", "D": "b"},
    )
    rates = {"A": 1.0, "B": 1.0, "C": 200.0, "D": 1.0}
    selectivity = {"A B": 0.5, "B C": 0.4, "B D": 0.01}
    return problem_of(query, rates, selectivity, Costs("declared", probe=1.0, compare=1.0))


def test_different_attributes_follow_the_join_graph() -> None:
    problem = chain_problem()
    orders = {order.driver: order.targets for order in descending_selectivity(problem)}
    assert orders == {
        "A": ("B", "D", "C"),
        "B": ("D", "C", "A"),
        "C": ("B", "D", "A"),
        "D": ("B", "C", "A"),
    }
    methods = {p.method for order in descending_selectivity(problem) for p in order.probes}
    assert methods == {"sorted"}


@pytest.mark.parametrize("rows", [TABLE_5, TABLE_6, TABLE_7])
def test_the_rules_come_close_to_the_search(rows: Rows) -> None:
    problem = common_problem(rows, Costs("declared", probe=1.0, compare=1.0))
    ones = [1.0] * 4
    plan = MultiwayJoin(problem.query, augmented(problem))
    best = value(load_of(problem, best_orders(problem)), ones)
    assert best <= value(load_of(problem, plan), ones) * (1 + 1e-9)
    assert value(load_of(problem, plan), ones) <= 1.5 * best


def test_moving_up_never_costs_more() -> None:
    problem = chain_problem()
    loads = [
        value(load_of(problem, MultiwayJoin(problem.query, orders)), [1.0] * 4)
        for orders in (augmented(problem), descending_selectivity(problem))
    ]
    assert loads[0] <= loads[1]

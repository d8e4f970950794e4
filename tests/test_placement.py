"""Expensive filters wait for the results where that is cheaper, and change no result."""

from __future__ import annotations

from dataclasses import replace

import pytest
from planning import problem_of, query_of

from penstock.optimize.planner import Wishes, decide
from penstock.optimize.problem import Problem
from penstock.stats.costs import Costs


def slow_filter(cost: float, selectivity: float) -> Problem:
    query = query_of(
        "SELECT A.k FROM A [RANGE 10 SECONDS], B [RANGE 10 SECONDS] WHERE A.k = B.k AND A.v > 3",
        {"A": "k v", "B": "k"},
    )
    (condition,) = map(str, query.filters)
    return problem_of(
        query,
        {"A": 1000.0, "B": 1000.0},
        {"A B": 1e-7},
        Costs("declared", join=1e-6),
        {condition: (selectivity, cost)},
    )


def test_a_slow_filter_waits_for_a_rare_join() -> None:
    """1,000 tuples/s at 0.5 ms are half a second of work; the join leaves two results/s."""
    problem = slow_filter(cost=5e-4, selectivity=0.5)
    decision = decide(problem.known)
    assert decision.plan.query.filters == ()
    assert decision.plan.query.thetas == problem.query.filters
    assert decision.chosen.estimate.utilisation == pytest.approx(0.002 + 2 * 5e-4)
    assert decision.chosen.estimate.output_rate == pytest.approx(1.0)


def test_it_comes_first_where_it_spares_more() -> None:
    for problem in (slow_filter(1e-6, 0.5), slow_filter(2e-5, 0.5)):
        dense = problem.known.groups[0]
        known = problem.known
        if known.conditions[str(problem.query.filters[0])].cost.value > 1e-5:
            crowded = {k: replace(figure, value=0.01) for k, figure in dense.items()}
            known = replace(known, groups=(crowded,))
        assert decide(known).plan.query.filters == problem.query.filters


def test_the_switch_keeps_filters_first() -> None:
    problem = slow_filter(cost=5e-4, selectivity=0.5)
    decision = decide(problem.known, Wishes(off=frozenset({"late-filters"})))
    assert decision.plan.query.filters == problem.query.filters
    assert decision.chosen.estimate.utilisation == pytest.approx(0.5 + 0.0015)

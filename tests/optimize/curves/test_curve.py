"""Results over time of plans on one server."""

from __future__ import annotations

import pytest

from penstock.optimize.curves.curve import curve_of
from penstock.optimize.joins.probe_search import best_orders
from penstock.optimize.model.problem import Problem
from penstock.stats.costs import Costs
from support.plans.planning import problem_of, query_of


def pair(window: str, join: float, capacity: float = 1.0) -> Problem:
    query = query_of(
        f"SELECT A.k FROM A [{window}], B [{window}] WHERE A.k = B.k", {"A": "k", "B": "k"}
    )
    return problem_of(
        query, {"A": 10.0, "B": 10.0}, {"A B": 1.0}, Costs("declared", join=join), capacity=capacity
    )


def test_all_pairs_of_endless_windows() -> None:
    """V&N: rates 10 and 10, f = 1, t = 10: there are 10,000 pairs."""
    problem = pair("UNBOUNDED", 1e-6)
    curve = curve_of(problem, best_orders(problem), 10.0)
    assert curve.results(10.0) == pytest.approx(10_000, rel=1e-3)
    assert curve.time_of(2_500) == pytest.approx(5.0, rel=1e-3)
    assert curve.time_of(10_001) is None


def test_windows_fill_and_stay_full() -> None:
    problem = pair("RANGE 2 SECONDS", 1e-6)
    curve = curve_of(problem, best_orders(problem), 12.0)
    # Full windows of 20: 2 · 10 · 20 = 400/s; the first two seconds give half of that.
    assert curve.results(12.0) == pytest.approx(400 * 10 + 400, rel=1e-3)


def test_an_overloaded_server_falls_behind() -> None:
    """20 arrivals/s of 0.1 s each: twice what it can do, so that all is there in twice the time."""
    problem = pair("RANGE 2 SECONDS", 0.1)
    curve = curve_of(problem, best_orders(problem), 10.0)
    assert curve.times[-1] == pytest.approx(20.0, rel=1e-3)
    assert curve.time_of(curve.total) == pytest.approx(20.0, rel=1e-3)
    twice = curve_of(pair("RANGE 2 SECONDS", 0.1, capacity=2.0), best_orders(problem), 10.0)
    assert twice.times[-1] == pytest.approx(10.0, rel=1e-3)


def test_kept_fractions_shrink_both_stream_and_window() -> None:
    problem = pair("RANGE 2 SECONDS", 1e-6)
    whole = curve_of(problem, best_orders(problem), 10.0)
    half = curve_of(problem, best_orders(problem), 10.0, kept=(0.5, 0.5))
    assert half.total == pytest.approx(whole.total / 4, rel=1e-6)

"""Costs per side of a join (A&N Eq. 7 and 8): the model, the plan that changes, and runs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from penstock.calibration.planned_clock import as_planned, own_costs, window_charges
from penstock.experiments.setting.streams import Stream, tuples_of
from penstock.figure import Figure
from penstock.lab.clock import SimulatedClock
from penstock.lab.laboratory import run
from penstock.lab.schedule import Eager
from penstock.optimize.estimate import needed_by
from penstock.optimize.model.problem import Problem
from penstock.optimize.options import PlanOptions
from penstock.optimize.planner import decide
from penstock.papers.sliding_windows import Flow, SideCosts, asymmetric_join_cost
from penstock.plan.explain import explain
from penstock.plan.plan import Plan
from penstock.plan.text.parse import forced_plan, render_plan
from penstock.stats.costs import Costs, WindowCosts
from support.plans.planning import problem_of, query_of

COSTS = Costs("declared", insert=2e-4, probe=3e-4, expire=1e-4)
RATES = {"A": 10.0, "B": 20.0, "C": 30.0}


def window(insert: float, probe: float, expire: float) -> WindowCosts:
    return WindowCosts(*(Figure(seconds, "declared") for seconds in (insert, probe, expire)))


def two(windows: dict[str, WindowCosts]) -> Problem:
    query = query_of(
        "SELECT A.k FROM A [ROWS 20], B [ROWS 20] WHERE A.k = B.k", {"A": "k", "B": "k"}
    )
    rates = {alias: RATES[alias] for alias in "AB"}
    problem = problem_of(query, rates, {"A B": 0.1}, COSTS)
    return Problem(query, replace(problem.known, windows=windows))


def three(windows: dict[str, WindowCosts]) -> Problem:
    """Equal but for their rates: the plan is decided by what their windows cost."""
    query = query_of(
        "SELECT A.k FROM A [ROWS 20], B [ROWS 20], C [ROWS 20] WHERE A.k = B.k AND B.l = C.l",
        {"A": "k", "B": "k l", "C": "l"},
    )
    problem = problem_of(query, RATES, {"A B": 0.1, "B C": 0.1}, COSTS)
    return Problem(query, replace(problem.known, windows=windows))


@pytest.mark.parametrize("text", ["(A B)", "A: B; B: A"])
def test_a_join_of_two_costs_what_equation_8_says(text: str) -> None:
    problem = two({"A": window(1e-3, 2e-3, 3e-3), "B": window(4e-3, 5e-3, 6e-3)})
    left, right = (Flow(RATES[alias], 20.0) for alias in "AB")
    sides = SideCosts(2e-3, 1e-3, 3e-3), SideCosts(5e-3, 4e-3, 6e-3)
    cost = asymmetric_join_cost(left, right, *sides)
    assert needed_by(problem, forced_plan(problem.query, text)) == pytest.approx(cost)


def test_a_cost_that_is_not_given_is_that_of_all_windows() -> None:
    problem = two({"A": WindowCosts(probe=Figure(2e-3, "declared"))})
    usual = needed_by(two({}), forced_plan(problem.query, "(A B)"))
    cost = needed_by(problem, forced_plan(problem.query, "(A B)"))
    assert cost - usual == pytest.approx(RATES["B"] * (2e-3 - 3e-4))


def chosen(windows: dict[str, WindowCosts], kind: str) -> str:
    problem = three(windows)
    decision = decide(problem.known, PlanOptions(kinds=frozenset({kind})))
    return render_plan(decision.plan)


def test_the_best_tree_changes_with_the_costs_of_one_side() -> None:
    """Whoever comes last is probed by all inner results, so a window that is dear to probe is not
    last; and the same costs for all windows change nothing."""
    assert chosen({}, "tree") == "((A B) C)"
    assert chosen({alias: window(2e-4, 3e-4, 1e-4) for alias in "ABC"}, "tree") == "((A B) C)"
    assert chosen({"C": window(2e-4, 1e-2, 1e-4)}, "tree") == "((B C) A)"


def test_probe_orders_change_too() -> None:
    """What is dear to probe comes first, where a tuple of B finds two partners in each window."""
    assert "B: C A" in chosen({}, "multiway")
    assert "B: A C" in chosen({"A": window(2e-4, 1e-2, 1e-4)}, "multiway")


@pytest.mark.parametrize("text", ["((A B) C)", "((B C) A)", "A: B C; B: C A; C: B A"])
def test_runs_take_what_the_model_says(text: str) -> None:
    """Within a part in thirty: the keys are drawn, and windows fill at first."""
    problem = three({"A": window(1e-3, 5e-3, 0.0), "C": window(0.0, 1e-5, 8e-3)})
    plan = forced_plan(problem.query, text)
    plain = Problem(problem.query, replace(problem.known, windows={}))
    assert used(problem, plan) == pytest.approx(needed_by(problem, plan), rel=0.035)
    assert abs(used(plain, plan) / used(problem, plan) - 1) > 0.1


def used(problem: Problem, plan: Plan) -> float:
    """Busy seconds in a second of a run on the clock that the costs make."""
    known = problem.known
    clock = SimulatedClock(as_planned(known.costs), own=own_costs(known))
    streams = {
        "A": Stream(10.0, {"k": 10}),
        "B": Stream(20.0, {"k": 10, "l": 10}),
        "C": Stream(30.0, {"l": 10}),
    }
    charged = replace(clock, windows=window_charges(known))
    return run(plan, tuples_of(streams, 300.0, seed=1), Eager(), clock=charged).utilization


def test_explain_shows_what_was_used() -> None:
    decision = decide(three({"C": window(2e-4, 1e-2, 1e-4)}).known)
    used = {each.what: each.figure.value for each in decision.statistics}
    assert used["cost of probe of C"] == 1e-2
    assert used["cost of probe"] == 3e-4
    assert "cost of probe of C" in explain(decision)

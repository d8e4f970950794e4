"""Searches for goals over time find what looking at all trees finds, and V&N's own figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from math import inf
from random import Random
from statistics import median

import numpy as np
import pytest

from penstock.cql import parse
from penstock.figure import Figure
from penstock.optimize.curves.curve import curve_of, results_curve
from penstock.optimize.curves.reach import ideal_time
from penstock.optimize.curves.totals import totals_at_once, totals_by
from penstock.optimize.estimate import estimate, needed_by
from penstock.optimize.joins.cardinality import CardinalitySearch, cardinality_cost
from penstock.optimize.joins.enumerate import all_trees
from penstock.optimize.joins.goal_search import METRICS, GoalSearch, Metric
from penstock.optimize.joins.rate_search import goal_trees
from penstock.optimize.model.problem import Problem
from penstock.optimize.model.work import (
    arrival_seconds,
    candidate_seconds,
    handling_seconds,
    keep_seconds,
)
from penstock.optimize.options import PlanOptions, Servers
from penstock.optimize.planner import decide
from penstock.papers.rate_based import ArrivalCosts, local_rate, local_time, needed_inputs
from penstock.plan.tree import Branch, Leaf, Node, TreeJoin, branches, is_left_deep, leaves
from penstock.query import Query
from penstock.query.goal import By, First, Goal
from penstock.stats.costs import Costs
from penstock.stats.guess import complete
from support.plans.planning import priced, problem_of, query_of, random_problem


def busy_problem(seed: int, size: int, servers: Servers = "shared") -> Problem:
    """A random problem with expensive equalities, half the time of streams that end, for which
    there is about as much capacity as a middling tree needs."""
    rng = Random(seed)
    problem = priced(random_problem(seed, size), seed)
    works = sorted(needed_by(problem, TreeJoin(problem.query, t)) for t in all_trees(problem))
    rates = problem.known.rates
    ends = {a: _declared(rate.value * rng.uniform(20, 200)) for a, rate in rates.items()}
    known = replace(
        problem.known,
        capacity=_declared(works[len(works) // 2] * rng.uniform(0.2, 1.2)),
        cardinalities=ends if seed % 2 else {},
    )
    return Problem(problem.query, known, servers=servers)


def _declared(value: float) -> Figure:
    return Figure(value, "declared")


# ── totals ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("seed", range(6))
def test_totals_are_the_results_by_then(seed: int) -> None:
    problem = busy_problem(seed, 4)
    for seconds in (0.5, 7.0, 90.0):
        total = totals_by(problem, seconds).results[problem.everything]
        assert total == pytest.approx(results_curve(problem, seconds).total, rel=1e-6)


def test_all_tuples_at_once_are_products() -> None:
    problem = busy_problem(1, 3)
    sizes = [problem.known.cardinalities[alias].value for alias in "ABC"]
    totals = totals_at_once(problem)
    assert totals.met[problem.everything] == pytest.approx(np.prod(sizes))
    assert totals.results[1] == pytest.approx(sizes[0])


# ── the metrics ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("seed", range(24))
def test_each_metric_is_best_among_all_trees(seed: int) -> None:
    problem = busy_problem(seed, 3 + seed % 3)
    seconds, share = Random(seed).uniform(1, 100), (1.0, 0.25)[seed % 2]
    totals = totals_by(problem, seconds)
    for is_bushy in (True, False):
        search = GoalSearch(totals, is_bushy, share=share)
        for metric in METRICS:
            found = search.best(metric)
            assert found is not None
            among = [t for t in all_trees(problem) if is_bushy or is_left_deep(t)]
            assert found in among
            values = [value_of(search, metric, tree) for tree in among]
            least = max(values) if metric == "rate" else min(values)
            assert search.value(metric) == pytest.approx(least, rel=1e-6)
            assert value_of(search, metric, found) == pytest.approx(least, rel=1e-6)


def value_of(search: GoalSearch, metric: Metric, tree: Node) -> float:
    """The value of one tree, from its joins one by one."""
    match metric:
        case "work":
            return sum(work_of(search, branch) for branch in branches(tree))
        case "rate":
            return rate_of(search, tree)
    return time_of(search, tree, search.share)


def parts_of(search: GoalSearch, branch: Branch) -> tuple[float, float, float]:
    """Seconds for all rows of either side, and for all candidates."""
    problem, totals = search.problem, search.totals
    left, right = problem.mask(leaves(branch.left)), problem.mask(leaves(branch.right))
    each = arrival_seconds(problem, branch.method) + handling_seconds(problem, left, right)
    one, other = (
        float(totals.results[mine])
        * (each + keep_seconds(problem, mine) + problem.sides.arrival(mine, theirs))
        for mine, theirs in ((left, right), (right, left))
    )
    candidate = candidate_seconds(problem, left, right, problem.shared_key(left, right))
    return one, other, float(totals.met[left | right]) * candidate


def work_of(search: GoalSearch, branch: Branch) -> float:
    return sum(parts_of(search, branch))


def rate_of(search: GoalSearch, tree: Node) -> float:
    """The part of the results that is left where joins below are too slow."""
    if isinstance(tree, Leaf):
        return 1.0
    left, right = rate_of(search, tree.left), rate_of(search, tree.right)
    one, other, both = parts_of(search, tree)
    there_is = search.totals.seconds * search.problem.known.capacity.value
    load = (left * one + right * other + left * right * both) / there_is
    return left * right / max(1.0, load)


def time_of(search: GoalSearch, tree: Node, share: float) -> float:
    problem, totals = search.problem, search.totals
    if isinstance(tree, Leaf):
        flow = problem.inputs[problem.places[tree.alias]]
        return share * float(totals.results[problem.mask([tree.alias])]) / flow.rate
    load = work_of(search, tree) / (totals.seconds * problem.known.capacity.value)
    own = share * totals.seconds * max(1.0, load)
    return max(own, *(time_of(search, side, share**0.5) for side in (tree.left, tree.right)))


def test_the_heuristics_are_the_papers() -> None:
    """Without windows and ends, Eq. 2 at half the time in each join, combined upwards; and needed
    results pushed down, the slowest part deciding."""
    problem = three(0.05)
    costs, seconds = ArrivalCosts(0.05, 0.05), 10.0
    search = GoalSearch(totals_by(problem, seconds / 2))
    lower = local_rate(10.0, 10.0, 0.01, seconds, costs)
    upper = local_rate(lower, 10.0, 0.1, seconds, costs)
    ideal = float(search.totals.results[problem.everything]) / (seconds / 2)
    assert rate_of(search, shape(problem, "AB")) * ideal == pytest.approx(upper)

    wanted = GoalSearch(totals_by(problem, seconds), share=0.25)
    total = float(wanted.totals.results[problem.everything])
    inner = float(wanted.totals.results[problem.mask("AB")])
    below, _ = needed_inputs(0.25 * total, 0.1, inner, 100.0)
    rate = local_rate(10.0, 10.0, 0.01, 2 * seconds, costs)
    at_top = local_rate(inner / seconds, 10.0, 0.1, 2 * seconds, costs)
    late = local_time(0.25 * total, at_top, local_time(below, rate, 0.25**0.25 * seconds))
    assert time_of(wanted, shape(problem, "AB"), 0.25) == pytest.approx(max(late, 0.5 * seconds))


def three(join: float) -> Problem:
    query = query_of(
        "SELECT A.k FROM A [UNBOUNDED], B [UNBOUNDED], C [UNBOUNDED] WHERE A.k = B.k AND A.l = C.l",
        dict.fromkeys("ABC", "k l"),
    )
    rates = dict.fromkeys("ABC", 10.0)
    costs = Costs("declared", join=join)
    return problem_of(query, rates, {"A B": 0.01, "A C": 0.1}, costs, horizon=10.0)


def shape(problem: Problem, lower: str) -> Node:
    """The tree that joins these inputs first."""
    return next(
        t for t in all_trees(problem) if any(set(leaves(b)) == set(lower) for b in branches(t))
    )


def test_rate_maximization_spares_an_overloaded_join() -> None:
    """The join that yields less goes lower where the upper one could not take what the other
    yields: 60 arrivals/s of 50 ms are three times what it can do."""
    problem = three(0.05)
    assert GoalSearch(totals_by(problem, 5.0)).best("rate") == shape(problem, "AB")


# ── the trees that are proposed ───────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("servers", ["shared", "each"])
def test_proposals_are_nearly_as_good_as_the_best_of_all_trees(servers: Servers) -> None:
    regrets = []
    for seed in range(12):
        problem = busy_problem(seed, 3 + seed % 3, servers)
        seconds = Random(seed).uniform(5, 60)
        most = results_curve(problem, seconds).total
        goals: list[Goal] = [By(seconds), *([First(int(most / 2))] if most > 4 else [])]
        regrets += [regret(problem, goal) for goal in goals]
    assert median(regrets) == pytest.approx(1.0, abs=1e-6)
    assert sorted(regrets)[int(0.9 * len(regrets))] < 1.01
    assert max(regrets) < 1.2


def regret(problem: Problem, goal: Goal) -> float:
    """How many times as late, or as few results, as the best of all trees."""
    proposed = [tree for tree, _ in goal_trees(problem, goal, bushy=True, products=True) if tree]
    lateness = partial(late, problem, goal)
    best = min(map(lateness, all_trees(problem)))
    return min(map(lateness, proposed)) / best if best else 1.0


def late(problem: Problem, goal: Goal, tree: Node) -> float:
    found = estimate(problem, TreeJoin(problem.query, tree), goal, sheds=False).measure
    if isinstance(goal, First):
        return inf if found is None else found
    return 1.0 / max(found or 0.0, 1e-9)


def test_the_ideal_time_is_that_of_a_machine_without_limits() -> None:
    problem = busy_problem(3, 3)
    ample = Problem(problem.query, replace(problem.known, capacity=_declared(1e9)))
    most = results_curve(problem, 20.0).total
    tree = next(all_trees(problem))
    curve = curve_of(ample, TreeJoin(problem.query, tree), 20.0)
    assert ideal_time(problem, most / 3) == pytest.approx(curve.time_of(most / 3), rel=1e-3)


# ── many inputs ───────────────────────────────────────────────────────────────────────────────────


def many(names: Iterable[str], where: Callable[[int], str]) -> Query:
    names = list(names)
    streams = "".join(
        f"CREATE STREAM {name} ({', '.join(f'c{k} BIGINT' for k in range(16))}, ts TIMESTAMP) "
        f"WITH (format='synthetic', rate={10 * (i + 1)}, timestamp='ts');\n"
        for i, name in enumerate(names)
    )
    froms = ", ".join(f"{name} [RANGE 10 SECONDS]" for name in names)
    links = " AND ".join(where(i) for i in range(1, len(names)))
    return parse(f"{streams}SELECT S0.c0 AS a FROM {froms} WHERE {links}")


@pytest.mark.parametrize(
    "where",
    [lambda i: f"S{i - 1}.c{i} = S{i}.c{i}", lambda i: f"S0.c{i} = S{i}.c{i}"],
    ids=["chain", "star"],
)
@pytest.mark.parametrize("goal", [By(20.0), First(1)])
def test_fifteen_inputs_have_a_plan_for_a_goal(where: Callable[[int], str], goal: Goal) -> None:
    known = complete(many((f"S{i}" for i in range(15)), where))
    decision = decide(known, PlanOptions(goal=goal, kinds=frozenset({"tree"})))
    tree = decision.plan
    assert isinstance(tree, TreeJoin)
    assert sorted(leaves(tree.root)) == sorted(known.query.aliases)
    found_by = {name for each in (decision.chosen, *decision.others) for name in each.found_by}
    assert {"local rate maximization", "local time minimization"} <= found_by
    assert not any("only the trees" in note for note in decision.notes)


def test_a_key_that_fifteen_share_is_searched_for_little_work_and_said() -> None:
    known = complete(many((f"S{i}" for i in range(15)), lambda i: f"S0.c0 = S{i}.c0"))
    decision = decide(known, PlanOptions(goal=By(20.0)))
    assert any("only the trees of little work" in note for note in decision.notes)


# ── by cardinalities ──────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("seed", range(20))
def test_the_least_cost_by_cardinalities_is_found(seed: int) -> None:
    problem = busy_problem(seed, 3 + seed % 3)
    costs = {
        tree: cardinality_cost(problem, TreeJoin(problem.query, tree))
        for tree in all_trees(problem)
    }
    found = CardinalitySearch(problem).best()
    assert costs[found] == pytest.approx(min(costs.values()), rel=1e-9)

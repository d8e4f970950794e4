"""From training tuples to a mesh: routes, classifiers, searches, and when one route is enough."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import permutations
from math import inf, nan

import numpy as np
import pytest

from penstock.errors import PlanError, StatsError
from penstock.optimize.mesh.check import GAIN_MARGIN
from penstock.optimize.mesh.classifier import takes
from penstock.optimize.mesh.problem import MeshFigures, MeshProblem, Route
from penstock.optimize.mesh.route import EXACT_OPERATORS, RouteSearch
from penstock.optimize.mesh.search import Stop, all_partitions, search
from penstock.optimize.mesh.solve import Solution, solve
from penstock.optimize.mesh.space import MeshSpace
from penstock.optimize.mesh.stages import stages_of
from penstock.papers.query_mesh import mesh_cost, partitions, route_costs
from penstock.plan.mesh import Goes, Split, splits
from penstock.plan.mesh_search import STARTS, Start, Strategy
from penstock.plan.multiway import Probe
from penstock.stats.training import Training, Value

ANY_TIME = (0,)
CASES = 60


def figures(
    size: int,
    level: float = 1e-3,
    overhead: float = 1e-3,
    after: Sequence[tuple[int, ...]] | None = None,
) -> MeshFigures:
    """Operators that each take a second for a row that comes in."""
    waits = tuple(after) if after is not None else (ANY_TIME,) * size
    return MeshFigures((1.0,) * size, (0.0,) * size, waits, level, overhead)


def training(
    yields: Sequence[Sequence[float]],
    weights: Sequence[float] | None = None,
    **attributes: Sequence[Value],
) -> Training:
    """Tuples of S, equally frequent unless weights are given."""
    count, size = len(yields), len(yields[0]) if yields else 3
    return Training(
        "S",
        tuple(attributes),
        tuple(zip(*attributes.values(), strict=True)) if attributes else ((),) * count,
        tuple(weights) if weights is not None else (1 / count,) * count if count else (),
        tuple(f"O{k}" for k in range(size)),
        tuple(tuple(row) for row in yields),
    )


def probes(size: int) -> tuple[Probe, ...]:
    return tuple(Probe(f"O{k}", "sorted") for k in range(size))


def solved(tuples: Training, costs: MeshFigures | None = None, **options: object) -> Solution:
    size = len(tuples.operators)
    return solve(tuples, probes(size), costs or figures(size), **options)  # type: ignore[arg-type]


def orders(solution: Solution) -> list[Route]:
    """The routes by the numbers of their operators."""
    return [
        tuple(int(o.target[1:]) for o in route.operators if isinstance(o, Probe))
        for route in solution.mesh.routes
        if all(isinstance(operator, Probe) for operator in route.operators)
    ]


def given(solution: Solution, tuples: Training) -> list[Route]:
    """The order that each training tuple is sent on."""
    routes = orders(solution)
    fork = solution.mesh.classifier
    return [routes[takes(fork, tuples.attributes, row)] for row in tuples.values]


OPPOSITE = ((0.1, 0.5, 0.9), (0.5, 0.9, 0.1), (0.9, 0.1, 0.5))
"""Yields of three kinds of tuples with opposite best orders."""
BEST = ((0, 1, 2), (2, 0, 1), (1, 2, 0))


def three_kinds(count: int, seed: int = 0, noise: float = 0.0) -> tuple[Training, list[int]]:
    """Tuples whose kind a number tells, beside one that tells nothing; and their kinds."""
    random = np.random.default_rng(seed)
    kinds = random.integers(3, size=count).tolist()
    spread = np.exp(random.normal(0.0, noise, (count, 3)))
    yields = np.array([OPPOSITE[kind] for kind in kinds]) * spread
    tells = [10.0 * kind + random.random() for kind in kinds]
    return training(yields.tolist(), tells=tells, idle=random.random(count).tolist()), kinds


# Cost.


def test_bell_numbers_of_equation_1() -> None:
    assert [partitions(n) for n in range(9)] == [1, 1, 2, 5, 15, 52, 203, 877, 4140]
    assert partitions(6) == len({tuple(labels) for labels in all_partitions(6)})


def test_route_costs_by_hand() -> None:
    yields = np.array([[0.5, 2.0], [1.0, 0.0]])
    enter, leave = np.array([3.0, 5.0]), np.array([0.1, 0.2])
    # First tuple, O1 then O0: 5·1 + 0.2·2, then 3·2 + 0.1·1; the second: 5, then nothing is left.
    assert route_costs(yields, (1, 0), enter, leave) == pytest.approx([11.5, 5.0])
    assert route_costs(yields, (0, 1), enter, leave) == pytest.approx([5.75, 8.1])


def test_equation_2_by_hand() -> None:
    cost = mesh_cost(np.array([0.25, 0.75]), np.array([4.0, 2.0]), np.array([0.2, 0.1]), 2, 0.5)
    assert cost == pytest.approx(0.25 * 4.2 + 0.75 * 2.1 + 1.0)


def test_a_mesh_costs_what_its_tree_does() -> None:
    """Tuples that the tree sends wrong pay for it, and every level of it counts (Eq. 2)."""
    tuples = training([(0.1, 0.9), (0.9, 0.1), (0.1, 0.9)], (0.5, 0.4, 0.1), x=(1.0, 2.0, 2.0))
    space = MeshSpace(MeshProblem(tuples, figures(2, level=0.01, overhead=0.02)))
    found = space.candidate(np.array([0, 1, 0]))
    # The third tuple has the content of the second: it takes O1 first.
    assert found.cost == pytest.approx(0.5 * 1.1 + 0.4 * 1.1 + 0.1 * 1.9 + 0.01 + 2 * 0.02)


# Routes.


def cheapest(problem: MeshProblem, members: np.ndarray) -> float:
    """The cost of the best of all orders that are allowed."""
    weights = problem.weights * members
    return min(
        float(weights @ problem.costs(route))
        for route in permutations(range(problem.size))
        if all(
            problem.figures.allows(k, sum(1 << done for done in route[:place]))
            for place, k in enumerate(route)
        )
    )


def random_problem(random: np.random.Generator, count: int, size: int) -> MeshProblem:
    """Any tuples; operators that wait for one or the other of those before them."""
    yields = random.uniform(0.05, 1.6, (count, size))
    weights = random.dirichlet(np.ones(count))
    waits = tuple(
        tuple({int(random.integers(1 << k)) for _ in range(2)}) if random.integers(2) else ANY_TIME
        for k in range(size)
    )
    costs = MeshFigures(
        tuple(random.uniform(0.2, 2.0, size)), tuple(random.uniform(0.0, 0.5, size)), waits, 0, 0
    )
    x = random.random(count).tolist()
    return MeshProblem(training(yields.tolist(), weights.tolist(), x=x), costs)


@pytest.mark.parametrize("seed", range(30))
def test_the_best_route_is_the_best_of_all_orders(seed: int) -> None:
    random = np.random.default_rng(seed)
    problem = random_problem(random, 5, int(random.integers(1, 6)))
    routes = RouteSearch(problem)
    members = np.append(random.integers(2, size=4), 1).astype(np.bool_)
    cost = float((problem.weights * members) @ problem.costs(routes.best([members])[0]))
    assert cost == pytest.approx(cheapest(problem, members))
    for t, route in enumerate(routes.best_of_each()):
        alone = np.arange(5) == t
        assert problem.weights[t] * problem.costs(route)[t] == pytest.approx(
            cheapest(problem, alone)
        )


def test_of_equal_orders_the_operators_own_stays() -> None:
    problem = MeshProblem(training([(0.5, 0.5, 0.5)], x=(1.0,)), figures(3))
    assert RouteSearch(problem).best([np.array([True])])[0] == (0, 1, 2)


def test_many_operators_are_ordered_by_rank() -> None:
    size = EXACT_OPERATORS + 2
    yields = np.linspace(0.9, 0.2, size)
    waits = (*(ANY_TIME for _ in range(size - 1)), (0b11,))
    problem = MeshProblem(training([yields.tolist()], x=(1.0,)), figures(size, after=waits))
    by_rank = tuple(reversed(range(size - 1)))
    assert RouteSearch(problem).best([np.array([True])])[0] == (*by_rank, size - 1)
    assert RouteSearch(problem).best_of_each() == [(*by_rank, size - 1)]


def test_operators_that_wait_for_each_other_are_refused() -> None:
    tuples = training([(0.5, 0.5)], x=(1.0,))
    with pytest.raises(PlanError, match="no order of the operators of S leads"):
        solved(tuples, figures(2, after=((0b10,), (0b01,))))


# Classifiers.


def test_a_tree_gives_separable_tuples_their_routes() -> None:
    tuples, kinds = three_kinds(60)
    solution = solved(tuples)
    assert given(solution, tuples) == [BEST[kind] for kind in kinds]
    assert len(list(splits(solution.mesh.classifier))) == 2
    assert {split.attribute for split in splits(solution.mesh.classifier)} == {"tells"}
    assert solution.reason is None


def test_texts_are_tested_as_sets_and_unseen_ones_fail() -> None:
    kinds = [0, 1, 2] * 4
    names = (
        "ford",
        "apple",
        "gap",
        "fiat",
        "intel",
        "zara",
        "vw",
        "amd",
        "h&m",
        "bmw",
        "ibm",
        "c&a",
    )
    tuples = training([OPPOSITE[kind] for kind in kinds], company=names)
    solution = solved(tuples)
    assert given(solution, tuples) == [BEST[kind] for kind in kinds]
    sets = [split.values for split in splits(solution.mesh.classifier)]
    groups = [frozenset(names[kind::3]) for kind in range(3)]
    assert len(sets) == 2
    assert all(values in groups for values in sets)
    fork = solution.mesh.classifier
    assert isinstance(fork, Split)
    assert takes(fork, ("company",), ("never seen",)) == takes(fork.failed, ("company",), ("?",))


@pytest.mark.parametrize(
    "values",
    [
        (1.0, 2.0, None, None),
        (5.0, 5.0, nan, None),
        ("a", "b", None, None),
        (None, None, 1.0, 2.0),
        (None, None, "a", "b"),
        ("", "", None, None),
    ],
)
def test_null_is_told_apart_from_values(values: tuple[Value, ...]) -> None:
    tuples = training([OPPOSITE[0], OPPOSITE[0], OPPOSITE[1], OPPOSITE[1]], x=values)
    solution = solved(tuples)
    assert given(solution, tuples) == [BEST[0], BEST[0], BEST[1], BEST[1]]


def test_an_infinite_limit_passes_all_numbers() -> None:
    tuples = training([OPPOSITE[0], OPPOSITE[1]], x=(7.0, None))
    fork = solved(tuples).mesh.classifier
    assert isinstance(fork, Split)
    assert fork.limit == inf


def test_neighbouring_microseconds_are_told_apart() -> None:
    now = 1.7e15
    tuples = training([OPPOSITE[0], OPPOSITE[1]], at=(now, now + 1))
    assert given(solved(tuples), tuples) == [BEST[0], BEST[1]]


@pytest.mark.parametrize("seed", range(10))
def test_a_fork_sends_tuples_where_the_search_counted_them(seed: int) -> None:
    problem = small_problem(seed)
    tuples, space = problem.training, MeshSpace(problem)
    found = search(space, "ii", "route", Stop(rounds=2, plateau=20), seed)
    if found.classifier is not None:
        numbers = {route: route for route in range(len(found.routes))}
        fork = found.classifier.fork(numbers)
        assert [takes(fork, tuples.attributes, row) for row in tuples.values] == list(found.taken)


def test_levels_that_cost_more_than_they_save_are_pruned() -> None:
    tuples, _ = three_kinds(12)
    assert len(solved(tuples, figures(3, level=0.001)).mesh.routes) == 3
    dear = MeshSpace(MeshProblem(tuples, figures(3, level=2.0)))
    assert dear.candidate(np.arange(12)).cost == pytest.approx(dear.single.cost, rel=0.05)
    assert set(dear.candidate(np.arange(12)).taken) != {0, 1, 2}


# Searches.


def small_problem(seed: int) -> MeshProblem:
    """Up to eight tuples of no structure at all, where local minima are many."""
    random = np.random.default_rng(seed)
    count = int(random.integers(2, 9))
    # All partitions of eight tuples with six routes take more than a second.
    size = int(random.integers(2, 4)) if count < 8 else 2
    level, overhead = random.choice((0.001, 0.01, 0.05)), random.choice((0.0, 0.01, 0.05))
    problem = random_problem(random, count, size)
    tuples = training(
        problem.training.yields,
        problem.training.weights,
        few=random.integers(4, size=count).astype(float).tolist(),
        many=random.random(count).tolist(),
        text=random.choice(list("xyz"), count).tolist(),
    )
    costs = replace(
        problem.figures, after=(ANY_TIME,) * size, level=float(level), overhead=float(overhead)
    )
    return MeshProblem(tuples, costs)


@cache
def optimum(seed: int) -> float:
    return search(MeshSpace(small_problem(seed)), "opt", "route", Stop(), 0).cost


@pytest.mark.parametrize("strategy", ["ii", "sa"])
def test_searches_find_the_optimum_of_small_cases(strategy: Strategy) -> None:
    """QM's heuristics against all partitions: at least 95 % hits, the others within 5 %."""
    excess = np.array(
        [
            search(MeshSpace(small_problem(seed)), strategy, "route", Stop(), seed).cost
            / optimum(seed)
            - 1
            for seed in range(CASES)
        ]
    )
    assert excess.min() > -1e-9
    missed = excess[excess > 1e-9]
    assert len(missed) <= 0.05 * CASES
    assert missed.mean() < 0.05 if len(missed) else True


def test_the_optimum_is_the_best_of_all_partitions() -> None:
    """The bounds by which Opt-QM leaves partitions out leave out no better one."""
    for seed in (0, 3, 5, 8, 11):
        problem = small_problem(seed)
        if len(problem.weights) <= 6:
            space = MeshSpace(problem)
            every = [space.candidate(labels).cost for labels in all_partitions(space.size)]
            assert optimum(seed) == pytest.approx(min(every))


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("strategy", ["ii", "sa"])
def test_every_start_leads_to_the_three_routes(start: Start, strategy: Strategy) -> None:
    tuples, kinds = three_kinds(15, seed=1)
    solution = solved(tuples, strategy=strategy, start=start, stop=Stop(rounds=2))
    assert given(solution, tuples) == [BEST[kind] for kind in kinds]


def test_all_partitions_of_many_tuples_are_refused() -> None:
    tuples, _ = three_kinds(11)
    with pytest.raises(PlanError, match="678,570 partitions"):
        solved(tuples, strategy="opt")


def test_without_a_tree_to_grow_the_start_counts() -> None:
    tuples, _ = three_kinds(15)
    assert len(solved(tuples, stop=Stop(trees=0)).mesh.routes) == 3
    assert len(solved(tuples, start="one", stop=Stop(trees=0)).mesh.routes) == 1


def test_a_search_stops_at_its_number_of_parts() -> None:
    tuples, _ = three_kinds(40, noise=0.5)
    space = MeshSpace(MeshProblem(tuples, figures(3)))
    search(space, "ii", "route", Stop(trees=10_000, parts=50), 0)
    assert 50 <= space.parts < 100


def test_a_search_stops_at_its_number_of_trees() -> None:
    tuples, _ = three_kinds(40, noise=0.5)
    space = MeshSpace(MeshProblem(tuples, figures(3)))
    search(space, "ii", "route", Stop(trees=10), 0)
    # The rounds that have begun still settle.
    assert 10 <= space.trees < 20


@pytest.mark.parametrize("strategy", ["ii", "sa"])
def test_the_same_input_gives_the_same_mesh(strategy: Strategy) -> None:
    tuples, _ = three_kinds(30, seed=2, noise=0.4)
    stop = Stop(rounds=2, plateau=20)
    runs = [solved(tuples, strategy=strategy, stop=stop, seed=7) for _ in range(2)]
    assert runs[0] == runs[1]


# Meshes and single routes.


def test_three_opposite_orders_are_found_among_a_hundred_noisy_tuples() -> None:
    tuples, kinds = three_kinds(100, noise=0.1)
    solution = solved(tuples, uncertain=0.0)
    hits = sum(way == BEST[kind] for way, kind in zip(given(solution, tuples), kinds, strict=True))
    assert hits == 100
    assert solution.gain > 0.2
    assert solution.mesh.shares == pytest.approx([kinds.count(k) / 100 for k in _kinds(solution)])


def _kinds(solution: Solution) -> list[int]:
    return [BEST.index(route) for route in orders(solution)]


def test_the_figures_of_a_solution_add_up() -> None:
    tuples, _ = three_kinds(40, seed=3)
    solution = solved(tuples, figures(3, level=0.0, overhead=0.01))
    parts = zip(solution.mesh.shares, solution.route_costs, strict=True)
    whole = sum(share * cost for share, cost in parts) + 0.01 * len(solution.mesh.routes)
    assert solution.cost == pytest.approx(whole)
    assert solution.gain == pytest.approx(1 - solution.cost / solution.single)


def fallback(solution: Solution) -> str:
    assert solution.mesh.classifier == Goes(0)
    assert solution.mesh.shares == pytest.approx((1.0,))
    assert len(solution.mesh.routes) == 1
    assert solution.cost == solution.single
    return solution.reason or ""


def test_uniform_tuples_take_one_route() -> None:
    random = np.random.default_rng(0)
    yields = np.array([0.2, 0.5, 0.8]) * np.exp(random.normal(0, 0.05, (100, 3)))
    tuples = training(yields.tolist(), x=random.random(100).tolist())
    assert "would save" in fallback(solved(tuples))


def test_noise_is_not_taken_for_structure() -> None:
    """Yields that attributes do not tell: a tree fits some of them, but not the ones left out."""
    random = np.random.default_rng(1)
    yields = 0.5 * np.exp(random.normal(0, 0.7, (100, 4)))
    columns = {name: random.random(100).tolist() for name in "abcd"}
    reason = fallback(solved(training(yields.tolist(), **columns)))
    assert "left out of the training" in reason or "margin" in reason


def test_tuples_that_no_attribute_tells_apart_take_one_route() -> None:
    tuples = training(OPPOSITE, x=(1.0, 1.0, 1.0))
    assert fallback(solved(tuples)) == "no attribute tells tuples with different best routes apart"
    assert fallback(solved(training(OPPOSITE))) == fallback(solved(tuples))


def test_a_small_gain_is_within_the_margin() -> None:
    """One tuple in ten would like another order, but another route has its price."""
    tuples = training([(0.1, 0.9), (0.9, 0.1)], (0.9, 0.1), x=(1.0, 2.0))
    reason = fallback(solved(tuples, figures(2, level=0.0, overhead=0.03)))
    # One route: 0.9 · 1.1 + 0.1 · 1.9 + 0.03 = 1.21. Two: 1.1 + 0.06 = 1.16.
    assert reason == f"the gain of {0.05 / 1.21:.1%} is within the margin of {GAIN_MARGIN:.0%}"


def test_a_constant_sample_takes_its_best_route() -> None:
    tuples = training([(0.9, 0.2, 0.5)], x=(1.0,))
    solution = solved(tuples)
    assert "would save 0.0%" in fallback(solution)
    assert orders(solution) == [(1, 2, 0)]


def test_an_empty_sample_takes_the_operators_as_they_come() -> None:
    solution = solved(training([]), figures(3, after=((0b10,), ANY_TIME, ANY_TIME)))
    assert fallback(solution) == "the sample is empty"
    assert orders(solution) == [(1, 0, 2)]


@pytest.mark.parametrize(
    ("tuples", "says"),
    [
        (training([(0.5, 0.5)], x=(1.0,)), "know 2 operators, the costs are of 3"),
        (training([(0.5, -1.0, 0.5)], x=(1.0,)), "no number of rows"),
        (training([(0.5, nan, 0.5)], x=(1.0,)), "no number of rows"),
        (training([(0.5, 0.5, 0.5)], weights=(0.0,), x=(1.0,)), "not parts of a whole"),
    ],
)
def test_figures_that_cannot_be_are_refused(tuples: Training, says: str) -> None:
    with pytest.raises(StatsError, match=says):
        solved(tuples, figures(3))


# Uncertain routes.


def stages(yields: Sequence[float], **options: object) -> tuple[Route, ...]:
    size = len(yields)
    problem = MeshProblem(training([yields], x=(1.0,)), figures(size, **options))  # type: ignore[arg-type]
    route = RouteSearch(problem).best([np.array([True])])[0]
    return stages_of(problem, problem.weights, route)


def test_operators_of_nearly_the_same_cost_share_a_stage() -> None:
    assert stages((0.5, 0.1, 0.505, 0.9)) == ((1,), (0, 2), (3,))


def test_a_stage_is_not_a_chain_of_small_steps() -> None:
    assert stages((0.50, 0.52, 0.54)) == ((0, 1), (2,))


def test_operators_that_wait_for_one_of_a_stage_are_not_in_it() -> None:
    assert stages((0.5, 0.5), after=(ANY_TIME, (0b01,))) == ((0,), (1,))


def test_routes_of_a_solution_have_stages() -> None:
    tuples = training([(0.1, 0.501, 0.5), (0.9, 0.1, 0.5)], x=(1.0, 2.0))
    solution = solved(tuples)
    assert [[len(stage) for stage in route.stages] for route in solution.mesh.routes] in (
        [[1, 2], [1, 1, 1]],
        [[1, 1, 1], [1, 2]],
    )
    assert all(route.is_certain for route in solved(tuples, uncertain=0.0).mesh.routes)

"""Sets to aggregate early that are found greedily: near the best of all, and of many inputs too."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, combinations, pairwise
from random import Random

import pytest

from penstock.optimize.estimate import needed_by
from penstock.optimize.model.problem import Problem
from penstock.optimize.options import PlanOptions
from penstock.optimize.planner import decide
from penstock.optimize.views.early import LATE, SOME_SETS, early_sets
from penstock.optimize.views.greedy_sets import greedy_sets, set_work
from penstock.plan.text.parse import forced_plan, render_plan
from penstock.query import Query
from penstock.stats.files.load import from_data
from penstock.stats.guess import complete
from support.plans.planning import query_of

COLUMNS = "k l g v"


def random_problem(seed: int, inputs: int) -> Problem:
    """Streams joined on one key or in a chain of two, with any rates, keys, groups and windows."""
    rng = Random(f"greedy {seed} {inputs}")
    names = "ABCDEFGH"[:inputs]
    windows = {name: rng.choice((1, 5, 20)) for name in names}
    linked = rng.random() < 0.5
    where = [
        f"{'A.k' if not linked else f'{a}.{key}'} = {b}.{key if linked else 'k'}"
        for number, (a, b) in enumerate(pairwise(names))
        for key in ("k" if number % 2 else "l",)
    ]
    groups = rng.sample(names, rng.choice((0, 1, 2)))
    by = f"GROUP BY {', '.join(f'{name}.g' for name in groups)}" if groups else ""
    shown = [f"{name}.g AS g_{name}" for name in groups]
    inputs_text = ", ".join(f"{n} [RANGE {windows[n]} SECONDS]" for n in names)
    query = query_of(
        f"SELECT {', '.join([*shown, 'COUNT(*) AS n', 'SUM(A.v) AS s'])} FROM {inputs_text} "
        f"WHERE {' AND '.join(where)} {by} EVERY {rng.choice((1, 5))} SECONDS",
        dict.fromkeys(names, COLUMNS),
    )
    return Problem(query, complete(query, from_data({"streams": _figures(rng, query)}, query)))


def _figures(rng: Random, query: Query) -> dict[str, object]:
    keys = rng.choice((20, 300, 3000))
    return {
        alias: {
            "rate": rng.choice((10, 100, 1000)),
            "distinct": {
                "k": keys,
                "l": rng.choice((keys, 10 * keys)),
                "g": rng.choice((1, 30, 1000)),
            },
        }
        for alias in query.aliases
    }


@pytest.mark.parametrize("inputs", [4, 5])
def test_greedy_is_near_the_best_of_all_sets(inputs: int) -> None:
    ratios = []
    for seed in range(25):
        problem = random_problem(seed, inputs)
        work, aliases = set_work(problem), problem.query.aliases
        sizes = range(len(aliases) + 1)
        every = chain.from_iterable(combinations(aliases, size) for size in sizes)
        best = min(work(frozenset(early)) for early in every)
        found = [LATE, *greedy_sets(problem, SOME_SETS)]
        ratios.append(min(work(frozenset(early)) for early in found) / best)
    assert max(ratios) < 1.05
    assert sum(ratio < 1 + 1e-9 for ratio in ratios) >= 23


@pytest.mark.parametrize("inputs", [6, 7, 8])
def test_many_inputs_are_aggregated_early_where_that_gains(inputs: int) -> None:
    gains = 0
    for seed in range(6):
        problem = random_problem(seed, inputs)
        before = problem.effort.evaluations
        sets = early_sets(problem)
        # Counted, not timed: two multi-way joins for each of the sets that are passed.
        assert problem.effort.evaluations - before <= 2 * (3 * inputs**2 + inputs)
        assert sets[0] == LATE
        assert 2 <= len(sets) <= 1 + SOME_SETS
        work = set_work(problem)
        gains += min(map(work, map(frozenset, sets[1:]))) < 0.5 * work(frozenset())
    # Many of these queries have hardly a partner for anyone, and nothing to gain.
    assert gains >= 2


def test_the_planner_takes_a_set_of_many_inputs() -> None:
    """Six streams with few keys: hardly a plan that folds nothing could keep up."""
    names = "ABCDEF"
    inputs = ", ".join(f"{name} [RANGE 10 SECONDS]" for name in names)
    where = " AND ".join(f"A.k = {name}.k" for name in names[1:])
    query = query_of(
        f"SELECT COUNT(*) AS n FROM {inputs} WHERE {where} EVERY 1 SECOND",
        dict.fromkeys(names, COLUMNS),
    )
    figures = {name: {"rate": 100, "distinct": {"k": 50}} for name in names}
    known = complete(query, from_data({"streams": figures}, query))
    kept = PlanOptions(off=frozenset({"recompute"}))
    found = decide(known, kept)
    assert len(found.plan.early) >= 5
    problem = Problem(query, known)
    late = min(a.estimate.needed for a in (found.chosen, *found.others) if not a.plan.early)
    assert needed_by(problem, found.plan) < 0.01 * late
    assert forced_plan(query, render_plan(found.plan)) == replace(found.plan)
    assert decide(known, kept).plan == found.plan

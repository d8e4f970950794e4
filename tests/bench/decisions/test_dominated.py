"""Queries whose joins dominate: many partners first, few results, and a large gain predicted."""

from __future__ import annotations

from itertools import islice
from random import Random

import pytest

from penstock.bench.decisions.dominated import dominated, draw_dominated
from penstock.bench.decisions.spark import contest_of, large_gains
from penstock.optimize.model.problem import Problem
from penstock.stats.costs import Costs
from penstock.stats.guess import complete

SPARK = Costs(
    "measured", insert=2e-7, expire=1e-7, hash=5e-8, probe=3e-7, compare=1e-8, move=1e-7,
    arrive=5e-7, result=1e-7, batch=0.3, round=0.15,
)  # fmt: skip


def problem(seed: int, size: int) -> Problem:
    workload = draw_dominated(Random(seed), size)
    query = workload.query()
    return Problem(query, complete(query, workload.statistics(), SPARK))


def test_the_same_seed_draws_the_same_queries() -> None:
    first, second, other = ([w.script() for w in islice(dominated(s), 3)] for s in (2, 2, 3))
    assert first == second != other


@pytest.mark.parametrize("seed", range(10))
def test_first_comes_who_meets_many_and_few_results_are_left(seed: int) -> None:
    found = problem(seed, 3 + seed % 2)
    pair = found.mask("AB")
    tuples = sum(flow.rate for flow in found.inputs)
    assert float(found.rates[pair]) > 20.0 * found.inputs[0].rate
    assert float(found.rates[found.everything]) < 15.0 * tuples
    assert float(found.rates[found.everything]) < 0.2 * float(found.rates[pair])


def test_large_gains_are_predicted_for_all_that_are_run() -> None:
    contests = large_gains(4, SPARK, 2)
    assert len(contests) == 2
    assert all(contest.predicted >= 2.0 for contest in contests)


def test_a_prediction_counts_what_starting_batches_takes() -> None:
    workload = next(dominated(4))
    slow = Costs(**{**vars(SPARK), "batch": 30.0})
    assert contest_of(workload, slow).predicted < contest_of(workload, SPARK).predicted

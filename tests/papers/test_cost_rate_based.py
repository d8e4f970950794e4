"""V&N's rates, arrival costs and heuristics against the paper's numbers."""

from __future__ import annotations

import math

import pytest

from penstock.papers.rate_based import (
    ArrivalCosts,
    join_rate,
    local_rate,
    local_time,
    mean_rate,
    needed_inputs,
    nested_loops_cost,
    outputs,
    projection_rate,
    rate_at,
    selection_rate,
    symmetric_hash_cost,
)


def test_a_slow_selection_first_costs_nine_tenths_of_the_output() -> None:
    """The example of V&N's introduction: 50/s and no limit, 500/s come in, a tenth passes each."""
    slow, fast = 1 / 50, 0.0
    slow_first = selection_rate(selection_rate(500, 0.1, slow), 0.1, fast)
    fast_first = selection_rate(selection_rate(500, 0.1, fast), 0.1, slow)
    assert slow_first == pytest.approx(0.5)
    assert fast_first == pytest.approx(5.0)


def test_a_projection_is_no_faster_than_it_can_be() -> None:
    assert projection_rate(10, 0.05) == 10
    assert projection_rate(10, 0.1) == 10
    assert projection_rate(10, 0.2) == pytest.approx(5)


def test_the_join_rate_is_a_mean_whose_integral_halves_the_results() -> None:
    assert join_rate(10, 10, 1.0, 10) * 10 == 10_000
    assert outputs(lambda t: join_rate(10, 10, 1.0, t), 10) == pytest.approx(5_000)


def test_an_overloaded_join_slows_down() -> None:
    costs = ArrivalCosts(left=0.1, right=0.3)
    assert join_rate(10, 10, 0.5, 2, costs) == pytest.approx(0.5 * 10 * 10 * 2 / 4)
    assert join_rate(1, 1, 0.5, 2, costs) == pytest.approx(1.0)


def test_arrival_costs_of_both_join_algorithms() -> None:
    assert nested_loops_cost(10, 3, move=0.5, compare=0.1) == pytest.approx(3.5)
    assert nested_loops_cost(10, 3, move=0.5, compare=0.1, predicate=2) == pytest.approx(5.5)
    assert symmetric_hash_cost(move=0.5, hashing=0.25, probe=0.125) == pytest.approx(0.875)
    assert symmetric_hash_cost(move=0.5, hashing=0.25, probe=0.125, predicate=1) == 1.875


def test_a_finite_stream_runs_dry() -> None:
    assert rate_at(9.9, 10, 100) == 10
    assert rate_at(10, 10, 100) == 0
    assert rate_at(1e9, 10) == 10
    assert mean_rate(5, 10, 100) == 10
    assert mean_rate(50, 10, 100) == 2


def test_local_rates_combine_upwards() -> None:
    inner = local_rate(10, 20, 0.1, horizon=8)
    assert inner == pytest.approx(0.1 * 10 * 20 * 4)
    assert local_rate(inner, 5, 0.01, horizon=8) == pytest.approx(0.01 * inner * 5 * 4)


def test_a_quarter_of_the_results_needs_half_of_each_side() -> None:
    """The example of V&N §4.2.2: A ⋈ (B ⋈ C), 25 % of all."""
    a, b, c, ab, bc = 100.0, 200.0, 400.0, 0.1, 0.01
    needed = 0.25 * ab * bc * a * b * c
    from_a, from_bc = needed_inputs(needed, ab, a, bc * b * c)
    assert from_a == pytest.approx(a / 2)
    assert from_bc == pytest.approx(bc * b * c / 2)
    assert ab * from_a * from_bc == pytest.approx(needed)
    assert needed_inputs(1, 0.0, a, b) == (math.inf, math.inf)


def test_a_plan_is_as_late_as_its_latest_part() -> None:
    assert local_time(100, 10) == 10
    assert local_time(100, 10, left=12, right=3) == 12
    assert local_time(100, 0) == math.inf

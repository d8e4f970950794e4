"""The order of conditions: by rank, what they remove for what they cost."""

from __future__ import annotations

from itertools import permutations
from random import Random

import pytest

from penstock.figure import Figure
from penstock.optimize.filters.condition_order import by_rank
from penstock.query import (
    Call,
    Condition,
    Literal,
)
from penstock.stats.known import ConditionFigures
from support.streams.functions import (
    T,
    column,
)

# ── in which order ────────────────────────────────────────────────────────────────────────────────

A, B, C, D = (
    Condition(Call("gt", (column(name, T.BIGINT), Literal(0, T.BIGINT)), T.BOOLEAN))
    for name in "abcd"
)


def figures(**by_name: tuple[float, float]) -> dict[str, ConditionFigures]:
    """Selectivity and cost of `bid.<name> > 0`."""
    return {
        f"bid.{name} > 0": ConditionFigures(
            Figure(selectivity, "declared"), Figure(cost, "declared")
        )
        for name, (selectivity, cost) in by_name.items()
    }


def output_rate(order: tuple[Condition, ...], known: dict[str, ConditionFigures]) -> float:
    """Tuples/s out of selections with a server each, from 500/s: `f·r`, or `f/C` (V&N)."""
    rate = 500.0
    for each in order:
        cost = known[str(each)].cost.value
        served = min(rate, 1 / cost) if cost else rate
        rate = known[str(each)].selectivity.value * served
    return rate


def cost_of(order: tuple[Condition, ...], known: dict[str, ConditionFigures]) -> float:
    """Seconds for one tuple that passes through the conditions until one drops it (A&N Eq. 14)."""
    left, cost = 1.0, 0.0
    for each in order:
        cost += left * known[str(each)].cost.value
        left *= known[str(each)].selectivity.value
    return cost


def test_the_slow_selection_comes_last() -> None:
    # V&N's introduction: σ1 handles 50 tuples/s, σ2 any number; both let a tenth through.
    known = figures(a=(0.1, 1 / 50), b=(0.1, 0.0))
    assert output_rate((A, B), known) == pytest.approx(0.5)
    assert output_rate((B, A), known) == pytest.approx(5.0)
    assert by_rank((A, B), known) == (B, A)


@pytest.mark.parametrize("seed", range(50))
def test_no_order_is_cheaper_than_the_one_by_rank(seed: int) -> None:
    rng = Random(seed)
    drawn = {
        name: (rng.choice((0.0, 1.0, rng.random())), rng.choice((0.0, rng.expovariate(1000))))
        for name in "abcd"
    }
    known = figures(**drawn)
    chosen = by_rank((A, B, C, D), known)
    assert sorted(map(str, chosen)) == sorted(known)
    cheapest = min(cost_of(order, known) for order in permutations((A, B, C, D)))
    assert cost_of(chosen, known) == pytest.approx(cheapest)


def test_equal_ranks_keep_their_order() -> None:
    known = figures(a=(0.5, 1e-3), b=(1.0, 1e-3), c=(0.5, 1e-3), d=(1.0, 1e-6))
    assert by_rank((B, C, A, D), known) == (C, A, B, D)

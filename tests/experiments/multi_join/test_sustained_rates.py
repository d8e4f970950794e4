"""Rates that ways of joining sustain: by the model, and as their accesses are counted."""

from __future__ import annotations

import pytest

from penstock.experiments.multi_join.rates import (
    Way,
    best_way,
    counted_rate,
    foreseen_rate,
    ranked_ways,
)
from penstock.experiments.multi_join.windows import first, setting_of, worked

SETTING = setting_of([(5.0, 20.0, 10), (2.0, 20.0, 10), (1.0, 40.0, 5)])
HASHED = dict.fromkeys(SETTING.names, 4)


def test_the_model_counts_every_access_of_a_join_of_two() -> None:
    two = setting_of([(2.0, 10.0, 5), (3.0, 10.0, 5)])
    # 2 × 30 + 3 × 20 comparisons, 5 inserts and 5 expired tuples a second, and two windows that are
    # looked at for each of 5 tuples
    assert foreseen_rate(two, Way(two.names)) == pytest.approx(5 / (120 + 5 + 5 + 2 * 5))
    dear = foreseen_rate(two, Way(two.names, tau=4.0, buckets={"S1": 3}), look=10.0)
    compared = 2 * 42 + 3 * 28 / 3
    assert dear == pytest.approx(5 / (compared + 5 + 5 + 10 * (3 + 1) / 4))


@pytest.mark.parametrize("tau", [0.0, 2.0])
@pytest.mark.parametrize("buckets", [{}, HASHED])
def test_what_is_counted_is_near_the_model(tau: float, buckets: dict[str, int]) -> None:
    """Values are many: the model has no probes and results, and buckets are even."""
    many = setting_of([(5.0, 20.0, 100), (2.0, 20.0, 100), (1.0, 40.0, 50)])
    way = best_way(many, tau, buckets)
    foreseen, counted = foreseen_rate(many, way, 3.0), counted_rate(many, way, 300.0, 3.0)
    assert counted == pytest.approx(foreseen, rel=0.2)


def test_orders_are_ranked_from_the_fewest_comparisons() -> None:
    best, *_, worst = ranked_ways(SETTING, 0.0, HASHED)
    assert counted_rate(SETTING, best, 300.0) > counted_rate(SETTING, worst, 300.0)


def test_windows_of_one_bucket_are_looked_through() -> None:
    loops = first(SETTING.names)
    plain, single = (
        worked(SETTING, loops, 50.0, buckets=buckets)
        for buckets in ({}, dict.fromkeys(SETTING.names, 1))
    )
    assert plain == single
    assert plain.probes == 0
    assert plain.sweeps == 3 * plain.tuples
    assert worked(SETTING, loops, 50.0, buckets=HASHED).sweeps == 12 * plain.tuples

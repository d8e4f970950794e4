"""Replicates and lots: variances and moments of what is kept, by closed forms."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import sqrt
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from penstock.engine.views.confidence import Contributions
from penstock.kernels import replicates
from penstock.kernels.drop import keeps, lots
from penstock.kernels.replicates import (
    FIRST,
    RESULTS_WIDTH,
    TOTAL,
    TUPLES_WIDTH,
    higher,
    marked,
    marks,
    totals,
    weighed_results,
    weighed_tuples,
)


def weighed(
    ids: np.ndarray,
    groups: int,
    values: np.ndarray,
    weights: np.ndarray,
    tickets: np.ndarray,
    sums: Sequence[np.ndarray] = (),
) -> Any:
    """Sums over results that are of no more than themselves."""
    about = values, np.ones(len(ids)), np.ones(len(ids)), np.zeros(values.shape), -1
    return weighed_results(ids, groups, *about, weights, tickets, [each(table) for table in sums])


def each(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A table whose rows are those of the results, one after the other."""
    return table, np.arange(len(table))


def many_lots(members: Any, weights: Sequence[float], times: int = 40_000) -> np.ndarray:
    """The sums over results with these members, under as many other lots of their tuples."""
    size = len(members[0])
    lots_of = [lots(0, f"{place}", np.arange(times * 16)) for place in range(len(members))]
    tickets = [
        own.reshape(times, 16)[:, places].ravel()
        for own, places in zip(lots_of, members, strict=True)
    ]
    ids = np.repeat(np.arange(times), size)
    weighty = np.array([np.full(len(ids), weight) for weight in weights])
    found: np.ndarray = weighed(ids, times, np.ones((1, len(ids))), weighty, np.array(tickets))[0]
    return found


def test_the_loop_is_compiled_once_whatever_is_folded() -> None:
    """For each number of tables, and for columns that Arrow owns or that are not in one piece, it
    would be another one, compiled in the middle of an overload."""
    arrows = pa.array([1.0, 1.0, 1.0]).to_numpy()
    for tuples, folded, ones in product(range(3), range(5), (np.ones(3), np.ones(6)[::2], arrows)):
        ids = ones.astype(np.int64) - 1
        tables = [each(np.full((3, TUPLES_WIDTH), 2.0)) for _ in range(folded)]
        weights, tickets = np.ones((tuples, 3)), np.zeros((tuples, 3), np.int64)
        about = ones.reshape(1, 3), ones, ones, np.zeros((1, 3)), -1
        found = weighed_results(ids, 1, *about, weights, tickets, tables)[0]
        assert totals(found)[0] == 3.0 * 4.0**folded
    signatures = replicates._weighed.signatures  # type: ignore[attr-defined]
    # More than four inputs that are folded have another one.
    assert len([types for types in signatures if types[-2].count == 4]) == 1


def test_the_variance_of_two_streams_is_the_closed_form() -> None:
    """Its mean over all lots is Σ â²v_b + b̂²v_a − v_a·v_b over the keys."""
    kept_a, kept_b = np.array([0, 0, 0, 1, 1, 2]), np.array([0, 0, 1, 1, 2, 2])
    x_a, x_b = 0.3, 0.6
    a, b = np.nonzero(kept_a[:, None] == kept_b)
    rows = many_lots((a, b), (1 / x_a, 1 / x_b))
    first, second = 0.0, 0.0
    for key in range(3):
        n_a, n_b = (kept_a == key).sum(), (kept_b == key).sum()
        v_a, v_b = n_a * (1 - x_a) / x_a**2, n_b * (1 - x_b) / x_b**2
        first += (n_a / x_a) ** 2 * v_b + (n_b / x_b) ** 2 * v_a
        second += v_a * v_b
    assert Contributions(rows).first.sum(axis=1).mean() == pytest.approx(first, rel=0.01)
    assert higher(rows).mean() == pytest.approx(second, rel=0.02)


def test_one_result_of_three_streams_has_the_variance_of_a_coin() -> None:
    """It is there with probability x = x_a·x_b·x_c, and so its weight varies by (1 − x)/x²."""
    rows = many_lots(np.zeros((3, 1), np.int64), (2.0, 4.0, 1.25))
    found = Contributions(rows).first.sum(axis=1) - higher(rows).mean(axis=1)
    assert found.mean() == pytest.approx(10.0**2 * (1 - 1 / 10.0), rel=0.03)


@pytest.mark.parametrize("size", [5, 40, 1000])
def test_moments_have_no_bias_whatever_the_buckets(size: int) -> None:
    contributions = np.random.default_rng(size).exponential(size=size)
    rows = [
        weighed_tuples(contributions, np.full(size, 2.0), lots(seed, "a", np.arange(size))).sum(0)
        for seed in range(1500)
    ]
    told = np.zeros((len(rows), RESULTS_WIDTH))
    told[:, :TUPLES_WIDTH] = np.array(rows)
    of, parts = Contributions(told), contributions * sqrt(2)
    first, third = of.first.sum(axis=1), of.slope * of.first.sum(axis=1)
    assert first.mean() == pytest.approx((parts**2).sum(), rel=0.03)
    assert third.mean() == pytest.approx((parts**3).sum(), rel=0.15 if size < 100 else 0.6)
    assert of.spread == pytest.approx(of.spread[0])


def test_folded_rows_multiply_as_their_tuples_do() -> None:
    """Three streams on one key: results one by one, or of sums over each stream."""
    rng = np.random.default_rng(5)
    sizes = (4, 5, 3)
    weights = [1 + rng.random(n) for n in sizes]
    tickets = [rng.integers(-(2**63), 2**63 - 1, n) for n in sizes]
    values = rng.normal(size=sizes[2])
    places = np.array(list(product(*map(range, sizes)))).T
    ids = np.zeros(places.shape[1], np.int64)
    one_by_one = weighed(
        ids,
        1,
        np.array([values[places[2]]]),
        np.array([w[p] for w, p in zip(weights, places, strict=True)]),
        np.array([t[p] for t, p in zip(tickets, places, strict=True)]),
    )
    counted = (np.ones(4), np.ones(5), values)
    sums = [
        weighed_tuples(*each).sum(axis=0)[np.newaxis]
        for each in zip(counted, weights, tickets, strict=True)
    ]
    nothing = np.empty((0, 1))
    at_once = weighed(ids[:1], 1, np.ones((1, 1)), nothing, nothing.astype(np.int64), sums)
    one_by_one[..., TOTAL:FIRST] = at_once[..., TOTAL:FIRST]
    np.testing.assert_allclose(at_once[0], one_by_one[0], rtol=1e-10, atol=1e-10)
    assert totals(at_once[0])[0] == pytest.approx(
        np.prod([w.sum() for w in weights[:2]]) * (values * weights[2]).sum()
    )


@pytest.mark.parametrize("shed", [0.0, 0.2, 1.0])
def test_results_in_a_row_are_added_up_as_single_ones_are(shed: float) -> None:
    """Those that share all members but one are multiplied once, in whatever order they come."""
    rng = np.random.default_rng(7)
    size, places = 600, 12

    def drawn(size: int) -> tuple[np.ndarray, np.ndarray]:
        weights = np.where(rng.random(size) < shed, 1 + 3 * rng.random(size), 1.0)
        return weights, rng.integers(-(2**63), 2**63 - 1, size)

    tables = []
    for _ in range(2):
        tuples = weighed_tuples(np.ones(3 * places), *drawn(3 * places))
        tables.append(tuples.reshape(places, 3, TUPLES_WIDTH).sum(axis=1))
    met = np.sort(rng.integers(0, places, (2, size)), axis=1)
    other, lead = drawn(places), drawn(size)
    weights = np.array([other[0][met[0]], lead[0]])
    tickets = np.array([other[1][met[0]], lead[1]])
    values = rng.normal(size=(2, size)) * (rng.random((2, size)) < 0.8)
    ids = met[1] % 3
    repeats, unseen = rng.integers(1, 4, size).astype(float), rng.random(size)
    told = rng.random((2, size)) * (rng.random((2, size)) < 0.5)

    def found(order: np.ndarray, own: int) -> np.ndarray:
        about = values[:, order], repeats[order], unseen[order], told[:, order], own
        sums = [(table, where[order]) for table, where in zip(tables, met, strict=True)]
        return weighed_results(ids[order], 3, *about, weights[:, order], tickets[:, order], sums)

    for own in (-1, 1):
        one_by_one = sum(found(np.array([row]), own) for row in range(size))
        in_a_row = found(np.arange(size), own)
        assert bool(in_a_row[..., FIRST:].any()) == (shed > 0)
        np.testing.assert_allclose(in_a_row, one_by_one, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(
            found(rng.permutation(size), own), one_by_one, rtol=1e-9, atol=1e-9
        )


def test_what_is_certain_does_not_vary() -> None:
    weights, tickets = np.ones((2, 9)), np.arange(18).reshape(2, 9)
    ids, values = np.arange(9) % 2, np.full((1, 9), 0.1)
    sums = weighed(ids, 2, values, weights, tickets)[0]
    assert not sums[:, FIRST:].any()
    assert totals(sums).tolist() == [0.5, 0.4]


@pytest.mark.parametrize("size", [0, 1, 10, 30, 60])
def test_marks_tell_how_many_tuples_there_are(size: int) -> None:
    found = []
    for seed in range(200):
        bits = marks(lots(seed, "a", np.arange(size)))
        found.append(float(marked(np.bitwise_or.reduce(bits, initial=0, keepdims=True))[0]))
    assert np.mean(found) == pytest.approx(size, rel=0.03)
    assert np.std(found) <= 0.15 * size


def test_lots_are_even_and_tell_nothing_of_what_is_kept() -> None:
    arrivals = np.arange(20_000)
    tickets = lots(3, "a", arrivals)
    bits = (tickets[:, None] >> np.arange(64)) & 1
    assert abs(bits.mean(axis=0) - 0.5).max() < 0.02
    kept = keeps(3, "a", arrivals, 0.3)
    assert abs(bits[kept].mean(axis=0) - 0.5).max() < 0.03
    assert abs(np.corrcoef(bits[kept].T) - np.eye(64)).max() < 0.06
    assert (tickets != lots(3, "b", arrivals)).all()

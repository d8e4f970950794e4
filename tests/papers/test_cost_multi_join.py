"""G&O's costs against Tables 5 to 7 and Appendices A and B, and against counted loops."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from statistics import mean

import numpy as np
import pytest

from penstock.papers.multi_join import (
    Match,
    Window,
    Windows,
    common_attribute,
    different_attributes,
    driver_cost,
    expiration_cost,
    general_cost,
    multiway_cost,
    naive_cost,
    result_size,
    time_window,
)

Rows = Sequence[tuple[float, float, float]]
"""Rate, seconds and distinct values of each stream."""

TABLE_5: Rows = [(10, 100, 500), (1, 100, 50), (1, 200, 40), (3, 100, 5)]
TABLE_6: Rows = [(100, 100, 200), (1, 100, 200), (1, 100, 20), (3, 100, 2)]
TABLE_7: Rows = [(11, 100, 200), (10, 100, 100), (1, 100, 65), (1, 100, 20)]
ALIKE: Rows = [(1, 100, 50)] * 4


def windows_of(rows: Rows, buckets: int = 1) -> Windows:
    return {str(n): time_window(rate, t, buckets) for n, (rate, t, _) in enumerate(rows, 1)}


def matches(rows: Rows) -> Match:
    return common_attribute({str(n): v for n, (_, _, v) in enumerate(rows, 1)})


def costs_of(rows: Rows) -> dict[str, float]:
    """The eager costs of all 4! global orders."""
    orders = map("".join, itertools.permutations("1234"))
    return {order: multiway_cost(windows_of(rows), order, matches(rows)) for order in orders}


def test_table_5() -> None:
    costs = costs_of(TABLE_5)
    ranked = sorted(costs.values())
    assert costs["1234"] == pytest.approx(16_000) == ranked[0]
    assert costs["2134"] == pytest.approx(19_600) == ranked[4]
    assert sum(cost < costs["2134"] * (1 - 1e-9) for cost in ranked) == 4
    assert ranked[-1] == pytest.approx(86_850)


def test_table_6() -> None:
    costs = costs_of(TABLE_6)
    assert costs["2134"] == pytest.approx(80_400) == min(costs.values())
    assert costs["2314"] == pytest.approx(123_150)
    assert costs["2341"] == pytest.approx(248_450)
    assert costs["1234"] == pytest.approx(120_000)
    assert max(costs.values()) == pytest.approx(646_050)


def test_table_7() -> None:
    costs = costs_of(TABLE_7)
    assert round(costs["3412"]) == 49_542
    assert round(costs["3142"]) == 47_977
    assert costs["3142"] == pytest.approx(min(costs.values()))
    assert round(costs["3124"]) == 51_954
    assert round(mean(costs.values())) == 63_362
    assert round(mean(map(round, costs.values())), 1) == 63_361.7
    assert costs["1234"] == pytest.approx(68_200)
    assert costs["2134"] == pytest.approx(79_000)


def test_appendix_b() -> None:
    windows, match = windows_of(TABLE_5), matches(TABLE_5)
    sizes = {"12": 200, "13": 400, "14": 600, "23": 400, "24": 600, "34": 1500}
    sizes |= {"123": 800, "124": 1200}
    for order, size in sizes.items():
        for turned in itertools.permutations(order):
            assert result_size(windows, turned, match) == pytest.approx(size)
    loops = {"1": "1234", "2": "2134", "3": "3124", "4": "4123"}
    each = [driver_cost(windows, order, driver, match) for driver, order in loops.items()]
    assert each == pytest.approx([3800, 3800, 2400, 6000])


@pytest.mark.parametrize("tau", [1.0, 7.0])
def test_appendix_a_lazy(tau: float) -> None:
    """L and H as printed, for the order S1 S2 S3 S4."""
    windows, match = windows_of(TABLE_5), matches(TABLE_5)
    l1, l2, l3, l4 = (rate for rate, _, _ in TABLE_5)
    w1, w2, w3, w4 = (rate * (t + tau) for rate, t, _ in TABLE_5)
    phi = {order: result_size(windows, order, match, tau) for order in ("12", "123", "13")}
    lazy_1 = l1 * w2 + (phi["12"] * w3 + phi["123"] * w4) / (w1 / l1)
    lazy_2 = l2 * w1 + (phi["12"] * w3 + phi["123"] * w4) / (w2 / l2)
    lazy_3 = l3 * w1 + (phi["13"] * w2 + phi["123"] * w4) / (w3 / l3)
    general_3 = w1 * w2 / tau + phi["12"] * l3 + phi["12"] * l3 * w4 / 50
    general_4 = w1 * w2 / tau + phi["12"] * w3 / tau + phi["123"] * l4
    cases = [("1", "1234"), ("2", "2134"), ("3", "3124")]
    cases += [(driver, "1234") for driver in "234"]
    cost = {
        (driver, loops): driver_cost(windows, loops, driver, match, tau) for driver, loops in cases
    }
    assert cost["1", "1234"] == pytest.approx(lazy_1)
    assert cost["2", "2134"] == pytest.approx(lazy_2) == cost["2", "1234"]
    assert cost["3", "3124"] == pytest.approx(lazy_3)
    assert cost["3", "1234"] == pytest.approx(general_3)
    assert cost["4", "1234"] == pytest.approx(general_4)
    assert naive_cost(windows, "1234", match, tau) == pytest.approx(
        lazy_1 + lazy_2 + general_3 + general_4
    )


def test_appendix_a_eager_naive() -> None:
    windows, match = windows_of(TABLE_5), matches(TABLE_5)
    third = 1 * (1000 * 100 + 200 + 200 * 300 / 50)
    fourth = 3 * (1000 * 100 + 200 * 200 + 800)
    assert naive_cost(windows, "1234", match) == pytest.approx(3800 + 3800 + third + fourth)


def best(rows: Rows, tau: float) -> tuple[float, float, float]:
    """The least cost of naive, lazy and general lazy loops."""
    windows, match = windows_of(rows), matches(rows)
    orders = ["".join(order) for order in itertools.permutations("1234")]
    own = {d: min(orders, key=lambda o: driver_cost(windows, o, d, match, tau)) for d in "1234"}
    return (
        min(naive_cost(windows, order, match, tau) for order in orders),
        min(multiway_cost(windows, order, match, tau) for order in orders),
        general_cost(windows, own, match, tau),
    )


def test_figure_3_who_wins_over_tau() -> None:
    for tau in (1, 10, 50):
        naive, lazy, general = best(ALIKE, tau)
        assert general == pytest.approx(lazy)
        assert lazy < naive
    fast_fourth = [*ALIKE[:3], (10, 100, 50)]
    naive, lazy, general = best(fast_fourth, 1)
    assert general == pytest.approx(lazy)
    assert lazy < naive
    naive, lazy, general = best(fast_fourth, 50)
    assert general < naive < lazy


def test_hashing_divides_what_is_looked_at() -> None:
    match = matches(ALIKE)
    whole = multiway_cost(windows_of(ALIKE), "1234", match)
    assert multiway_cost(windows_of(ALIKE, 5), "1234", match) == pytest.approx(whole / 5)
    only_matches = multiway_cost(windows_of(ALIKE, 50), "1234", match)
    assert multiway_cost(windows_of(ALIKE, 1000), "1234", match) == pytest.approx(only_matches)


def test_hybrid_prefers_hashed_windows_innermost() -> None:
    """G&O §5.4: the loops that repeat most should be the cheap ones."""
    windows = dict(windows_of(ALIKE)) | {"2": time_window(1, 100, buckets=20)}
    match = matches(ALIKE)
    inner = driver_cost(windows, "1342", "1", match)
    outer = driver_cost(windows, "1234", "1", match)
    assert inner < outer


def test_expiring_looks_at_every_bucket() -> None:
    windows = {"A": Window(10, 100, buckets=5), "B": Window(1, 100)}
    assert expiration_cost(windows, 2.0) == pytest.approx(10 + 1 + (5 + 1) / 2)


def counted_comparisons(
    sizes: dict[str, int], loops: str, pairs: dict[frozenset[str], np.ndarray]
) -> int:
    """Comparisons of nested loops over windows whose tuples match as `pairs` says."""
    bound: list[tuple[int, ...]] = [(i,) for i in range(sizes[loops[0]])]
    compared = 0
    for level, name in enumerate(loops[1:], 1):
        compared += len(bound) * sizes[name]
        bound = [
            (*tuples, i)
            for tuples in bound
            for i in range(sizes[name])
            if all(
                pairs[frozenset((other, name))][(t, i) if other < name else (i, t)]
                for other, t in zip(loops[:level], tuples, strict=True)
                if frozenset((other, name)) in pairs
            )
        ]
    return compared


def test_different_attributes_match_by_the_join_graph() -> None:
    """A–B, B–C and A–D predicates; the mean of counted loops is what the formula says."""
    sizes = {"A": 1, "B": 12, "C": 15, "D": 10}
    selectivities = {frozenset("AB"): 0.4, frozenset("BC"): 0.2, frozenset("AD"): 0.5}
    windows = {name: Window(1.0, size) for name, size in sizes.items()}
    rng = np.random.default_rng(1)
    for loops in ("ABCD", "ADBC", "ACDB"):
        counts = []
        for _ in range(400):
            pairs = {
                edge: rng.random((sizes[min(edge)], sizes[max(edge)])) < share
                for edge, share in selectivities.items()
            }
            counts.append(counted_comparisons(sizes, loops, pairs))
        predicted = driver_cost(windows, loops, "A", different_attributes(selectivities))
        assert mean(counts) == pytest.approx(predicted, abs=float(4 * np.std(counts) / 20))

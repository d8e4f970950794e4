"""Drop boxes: the fractions to keep, against A&N's numbers and against brute force."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod

import numpy as np
import pytest

from penstock.optimize.algebra.posynomial import Monomial, Posynomial, gathered, value
from penstock.optimize.shedding.fractions import best_drops, selection_drop


@dataclass(frozen=True)
class Stream:
    """A stream as the model sees it; the window is in tuples of the unshed stream."""

    rate: float
    window: float
    is_rows: bool


def arrivals(streams: Sequence[Stream], members: Iterable[int], weight: float) -> list[Monomial]:
    """A&N Eq. 5 and 18: what is weighed at every new combination of the members."""
    members = tuple(members)
    out = []
    for k in members:
        others = [i for i in members if i != k]
        coefficient = weight * streams[k].rate * prod(streams[i].window for i in others)
        shed = frozenset({k, *(i for i in others if not streams[i].is_rows)})
        out.append(Monomial(coefficient, shed))
    return out


def left_deep_load(
    streams: Sequence[Stream], order: Sequence[int], fractions: Sequence[float], cost: float
) -> Posynomial:
    """Every tuple that arrives at a join costs the same; `fractions[j]` is F of the first j+2."""
    inner = [order[: j + 2] for j in range(len(order) - 2)]
    monomials = [m for i in order for m in arrivals(streams, [i], cost)]
    for members, fraction in zip(inner, fractions, strict=False):
        monomials += arrivals(streams, members, fraction * cost)
    return gathered(monomials)


# Example 1 of A&N: `(A⋈B)⋈C`, `(B⋈C)⋈A` and the product `(A⋈C)⋈B`.
TREES = {"AB": (0, 1, 2), "BC": (1, 2, 0), "AC": (0, 2, 1)}
INNER = {"AB": 0.5, "BC": 0.2, "AC": 1.0}
FREE = (0.0, 0.0, 0.0)


def example(is_rows: bool) -> list[Stream]:
    return [Stream(rate, 10.0, is_rows) for rate in (10.0, 70.0, 20.0)]


def example_output(inner: str, milliseconds: float, is_rows: bool = True) -> float:
    streams = example(is_rows)
    load = left_deep_load(streams, TREES[inner], [INNER[inner]], milliseconds / 1000)
    kept = best_drops(load, gathered(arrivals(streams, range(3), 0.1)), FREE, 1.0)
    assert kept is not None
    assert kept.load <= 1.0 + 1e-9
    return kept.output


@pytest.mark.parametrize(
    ("milliseconds", "inner", "output"),
    [
        (0.5, "AB", 1000.0),
        (0.5, "BC", 1000.0),
        (0.5, "AC", 1000.0),
        (4.0, "BC", 900.0),
        (4.0, "AC", 863.6),
        (4.5, "BC", 807.4),
        (4.5, "AC", 838.4),
        (14.0, "BC", 304.8),
        (14.0, "AC", 701.3),
        (17.0, "BC", 262.7),
        (100.0, "AB", 100.0),
        (100.0, "BC", 100.0),
        (100.0, "AC", 100.0),
    ],
)
def test_example_1_of_the_paper(milliseconds: float, inner: str, output: float) -> None:
    assert example_output(inner, milliseconds) == pytest.approx(output, abs=0.05)


def test_the_least_used_plan_becomes_the_worst_to_shed_from() -> None:
    def best(milliseconds: float) -> str:
        return max(TREES, key=lambda inner: example_output(inner, milliseconds))

    assert best(4.0) == "BC"
    assert best(4.5) == "AC"
    assert min(TREES, key=lambda inner: example_output(inner, 17.0)) == "BC"


@pytest.mark.parametrize(
    ("milliseconds", "inner", "output"),
    [(4.5, "BC", 768.89), (4.5, "AC", 444.55), (14.0, "BC", 169.90), (14.0, "AC", 46.45)],
)
def test_time_windows_shrink_with_their_streams(
    milliseconds: float, inner: str, output: float
) -> None:
    assert example_output(inner, milliseconds, is_rows=False) == pytest.approx(output, abs=0.005)


@dataclass(frozen=True)
class Case:
    load: Posynomial
    output: Posynomial
    floors: tuple[float, ...]
    capacity: float


def random_case(seed: int, size: int, kind: str) -> Case:
    """A left-deep tree of random streams, given a tenth of a percent to all of what it needs."""
    draw = random.Random(f"{kind} {size} {seed}")
    rows = {"rows": [True], "time": [False], "mixed": [True, False]}[kind]
    flags = [rows[i % len(rows)] for i in range(size)]
    draw.shuffle(flags)
    streams = [Stream(10 ** draw.uniform(0, 2), 10 ** draw.uniform(0, 2), flag) for flag in flags]
    order = draw.sample(range(size), size)
    fractions = np.cumprod([10 ** draw.uniform(-2, 0) for _ in range(size - 1)]).tolist()
    load = left_deep_load(streams, order, fractions, 1e-4)
    if draw.random() < 0.5:
        load = (*load, Monomial(1e-6, frozenset()))
    output = gathered(arrivals(streams, range(size), fractions[-1]))
    floor = draw.choice((0.0, 1e-3, 0.05))
    floors = tuple(floor if flag else 0.0 for flag in flags)
    least, most = value(load, floors), value(load, (1.0,) * size)
    return Case(load, output, floors, least + (most - least) * 10 ** draw.uniform(-3, 0))


def brute_force(case: Case, points: int = 13, rounds: int = 22) -> float:
    """The best output on grids that close in; one fraction takes what capacity the others leave."""
    return max(_grid_search(case, last, points, rounds) for last in range(len(case.floors)))


def _grid_search(case: Case, last: int, points: int, rounds: int) -> float:
    size = len(case.floors)
    low, high = np.array(case.floors), np.ones(size)
    best, at = 0.0, np.ones(size)
    for step in range(rounds):
        lower = np.maximum(low, 1e-5) if step == 0 else low
        axes = [np.geomspace(max(a, 1e-9), b, points) for a, b in zip(lower, high, strict=True)]
        axes = [np.r_[case.floors[i], axis] for i, axis in enumerate(axes)]
        axes[last] = np.array([0.0])
        x = np.stack([a.ravel() for a in np.meshgrid(*axes, indexing="ij")])
        x[last] = 0.0
        base = vector_value(case.load, x)
        x[last] = 1.0
        slope = vector_value(case.load, x) - base
        x[last] = np.minimum(1.0, (case.capacity - base) / slope)
        results = np.where(x[last] >= case.floors[last], vector_value(case.output, x), 0.0)
        top = int(np.argmax(results))
        if results[top] > best:
            best, at = float(results[top]), x[:, top]
        width = (high / np.maximum(low, 1e-9)) ** (1.5 / points) if step else np.full(size, 4.0)
        low = np.maximum(np.array(case.floors), at / width)
        high = np.minimum(1.0, np.maximum(at * width, 1e-9))
    return best


def vector_value(posynomial: Posynomial, x: np.ndarray) -> np.ndarray:
    terms = [m.coefficient * np.prod(x[list(m.factors)], axis=0) for m in posynomial]
    total: np.ndarray = np.sum(np.broadcast_arrays(*terms), axis=0)
    return total


@pytest.mark.parametrize("kind", ["rows", "time", "mixed"])
@pytest.mark.parametrize("size", [2, 3, 4])
def test_nothing_beats_it_by_a_millionth(kind: str, size: int) -> None:
    for seed in range(12 if size < 4 else 4):
        case = random_case(seed, size, kind)
        kept = best_drops(case.load, case.output, case.floors, case.capacity)
        assert kept is not None
        assert kept.load <= case.capacity * (1 + 1e-9)
        assert all(f <= x <= 1.0 for f, x in zip(case.floors, kept.fractions, strict=True))
        assert kept.output == pytest.approx(value(case.output, kept.fractions))
        assert kept.output >= brute_force(case) * (1 - 1e-6), seed


@pytest.mark.parametrize("size", [2, 3])
def test_brute_force_comes_close_to_it(size: int) -> None:
    for kind in ("rows", "time", "mixed"):
        for seed in range(6):
            case = random_case(seed, size, kind)
            kept = best_drops(case.load, case.output, case.floors, case.capacity)
            assert kept is not None
            assert brute_force(case) >= kept.output * (1 - 1e-4), (kind, seed)


@pytest.mark.parametrize("kind", ["rows", "time", "mixed"])
def test_more_capacity_never_yields_less(kind: str) -> None:
    for seed in range(4):
        case = random_case(seed, 4, kind)
        least, most = value(case.load, case.floors), value(case.load, (1.0,) * 4)
        outputs = []
        for share in (0.01, 0.1, 0.3, 0.6, 0.9, 1.0):
            capacity = least + (most - least) * share
            kept = best_drops(case.load, case.output, case.floors, capacity)
            assert kept is not None
            outputs.append(kept.output)
        assert all(more >= less * (1 - 1e-6) for less, more in pairwise(outputs))
        assert outputs[-1] == pytest.approx(value(case.output, (1.0,) * 4))


@pytest.mark.parametrize("kind", ["rows", "time", "mixed"])
def test_what_fits_is_kept_whole_and_what_cannot_fit_is_refused(kind: str) -> None:
    case = random_case(1, 3, kind)
    most = value(case.load, (1.0,) * 3)
    kept = best_drops(case.load, case.output, case.floors, most)
    assert kept is not None
    assert kept.fractions == (1.0, 1.0, 1.0)
    floors = (0.5, 0.5, 0.5)
    too_little = 0.99 * value(case.load, floors)
    assert best_drops(case.load, case.output, floors, too_little) is None
    exact = best_drops(case.load, case.output, floors, value(case.load, floors))
    assert exact is not None
    assert exact.fractions == pytest.approx(floors)


def test_a_constant_load_as_large_as_the_capacity_leaves_nothing() -> None:
    output = (Monomial(1.0, frozenset({0, 1})),)
    load = (Monomial(1.0, frozenset()), Monomial(1.0, frozenset({0, 1})))
    assert best_drops(load, output, (0.0, 0.0), 1.0) is None
    assert best_drops(load[1:], output, (0.0, 0.0), 0.0) is None


def test_a_hundred_thousand_knapsacks_agree_with_the_sum_of_their_parts() -> None:
    """Every capacity between nothing and all: output is concave in it, from 0 to the whole."""
    streams = example(is_rows=True)
    load = left_deep_load(streams, TREES["BC"], [INNER["BC"]], 0.01)
    output = gathered(arrivals(streams, range(3), 0.1))
    most = value(load, (1.0,) * 3)
    found = [best_drops(load, output, FREE, most * step / 1e5) for step in range(100_001)]
    outputs = np.array([kept.output for kept in found if kept is not None])
    assert len(outputs) == 100_001
    assert outputs[0] == 0.0
    assert outputs[-1] == pytest.approx(1000.0)
    assert (np.diff(outputs, 2) <= 1e-9).all()


def test_an_input_that_loads_nothing_is_never_shed() -> None:
    output = (Monomial(1.0, frozenset({0, 1})),)
    kept = best_drops((Monomial(2.0, frozenset({1})),), output, (0.0, 0.0), 1.0)
    assert kept is not None
    assert kept.fractions == pytest.approx((1.0, 0.5), rel=1e-7)


def test_inputs_without_output_stay_at_their_floors() -> None:
    load = (Monomial(1.0, frozenset({0, 1})), Monomial(1.0, frozenset({0})))
    kept = best_drops(load, (), (0.25, 0.5), 1.0)
    assert kept is not None
    assert kept.fractions == (0.25, 0.5)
    assert kept.output == 0.0


def test_fifteen_time_windows_meet_the_conditions_of_an_optimum() -> None:
    """Karush, Kuhn and Tucker: where x_i is free, one more percent of it costs the same for all."""
    case = random_case(3, 15, "time")
    kept = best_drops(case.load, case.output, case.floors, case.capacity)
    assert kept is not None
    assert kept.load == pytest.approx(case.capacity, rel=1e-6)
    shares = [
        sum(m.at(kept.fractions) for m in case.load if i in m.factors) / case.capacity
        for i in range(15)
    ]
    free = [s for s, x in zip(shares, kept.fractions, strict=True) if x < 1 - 1e-6]
    whole = [s for s, x in zip(shares, kept.fractions, strict=True) if x >= 1 - 1e-6]
    assert free
    assert free == pytest.approx([free[0]] * len(free), rel=1e-4)
    assert all(share <= free[0] * (1 + 1e-4) for share in whole)


def test_selections_are_shed_once_at_the_source() -> None:
    assert selection_drop(1.25) == 0.8
    assert selection_drop(0.75) == 1.0
    assert selection_drop(0.0) == 1.0
    for cost in (0.75, 1.25, 4.0):
        load, output = ((Monomial(each, frozenset({0})),) for each in (cost, 1.0))
        kept = best_drops(load, output, [0.0], 1.0)
        assert kept is not None
        assert kept.fractions == pytest.approx((selection_drop(cost),))

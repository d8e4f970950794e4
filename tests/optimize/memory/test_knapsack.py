"""Options within a room, against all combinations of them."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from penstock.optimize.memory.knapsack import MOST_EXACT, Choice, Option, least_cost


def random_kinds(rng: Random, count: int) -> list[list[Option]]:
    """Larger options mostly cost less; some are useless."""
    return [
        [Option(n, rng.choice((0.0, 1.0)) + n * rng.random(), 10 * rng.random()) for n in range(4)]
        for _ in range(count)
    ]


def size_of(choice: Choice) -> float:
    return sum(option.size for option in choice)


def cost_of(choice: Choice) -> float:
    return sum(option.cost for option in choice)


@pytest.mark.parametrize("seed", range(40))
def test_few_kinds_are_chosen_exactly(seed: int) -> None:
    rng = Random(seed)
    kinds = random_kinds(rng, rng.randint(1, 5))
    room = rng.random() * 10
    fitting = [choice for choice in product(*kinds) if size_of(choice) <= room]
    found = least_cost(kinds, room)
    if not fitting:
        assert found is None
        return
    assert found is not None
    assert size_of(found) <= room
    assert cost_of(found) == pytest.approx(min(map(cost_of, fitting)))


@pytest.mark.parametrize("seed", range(10))
def test_many_kinds_are_chosen_greedily_and_not_far_from_the_best(seed: int) -> None:
    kinds = random_kinds(Random(seed), MOST_EXACT + 1)
    room = 9.0
    best = min(cost_of(c) for c in product(*kinds) if size_of(c) <= room)
    found = least_cost(kinds, room)
    assert found is not None
    assert size_of(found) <= room
    smallest = tuple(min(options, key=lambda o: o.size) for options in kinds)
    assert best <= cost_of(found) <= (best + cost_of(smallest)) / 2


def test_no_room_for_the_smallest_is_no_choice() -> None:
    assert least_cost([[Option(1, 2.0, 1.0)], [Option(1, 2.0, 1.0)]], 3.9) is None
    assert least_cost([], 0.0) == ()

"""Global orders of inputs: the join with the fewest results first (G&O §5.1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from statistics import fmean

from penstock.optimize.model.problem import Problem


def descending(problem: Problem, sizes: Sequence[float], first: int | None = None) -> list[int]:
    """All inputs, each the one with the fewest matches for those before it; linked ones first.

    `sizes` are the tuples looked at in each window. Without a `first` input the order starts with
    the pair that has the fewest results.
    """
    if first is None:
        order = list(_first_pair(problem, sizes)) if problem.size > 1 else [0]
    else:
        order = [first]
    while len(order) < problem.size:
        bound = sum(1 << i for i in order)
        left = [i for i in range(problem.size) if not bound >> i & 1]
        order.append(
            min(
                left,
                key=lambda i: (
                    not _is_linked(problem, bound, i),
                    match(problem, bound, i) * sizes[i],
                ),
            )
        )
    return order


def moved_up(
    problem: Problem, order: Sequence[int], work: Callable[[Sequence[int]], float]
) -> list[int]:
    """The order with each faster-than-average stream where it does best, from its place upwards."""
    mean = fmean(problem.inputs[i].rate for i in order)
    best, least = list(order), work(order)
    for stream in order:
        if problem.inputs[stream].rate <= mean:
            continue
        rest = [i for i in best if i != stream]
        for place in range(best.index(stream)):
            moved = [*rest[:place], stream, *rest[place:]]
            if (found := work(moved)) < least:
                best, least = moved, found
    return best


def match(problem: Problem, bound: int, target: int) -> float:
    """The fraction of the target's tuples that match one combination of those bound."""
    before = problem.fraction(bound)
    return problem.fraction(bound | 1 << target) / before if before else 0.0


def _first_pair(problem: Problem, sizes: Sequence[float]) -> tuple[int, int]:
    """The two inputs whose join has the fewest results, the faster one first."""

    def rank(pair: tuple[int, int]) -> tuple[bool, float]:
        one, other = pair
        results = sizes[one] * sizes[other] * match(problem, 1 << one, other)
        return not _is_linked(problem, 1 << one, other), results

    one, other = min(combinations(range(problem.size), 2), key=rank)
    is_slower = problem.inputs[one].rate < problem.inputs[other].rate
    return (other, one) if is_slower else (one, other)


def _is_linked(problem: Problem, bound: int, target: int) -> bool:
    bit = 1 << target
    return problem.linked(bound, bit) or any(
        mask & bit and mask & bound and not mask & ~(bound | bit) for mask, _ in problem.theta_masks
    )

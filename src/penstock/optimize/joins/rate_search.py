"""V&N's two heuristics as metrics of a dynamic-programming search over join trees (V&N §4.2)."""

from __future__ import annotations

from functools import cache

from penstock.optimize.joins.enumerate import is_joinable, joined, submasks
from penstock.optimize.model.problem import Problem, gain
from penstock.optimize.model.work import arrival_seconds
from penstock.papers.rate_based import (
    ArrivalCosts,
    join_rate,
    local_rate,
    local_time,
    needed_inputs,
)
from penstock.plan.tree import Leaf, Node

# How precisely the needed results of a part are told apart: plans differ by far more.
_DIGITS = 2


def fastest_rate(problem: Problem, horizon: float) -> Node:
    """The tree with the highest estimated output rate at half the horizon in every join.

    Local rate maximization: of each set of inputs only the tree with the highest rate is kept.
    """
    best: dict[int, tuple[float, Node]] = {}
    for mask in sorted(range(1, 1 << problem.size), key=int.bit_count):
        if mask.bit_count() == 1:
            best[mask] = (_rate(problem, mask), _leaf(problem, mask))
        elif is_joinable(problem, mask):
            splits = (
                (
                    local_rate(
                        best[left][0], best[right][0], _selectivity(problem, left, right), horizon,
                        _costs(problem, left, right),
                    ),
                    left,
                    right,
                )
                for left, right in _splits(problem, mask)
            )  # fmt: skip
            rate, left, right = max(splits, key=lambda split: split[0])
            best[mask] = (rate, joined(problem, best[left][1], best[right][1]))
    return best[problem.everything][1]


def soonest(problem: Problem, results: float, horizon: float) -> Node:
    """The tree that is estimated to have so many results first.

    Local time minimization: the results that a join needs are pushed down to its sides, and a plan
    is as late as the latest of its parts.
    """

    @cache
    def best(mask: int, needed: float) -> tuple[float, Node]:
        if mask.bit_count() == 1:
            rate = _rate(problem, mask)
            return (needed / rate if rate else 0.0), _leaf(problem, mask)
        found = [join(left, right, needed) for left, right in _splits(problem, mask)]
        return min(found, key=lambda plan: plan[0])

    def join(left: int, right: int, needed: float) -> tuple[float, Node]:
        f = _selectivity(problem, left, right)
        sizes = [_size(problem, side, horizon) for side in (left, right)]
        shares = needed_inputs(needed, f, sizes[0], sizes[1])
        (late, one), (later, other) = (
            best(side, _rounded(share)) for side, share in zip((left, right), shares, strict=True)
        )
        one_rate, other_rate = (size / horizon for size in sizes)
        rate = join_rate(one_rate, other_rate, f, horizon, _costs(problem, left, right))
        return local_time(needed, rate, late, later), joined(problem, one, other)

    return best(problem.everything, float(results))[1]


def _splits(problem: Problem, mask: int) -> list[tuple[int, int]]:
    low = mask & -mask
    parts = ((mask ^ part, part) for part in submasks(mask ^ low) if part)
    return [
        (left, right)
        for left, right in parts
        if is_joinable(problem, left) and is_joinable(problem, right)
    ]


def _selectivity(problem: Problem, left: int, right: int) -> float:
    return float(gain(problem.fractions, left, right))


def _rate(problem: Problem, mask: int) -> float:
    """A stream's own rate; a table is all there at once, which counts as one a second of it."""
    flow = problem.inputs[mask.bit_length() - 1]
    return flow.window if flow.is_table else flow.rate


def _size(problem: Problem, mask: int, horizon: float) -> float:
    """Combinations of a set by the horizon, had nothing been late."""
    size = problem.fraction(mask)
    for i in problem.members(mask):
        flow = problem.inputs[i]
        size *= flow.window if flow.is_table else flow.rate * horizon
    return size


def _costs(problem: Problem, left: int, right: int) -> ArrivalCosts:
    seconds = arrival_seconds(problem, "sorted" if problem.linked(left, right) else "nested")
    return ArrivalCosts(seconds, seconds)


def _leaf(problem: Problem, mask: int) -> Leaf:
    return Leaf(problem.query.aliases[mask.bit_length() - 1])


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}e}")

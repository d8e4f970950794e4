"""One option of each kind, of the least cost together, within a room: a knapsack."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

MOST_EXACT = 6
"""Kinds up to which all choices are weighed that no other is better than; beyond, greedily."""


@dataclass(frozen=True)
class Option:
    """An index of so many buckets (0: none), the bytes that it takes, and what searching costs."""

    buckets: int
    size: float
    cost: float


Choice = tuple[Option, ...]


def least_cost(kinds: Sequence[Sequence[Option]], room: float) -> Choice | None:
    """An option of each kind; None where not even the smallest of each have room."""
    if sum(min(option.size for option in options) for options in kinds) > room:
        return None
    return _exact(kinds, room) if len(kinds) <= MOST_EXACT else _greedy(kinds, room)


def _exact(kinds: Sequence[Sequence[Option]], room: float) -> Choice:
    """Kind after kind, going on with those choices that no other beats in both size and cost."""
    found: list[tuple[float, float, Choice]] = [(0.0, 0.0, ())]
    for options in kinds:
        longer = [
            (size + option.size, cost + option.cost, (*choice, option))
            for size, cost, choice in found
            for option in options
            if size + option.size <= room
        ]
        found = _undominated(longer)
    return min(found, key=lambda each: (each[1], each[0]))[2]


def _undominated(choices: list[tuple[float, float, Choice]]) -> list[tuple[float, float, Choice]]:
    kept: list[tuple[float, float, Choice]] = []
    for each in sorted(choices, key=lambda each: each[:2]):
        if not kept or each[1] < kept[-1][1]:
            kept.append(each)
    return kept


def _greedy(kinds: Sequence[Sequence[Option]], room: float) -> Choice:
    """From the smallest options, the step that spares the most for its bytes, again and again."""
    chosen = [min(options, key=lambda o: (o.size, o.cost)) for options in kinds]
    while True:
        left = room - sum(option.size for option in chosen)
        steps = [
            ((chosen[k].cost - option.cost) / max(option.size - chosen[k].size, 1.0), k, option)
            for k, options in enumerate(kinds)
            for option in options
            if option.cost < chosen[k].cost and option.size - chosen[k].size <= left
        ]
        if not steps:
            return tuple(chosen)
        _, kind, option = max(steps, key=lambda step: step[0])
        chosen[kind] = option

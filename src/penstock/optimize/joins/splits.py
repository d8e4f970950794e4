"""Splits of many sets into two at once, and the best split of each."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from penstock.optimize.model.problem import Floats, Masks

CHUNK = 1 << 17
"""Splits that are looked at together, as far as one set has not more."""

_SAME = 1e-9
"""How close, relatively, two values must be for the work to decide between them."""


def splits(masks: Masks, *, is_bushy: bool) -> Iterator[tuple[Masks, Masks]]:
    """All ways to make each set of two others, small sets first; or those that split one input off.

    Splits of one set follow each other, and come together.
    """
    sizes = np.bitwise_count(masks)
    for size in range(2, int(sizes.max(initial=0)) + 1):
        level = masks[sizes == size]
        bits, patterns = _bits(level, size), _patterns(size, is_bushy)
        step = max(1, CHUNK // len(patterns))
        for start in range(0, len(level), step):
            left = (bits[start : start + step] @ patterns.T).ravel()
            yield left, np.repeat(level[start : start + step], len(patterns)) ^ left


def best_of_each(masks: Masks, values: Floats, work: Floats) -> tuple[Masks, Masks]:
    """The sets, whose splits follow each other, and the place of each one's least value: of those
    that are equal, that of the least work."""
    starts = np.flatnonzero(np.append(True, masks[1:] != masks[:-1]))
    numbers = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(masks))))
    least = np.minimum.reduceat(values, starts)
    margin = np.where(np.isfinite(least), least + _SAME * np.abs(least), np.inf)
    close = np.where(values <= margin[numbers], work, np.inf)
    cheapest = np.minimum.reduceat(close, starts)
    is_best = (close == cheapest[numbers]) & (values <= margin[numbers])
    places = np.flatnonzero(is_best)
    _, first = np.unique(numbers[places], return_index=True)
    return masks[starts], places[first]


def _bits(masks: Masks, size: int) -> Masks:
    """The members of sets of one size, as bits, the lowest first."""
    rest, found = masks.copy(), np.empty((len(masks), size), np.int64)
    for place in range(size):
        found[:, place] = rest & -rest
        rest ^= found[:, place]
    return found


def _patterns(size: int, is_bushy: bool) -> Masks:
    """Which members are on the left: the lowest always, or all but one."""
    if not is_bushy:
        return np.ones((size, size), np.int64) - np.eye(size, dtype=np.int64)
    numbers = np.arange(1 << (size - 1))[:-1] if size > 1 else np.zeros(0, np.int64)
    others = numbers[:, None] >> np.arange(size - 1) & 1
    return np.concatenate([np.ones((len(numbers), 1), np.int64), others], axis=1)

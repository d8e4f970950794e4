"""Estimates from samples, each with its standard error."""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot, inf, prod, sqrt

import numpy as np
from numpy.typing import NDArray

from penstock.duration import MICROS
from penstock.figure import Figure

Int64s = NDArray[np.int64]
Floats = NDArray[np.float64]

# Neighbouring tuples may be alike; blocks this large a part of the sample hardly are.
BLOCKS = 20

# A sample without a hit does not show that there is none: half a hit is the customary middle.
HALF_A_HIT = 0.5


def sampled(value: float, error: float) -> Figure:
    """The figure, without digits that mean nothing."""
    return Figure(float(f"{value:.6g}"), "sampled", float(f"{error:.2g}"))


def estimate_rate(times: Int64s) -> Figure | None:
    """Tuples/s from event times in microseconds; None if they span no time."""
    if len(times) < 2 or times.max() == times.min():
        return None
    seconds = int(times.max() - times.min()) / MICROS
    blocks = max(2, min(BLOCKS, len(times) // 5))
    counts, _ = np.histogram(times, blocks)
    # The span could end a tuple earlier or later.
    error = hypot(float(counts.std(ddof=1)) * sqrt(blocks), 1.0) / seconds
    return sampled((len(times) - 1) / seconds, error)


def estimate_distinct(
    codes: Int64s, *, is_whole: bool, rows: float = inf, alive: float = inf
) -> Figure | None:
    """Different values: those seen, and Chao's estimate of those that were not.

    Chao 1984 (Chao1, bias-corrected), from how many values were seen once and twice; Chao 1987 for
    its variance. There are no more than `rows`. Where no value was seen twice nobody knows how many
    there are: no more count than are `alive` at once, or were seen. None if there is no value.
    """
    if not len(codes):
        return None
    _, counts = np.unique(codes, return_counts=True)
    seen, once, twice = len(counts), int((counts == 1).sum()), int((counts == 2).sum())
    if is_whole:
        return sampled(seen, 0.0)
    most = min(rows, max(alive, seen)) if once == seen else rows
    value = max(seen, min(seen + once * (once - 1) / (2 * (twice + 1)), most))
    ratio = once / max(twice, 1)
    variance = max(twice, 1) * (ratio**2 / 2 + ratio**3 + ratio**4 / 4)
    return sampled(value, min(sqrt(variance), value))


def estimate_agreement(codes: Sequence[Int64s], frequencies: Sequence[Floats]) -> Figure | None:
    """The fraction of combinations with equal keys, Σᵥ ∏ᵢ pᵢ(v); None if none was found.

    `codes` are the keys of independent samples, −1 for NULL, which equals nothing; `frequencies`
    are theirs, pᵢ by code. The estimate is unbiased, for a product of independent unbiased ones is.
    It is the mean of ∏ⱼ pⱼ over the tuples of any one sample i, so that its error is that of
    these means, each by blocks.
    """
    means, variance = [0.0], 0.0
    for i, own in enumerate(codes):
        others = [f for j, f in enumerate(frequencies) if j != i]
        hits = np.where(own >= 0, prod(f[own] for f in others), 0.0)
        means.append(float(hits.mean()))
        variance += _variance_of_mean(hits)
    if means[-1] > 0:
        return sampled(means[-1], sqrt(variance))
    combinations = prod(len(own) for own in codes)
    return sampled(HALF_A_HIT / combinations, 1 / combinations) if len(codes) == 2 else None


def frequencies_of(codes: Int64s, values: int) -> Floats:
    """How often each code comes, as fractions of all tuples, those with NULL included."""
    return np.bincount(codes[codes >= 0], minlength=values) / len(codes)


def estimate_fraction(hits: int, tries: int, independent: int | None = None) -> Figure:
    """The fraction of hits with its binomial error, as if only so many tries were independent."""
    smoothed = (hits + HALF_A_HIT) / (tries + 1)
    error = sqrt(smoothed * (1 - smoothed) / (independent or tries))
    return sampled(max(hits, HALF_A_HIT) / tries, error)


def _variance_of_mean(values: Floats) -> float:
    blocks = [block.mean() for block in np.array_split(values, min(BLOCKS, len(values)))]
    if len(blocks) < 2:
        return float(values[0]) ** 2
    return float(np.var(blocks, ddof=1)) / len(blocks)

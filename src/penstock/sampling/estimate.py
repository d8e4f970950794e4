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


def estimate_rate(strips: Sequence[Int64s]) -> Figure | None:
    """Tuples/s from event times in microseconds, of strips whose tuples follow each other; None if
    they span no time.

    Strips of as many tuples each take time by the rate that they have: all of it over all of their
    tuples is the rate in the mean.
    """
    strips = [times for times in strips if len(times) > 1]
    seconds = sum(int(times.max() - times.min()) for times in strips) / MICROS
    if not seconds:
        return None
    each = max(2, min(BLOCKS, sum(map(len, strips)) // 5) // len(strips))
    counts = np.concatenate([_deviations(times, each) for times in strips])
    # The span could end a tuple earlier or later.
    spread = float(np.sqrt((counts**2).sum() * each / (each - 1))) if len(counts) else 0.0
    rate = (sum(map(len, strips)) - len(strips)) / seconds
    between = _between(strips) * rate
    return sampled(rate, hypot(spread / seconds, len(strips) / seconds, between))


def _deviations(times: Int64s, blocks: int) -> Floats:
    """How far the tuples of parts of a strip, as long as each other, are from their mean."""
    counts, _ = np.histogram(times, blocks)
    return np.asarray(counts - counts.mean(), np.float64)


def _between(strips: Sequence[Int64s]) -> float:
    """The relative error of the mean that strips leave that do not have the same rate."""
    if len(strips) < 2:
        return 0.0
    gaps = np.array([(int(t.max()) - int(t.min())) / (len(t) - 1) for t in strips])
    return float(gaps.std(ddof=1) / gaps.mean() / sqrt(len(gaps)))


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

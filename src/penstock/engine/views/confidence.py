"""Confidence: the interval of an estimated sum or mean, where what was kept tells enough for one.

A sum T that comes out too high also seems to vary more, and a too low one less: the more so, the
fewer tuples make it up. So an interval has the values θ from which T is within t standard
deviations, where the variance is the one at θ and not at T. It is V + g·(θ − T), and g = κ₃/V by
the third moment κ₃ of what the tuples contribute (for counts of single tuples this is the score
interval of Poisson; Wilson, "Probable inference", 1927). Where no sign differs, the sum of the kept
is a bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from penstock.kernels.replicates import (
    ALL,
    BUCKETS,
    OTHERS_THAN_ZERO,
    REPLICATES,
    ROOTS,
    UNSEEN,
    VALUES,
    buckets,
    higher,
    totals,
)

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ends = tuple[Floats, Floats]

# How likely the true value lies within an interval.
CONFIDENCE = 0.95
# Of so few contributions that are alike the variance is not known to a factor of two.
LEAST_CONTRIBUTIONS = 3.0
# Where values are spread over orders of magnitude, the largest make up the sum and few of them are
# kept. The spread is the σ of lognormal values; exponential ones have 1. From the first on the
# number of contributions that is needed grows, and at the second it is this.
SPREAD = (0.95, 1.25)
LEAST_SPREAD_OUT = 150.0
# What the largest values that were not kept take from the coverage, by σ² above the first, and what
# a few contributions do that differ by chance, by one over their number: both are measured
# (`penstock bench intervals`).
_FROM_SPREAD = 1.5
_BY_SPREAD = 0.6
_BY_FEW = 1.5
# A variance that seems to rest on fewer degrees of freedom is itself ill known, and so are they.
_LEAST_FREEDOM = 4.0
# Higher orders are never more of the first; an estimate of them may be.
_LEAST_OF_FIRST = 0.25
# Sums that cancel to less than this leave errors of rounding only.
_NOTHING = 1e-20


@dataclass(frozen=True)
class Contributions:
    """Contributions of tuples to the total of each row of sums: how much it varies, and by what."""

    rows: Floats

    @cached_property
    def first(self) -> Floats:
        """The first order of the variance by buckets."""
        parts = buckets(self.rows)
        about = parts - parts.mean(axis=1, keepdims=True)
        found: Floats = about**2 * (BUCKETS / (BUCKETS - 1))
        return found

    @cached_property
    def variance(self) -> Floats:
        """The variance of the total."""
        first = self.first.sum(axis=1)
        found: Floats = np.maximum(first - higher(self.rows).mean(axis=1), _LEAST_OF_FIRST * first)
        return found

    @cached_property
    def slope(self) -> Floats:
        """How the variance grows with the total: g."""
        parts = buckets(self.rows)
        cubes = ((parts - parts.mean(axis=1, keepdims=True)) ** 3).sum(axis=1)
        scale = BUCKETS**2 / ((BUCKETS - 1) * (BUCKETS - 2))
        found: Floats = scale * cubes / self.first.sum(axis=1)
        return found

    @cached_property
    def concentration(self) -> Floats:
        """One over the number of contributions, if all were alike.

        Those of one sign that were so would vary by T²/V. By the fourth powers of buckets up to a
        dozen can be told; where there are more in one bucket they are normal, and say no more.
        """
        parts, first = buckets(self.rows), self.first.sum(axis=1)
        fourth = ((parts - parts.mean(axis=1, keepdims=True)) ** 4).sum(axis=1)
        by_chance = 3.0 / BUCKETS
        by_fourths = np.clip((fourth / first**2 - by_chance) / (1.0 - by_chance), 0.0, 1.0)
        by_total = self.variance / totals(self.rows) ** 2
        found: Floats = np.where(self.sign == 0, by_fourths, by_total)
        return found

    @cached_property
    def quantile(self) -> Floats:
        """Student's t by the degrees of freedom that the variance has.

        V has 2·V² / var(V) of them (Satterthwaite, "An approximate distribution of estimates of
        variance components", 1946), or fewer where some contributions outweigh all others.
        """
        # Loaded late: most views are not estimated.
        from scipy.special import stdtrit

        of_first = self.first.var(axis=1, ddof=1) * BUCKETS
        noise = of_first + higher(self.rows).var(axis=1, ddof=1) / REPLICATES
        freedom = np.where(noise > 0, 2 * self.variance**2 / noise, BUCKETS)
        found: Floats = stdtrit(np.clip(freedom, _LEAST_FREEDOM, BUCKETS), 0.5 + CONFIDENCE / 2)
        return found

    @cached_property
    def sign(self) -> Floats:
        """1 or −1 where all contributions seem to have this sign, else 0."""
        parts = buckets(self.rows)
        is_one, is_other = (parts >= 0).all(axis=1), (parts <= 0).all(axis=1)
        found: Floats = np.where(is_one, 1.0, 0.0) - np.where(is_other, 1.0, 0.0)
        return found

    @property
    def is_certain(self) -> Bools:
        """Whether nothing was shed."""
        found: Bools = self.rows[:, UNSEEN] == 0
        return found

    @cached_property
    def spread(self) -> Floats:
        """The σ of the values if they were lognormal, by roots: the largest matter little."""
        facts = self.rows[:, OTHERS_THAN_ZERO], self.rows[:, VALUES], self.rows[:, ROOTS]
        squared = 4.0 * np.log(facts[0] * facts[1] / facts[2] ** 2)
        found: Floats = np.sqrt(np.where(squared > 0, squared, 0.0))
        return found

    def number(self, tuples: Floats) -> Floats:
        """The number of contributions that are not 0, of so many kept tuples; rather too few."""
        share = self.rows[:, OTHERS_THAN_ZERO] / self.rows[:, ALL]
        found: Floats = np.fmax(tuples * share, totals(self.rows) ** 2 / self.variance)
        return found


def sum_ends(rows: Floats, kept: Floats, tuples: Floats) -> Ends:
    """The interval of each sum, NaN where there is none.

    `kept` are the sums of what was kept, and `tuples` how many were of the inputs that are summed.
    """
    of, values = Contributions(rows), totals(rows)
    slope = np.where(of.sign == 0, of.slope, _steeper(of.slope, of.variance / values, of.sign))
    few = of.concentration
    low, high = (values + end for end in _ends(of, slope, few, of))
    low = np.where(of.sign > 0, np.maximum(low, kept), low)
    high = np.where(of.sign < 0, np.minimum(high, kept), high)
    return _told(of, (low, high), _is_enough(of, few, tuples), values)


def mean_ends(summed: Floats, counted: Floats, tuples: Floats) -> Ends:
    """The interval of each mean S/C, NaN where there is none: it varies by S − (S/C)·C, over C."""
    sums, count = Contributions(summed), totals(counted)
    values = totals(summed) / count
    of = Contributions(summed - values[:, np.newaxis] * counted)
    few = np.fmax(sums.concentration, of.concentration)
    low, high = (values + end / count for end in _ends(of, of.slope, few, sums))
    low = np.where(sums.sign > 0, np.maximum(low, 0.0), low)
    high = np.where(sums.sign < 0, np.minimum(high, 0.0), high)
    nothing = _NOTHING * (sums.variance + values**2 * Contributions(counted).variance)
    is_enough = _is_enough(sums, few, tuples) & (of.variance > nothing)
    return _told(sums, (low, high), is_enough, values)


def _steeper(slope: Floats, least: Floats, sign: Floats) -> Floats:
    """A slope that is not below V/T, which it is for contributions that are all alike."""
    found: Floats = np.where(sign > 0, np.fmax(slope, least), np.fmin(slope, least))
    return found


def _ends(of: Contributions, slope: Floats, few: Floats, values: Contributions) -> Ends:
    """How far below and above its estimate a value may be."""
    quantile = of.quantile
    middle = quantile**2 * slope / 2
    half = quantile * np.sqrt(of.variance + (quantile * slope) ** 2 / 4)
    by_few = 1.0 + _BY_FEW * few
    by_both = by_few + _BY_SPREAD * np.fmax(values.spread**2 - _FROM_SPREAD, 0.0)
    # Values of one sign that were not kept can only be missing on one side.
    below = np.where(values.sign > 0, by_few, by_both)
    above = np.where(values.sign < 0, by_few, by_both)
    return middle - half * below, middle + half * above


def _is_enough(of: Contributions, few: Floats, tuples: Floats) -> Bools:
    """Whether there are enough contributions for an interval."""
    first, last = SPREAD
    part = np.clip((of.spread - first) / (last - first), 0.0, 1.0)
    is_many = (part == 1.0) | (few * LEAST_CONTRIBUTIONS <= 1.0)
    found: Bools = is_many & ((part == 0.0) | (of.number(tuples) >= part * LEAST_SPREAD_OUT))
    return found


def _told(of: Contributions, ends: Ends, is_enough: Bools, values: Floats) -> Ends:
    """The ends where they say something: an interval of no width is certain, or not one at all."""
    low, high = (np.where(is_enough & (of.variance > 0), end, np.nan) for end in ends)
    return np.where(of.is_certain, values, low), np.where(of.is_certain, values, high)

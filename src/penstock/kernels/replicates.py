"""Replicates: what sums over kept tuples would vary by, from random signs of the tuples.

A tuple that is kept with probability 1/w counts w times. In replicate r it counts w·(1 + i·s·ε)
times, where s² = 1 − 1/w and ε = ±1 is a sign of its own. A product of such numbers over the tuples
of a result has the mean Π w over the signs; the product of those of two results has the mean Π w
over the union of their tuples, because i²s² = 1/w − 1 for each tuple that they share. So with the
totals T_r of the replicates and T, that of the plain weights, −mean (T_r − T)² has the mean
T² − Σ over pairs of results of Π w over their union, which is an unbiased estimate of the variance
of T, whatever the joins (Horvitz and Thompson, "A generalization of sampling", 1952).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from penstock.kernels.compiled import compiled
from penstock.kernels.exact_sum import add_pairs

Int64s = NDArray[np.int64]
Floats = NDArray[np.float64]

# The estimated variance is of about so many degrees of freedom; Student's t quantile is then within
# 4 % of the normal one.
REPLICATES = 32

# A sum is a row of numbers: that of the weights and the error that it leaves out, then the
# imaginary parts of the replicates, and over results their real parts less that of the weights.
TOTAL = 2
TUPLES_WIDTH = TOTAL + REPLICATES
RESULTS_WIDTH = TOTAL + 2 * REPLICATES

_BITS = 64


@compiled
def weighed_tuples(values: Floats, weights: Floats, lots: Int64s) -> Floats:
    """The summands of single tuples, one a row; bit r of its lot is a tuple's sign in replicate r.

    The real part of a tuple is the same in all replicates.
    """
    out = np.empty((len(values), TUPLES_WIDTH))
    for i in range(len(values)):
        part = values[i] * math.sqrt(weights[i] * (weights[i] - 1.0))
        out[i, 0], out[i, 1] = values[i] * weights[i], 0.0
        for r in range(REPLICATES):
            out[i, TOTAL + r] = part if (lots[i] >> r) & 1 else -part
    return out


@compiled
def weighed_results(
    ids: Int64s, groups: int, values: Floats, weights: Floats, lots: Int64s, sums: Floats
) -> Floats:
    """The sums over the results of each group, for each of several values of a result.

    `values` has a row for each value; `weights` and `lots` one for each member of the results that
    is a tuple, and `sums` for each that is a row of sums over tuples. Nothing as large as all
    results times all replicates is ever held.
    """
    out = np.zeros((len(values), groups, RESULTS_WIDTH))
    real, imaginary = np.empty(REPLICATES), np.empty(REPLICATES)
    for i in range(len(ids)):
        total = 1.0
        real[:] = 1.0
        imaginary[:] = 0.0
        for member in range(len(weights)):
            weight, lot = weights[member, i], lots[member, i]
            part = math.sqrt(weight * (weight - 1.0))
            total *= weight
            for r in range(REPLICATES):
                signed = part * (2.0 * ((lot >> r) & 1) - 1.0)
                before = real[r]
                real[r] = before * weight - imaginary[r] * signed
                imaginary[r] = before * signed + imaginary[r] * weight
        for member in range(len(sums)):
            weight = sums[member, i, 0] + sums[member, i, 1]
            total *= weight
            for r in range(REPLICATES):
                signed = sums[member, i, TOTAL + r]
                before = real[r]
                real[r] = before * weight - imaginary[r] * signed
                imaginary[r] = before * signed + imaginary[r] * weight
        for v in range(len(values)):
            value = values[v, i]
            if value != 0.0:
                row = out[v, ids[i]]
                row[0], row[1] = add_pairs(row[0], row[1], value * total, 0.0)
                for r in range(REPLICATES):
                    row[TOTAL + r] += value * imaginary[r]
                    row[TUPLES_WIDTH + r] += value * (real[r] - total)
    return out


def totals(rows: Floats) -> Floats:
    """The sums of the weights."""
    found: Floats = rows[:, 0] + rows[:, 1]
    return found


def squares(rows: Floats) -> Floats:
    """−Re (T_r − T)² of each replicate, whose mean estimates the variance of T."""
    imaginary, real = rows[:, TOTAL:TUPLES_WIDTH], rows[:, TUPLES_WIDTH:]
    found: Floats = imaginary**2 - real**2
    return found


def marks(lots: Int64s) -> Int64s:
    """One of 64 bits for each tuple; it is by other bits of the lot than those of the signs."""
    places = lots.view(np.uint64) >> np.uint64(_BITS - 6)
    return (np.uint64(1) << places).view(np.int64)


def marked(bits: Int64s) -> Floats:
    """About how many tuples have set these bits (linear counting: Whang et al., 1990)."""
    clear = _BITS - np.bitwise_count(bits.view(np.uint64)).astype(np.float64)
    return np.where(clear > 0, -_BITS * np.log(np.maximum(clear, 1.0) / _BITS), np.inf)

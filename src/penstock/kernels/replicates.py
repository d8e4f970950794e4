"""Replicates: what sums over kept tuples would vary by, from the tuples' random lots.

A tuple that is kept with probability 1/w counts w times. Its part of the variance of a sum T is
w·(w − 1) times the square of what the sum has through it. A result goes through all its tuples:

    V = Σ over members of (first order) − Σ over pairs of members + Σ over triples − …,

which is T² − Σ over pairs of results of Π w over the union of their tuples, an unbiased estimate of
the variance of T whatever the joins (Horvitz and Thompson, "A generalization of sampling", 1952).

The first order is large, and how it is made up says how far T is from normal. So every tuple is put
into one of 32 buckets by its lot, and a bucket has the sum of √(w·(w − 1)) times what goes through
its tuples. The squares of the buckets about their mean tell V, their cubes how skewed T is, and
their fourth powers how few tuples make up V. The higher orders are small. For these a tuple has 16
random signs ε and counts w·(1 + i·√(1 − 1/w)·ε) in a replicate: a product over the tuples of a
result has the pairs in its real part and the triples in its imaginary part, and the products of
those of two results have the mean that the tuples they share give.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from penstock.kernels.compiled import compiled
from penstock.kernels.exact_sum import add_pairs

Int64s = NDArray[np.int64]
Floats = NDArray[np.float64]

# Of so many buckets the variance is of 31 degrees of freedom at the best; Student's t quantile is
# then within 4 % of the normal one.
BUCKETS = 32
# The higher orders need fewer digits than the first.
SIGNS = 16

# A sum is a row of numbers: that of the weights and the error that it leaves out; facts about the
# values of those that were shed; the buckets; and the signs, over results their two parts.
TOTAL = 2
FACTS = 5
FIRST = TOTAL + FACTS
SIGNED = FIRST + BUCKETS
ODD = SIGNED + SIGNS
TUPLES_WIDTH = ODD
RESULTS_WIDTH = ODD + SIGNS

# The facts: how many results stand for others that are not there, and of those that do so by what
# the values are read from, how many there are, how many values are not 0, and the sums of the roots
# and of the values, all without sign.
UNSEEN, ALL, OTHERS_THAN_ZERO, ROOTS, VALUES = range(TOTAL, FIRST)

# Earlier checkpoints have 32 signs instead of buckets, and no facts.
_SIGNS_BEFORE = 32

_BITS = 64
_BUCKET_SHIFT = 32


def facts_of(values: Floats) -> Floats:
    """The facts about single values, one a row, each of which stands for one that was shed."""
    sizes = np.abs(values)
    one = np.ones(len(values))
    rows: Floats = np.stack([one, one, (sizes > 0).astype(np.float64), np.sqrt(sizes), sizes])
    return rows


@compiled
def weighed_tuples(values: Floats, facts: Floats, weights: Floats, lots: Int64s) -> Floats:
    """The summands of single tuples, one a row; the low bits of its lot are a tuple's signs."""
    out = np.zeros((len(values), TUPLES_WIDTH))
    for i in range(len(values)):
        part = values[i] * math.sqrt(weights[i] * (weights[i] - 1.0))
        out[i, 0] = values[i] * weights[i]
        for f in range(FACTS):
            out[i, TOTAL + f] = facts[f, i] * (weights[i] - 1.0)
        out[i, FIRST + ((lots[i] >> _BUCKET_SHIFT) & (BUCKETS - 1))] = part
        for r in range(SIGNS):
            out[i, SIGNED + r] = part if (lots[i] >> r) & 1 else -part
    return out


@compiled
def weighed_results(
    ids: Int64s,
    groups: int,
    values: Floats,
    facts: Floats,
    weights: Floats,
    lots: Int64s,
    sums: Floats,
) -> Floats:
    """The sums over the results of each group, for each of several values of a result.

    `values` has a row for each value, and `facts` one for each of its facts; `weights` and `lots`
    have one for each member of the results that is a tuple, and `sums` for each that is a row of
    sums over tuples. Nothing as large as all results times all buckets is ever held.
    """
    tuples, members = len(weights), len(weights) + len(sums)
    out = np.zeros((len(values), groups, RESULTS_WIDTH))
    plain, others, parts = np.ones(members), np.empty(members), np.empty(members)
    first, real, odd = np.empty(BUCKETS), np.zeros(SIGNS), np.zeros(SIGNS)
    for i in range(len(ids)):
        for m in range(members):
            if m < tuples:
                plain[m] = weights[m, i]
                parts[m] = math.sqrt(weights[m, i] * (weights[m, i] - 1.0))
            else:
                plain[m] = sums[m - tuples, i, 0] + sums[m - tuples, i, 1]
        total = 1.0
        for m in range(members):
            total *= plain[m]
            others[m] = 1.0
            for n in range(members):
                if n != m:
                    others[m] *= plain[n]
        first[:] = 0.0
        for m in range(members):
            if m < tuples:
                first[(lots[m, i] >> _BUCKET_SHIFT) & (BUCKETS - 1)] += others[m] * parts[m]
            else:
                for b in range(BUCKETS):
                    first[b] += others[m] * sums[m - tuples, i, FIRST + b]
        if members > 1:
            for r in range(SIGNS):
                whole, imaginary, linear = 1.0, 0.0, 0.0
                for m in range(members):
                    if m < tuples:
                        signed = parts[m] * (2.0 * ((lots[m, i] >> r) & 1) - 1.0)
                    else:
                        signed = sums[m - tuples, i, SIGNED + r]
                    before = whole
                    whole = before * plain[m] - imaginary * signed
                    imaginary = before * signed + imaginary * plain[m]
                    linear += others[m] * signed
                real[r] = whole - total
                odd[r] = imaginary - linear if members > 2 else 0.0
        for v in range(len(values)):
            row, value = out[v, ids[i]], values[v, i]
            for f in range(FACTS):
                row[TOTAL + f] += facts[v, f, i]
            if value != 0.0:
                row[0], row[1] = add_pairs(row[0], row[1], value * total, 0.0)
                for b in range(BUCKETS):
                    row[FIRST + b] += value * first[b]
                for r in range(SIGNS):
                    row[SIGNED + r] += value * real[r]
                    row[ODD + r] += value * odd[r]
    return out


def totals(rows: Floats) -> Floats:
    """The sums of the weights."""
    found: Floats = rows[:, 0] + rows[:, 1]
    return found


def buckets(rows: Floats) -> Floats:
    """The first order by buckets."""
    return rows[:, FIRST:SIGNED]


def higher(rows: Floats) -> Floats:
    """Replicates of what the higher orders take from the variance."""
    found: Floats = rows[:, SIGNED:ODD] ** 2 - rows[:, ODD:] ** 2
    return found


def marks(lots: Int64s) -> Int64s:
    """One of 64 bits for each tuple; it is by other bits of the lot than signs and buckets."""
    places = lots.view(np.uint64) >> np.uint64(_BITS - 6)
    return (np.uint64(1) << places).view(np.int64)


def marked(bits: Int64s) -> Floats:
    """About how many tuples have set these bits (linear counting: Whang et al., 1990).

    All bits are set by 266 tuples or more.
    """
    clear = _BITS - np.bitwise_count(bits.view(np.uint64)).astype(np.float64)
    return -_BITS * np.log(np.maximum(clear, 1.0) / _BITS)


def as_now(rows: Floats) -> Floats:
    """Sums as they are now, of those of an earlier checkpoint.

    Their 32 signs are as good as buckets, and the first of them as signs. The facts are not known:
    something was shed, and no value is known to be like those.
    """
    before = TOTAL + _SIGNS_BEFORE
    is_of_results = rows.shape[1] == before + _SIGNS_BEFORE
    if not is_of_results and rows.shape[1] != before:
        return rows
    now = np.zeros((len(rows), RESULTS_WIDTH if is_of_results else TUPLES_WIDTH))
    now[:, :TOTAL] = rows[:, :TOTAL]
    now[:, UNSEEN] = 1.0
    now[:, FIRST:SIGNED] = rows[:, TOTAL:before] / math.sqrt(_SIGNS_BEFORE)
    first = before if is_of_results else TOTAL
    now[:, SIGNED:ODD] = rows[:, first : first + SIGNS]
    return now

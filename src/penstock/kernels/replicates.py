"""Replicates: what sums over kept tuples would vary by, from the tuples' random lots.

A tuple that is kept with probability 1/w counts w times. Its part of the variance of a sum T is
w·(w − 1) times the square of what the sum has through it. A result goes through all its tuples:

    V = Σ over members of (first order) − Σ over pairs of members + Σ over triples − …,

which is T² − Σ over pairs of results of Π w over the union of their tuples, an unbiased estimate of
the variance of T whatever the joins (Horvitz and Thompson, "A generalization of sampling", 1952).

The first order is large, and how it is made up says how far T is from normal. So every tuple is put
into one of 32 buckets by its lot, and a bucket has the sum of √(w·(w − 1)) times what goes through
its tuples. The squares of the buckets about their mean tell V, their cubes how skewed T is, and
their fourth powers how few tuples make up V.

The higher orders are small, and of these a sample is enough. In each of 16 replicates a tuple
counts w·(1 + i·√(1 − 1/w)·δ), where δ is 0 in 14 of them and ±√8 in two, by its bucket: over all
buckets its mean is 0, and over all replicates that of its square is 1. So a product over the tuples
of a result has the pairs in its real part and the triples in its imaginary part, and the products
of those of two results have the mean that the tuples they share give.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from penstock.kernels.compiled import compiled, inlined, read_only
from penstock.kernels.exact_sum import add_pairs

Int64s = NDArray[np.int64]
Floats = NDArray[np.float64]

# Of so many buckets the variance is of 31 degrees of freedom at the best; Student's t quantile is
# then within 4 % of the normal one.
BUCKETS = 32
# The higher orders need fewer digits than the first. Two replicates are of the same four buckets.
REPLICATES = 16
_BLOCK = 4

# A sum is a row of numbers: that of the weights and the error that it leaves out; facts about the
# values of those that were shed; the buckets; and over results the two parts of the replicates.
TOTAL = 2
FACTS = 5
FIRST = TOTAL + FACTS
TUPLES_WIDTH = FIRST + BUCKETS
EVEN = TUPLES_WIDTH
ODD = EVEN + REPLICATES
RESULTS_WIDTH = ODD + REPLICATES

# The facts: how many results stand for others that are not there, and of those that do so by what
# the values are read from, how many there are, how many values are not 0, and the sums of the roots
# and of the values, all without sign.
UNSEEN, ALL, OTHERS_THAN_ZERO, ROOTS, VALUES = range(TOTAL, FIRST)

# Earlier checkpoints have 32 signs instead of buckets, and no facts.
_SIGNS_BEFORE = 32

_ROOT = math.sqrt(REPLICATES / 2)
_BITS = 64
_BUCKET_SHIFT = 32
_TABLES = 4
"""Tables are given by fours: the loop is compiled for each number of them, which takes seconds."""


@compiled
def weighed_tuples(values: Floats, weights: Floats, lots: Int64s) -> Floats:
    """The summands of single tuples, one a row."""
    out = np.zeros((len(values), TUPLES_WIDTH))
    for i in range(len(values)):
        row = out[i]
        part = values[i] * math.sqrt(weights[i] * (weights[i] - 1.0))
        row[0] = values[i] * weights[i]
        row[UNSEEN] = weights[i] - 1.0
        row[ALL] = weights[i] - 1.0
        if values[i] != 0.0:
            row[OTHERS_THAN_ZERO] = weights[i] - 1.0
            row[ROOTS] = (weights[i] - 1.0) * math.sqrt(abs(values[i]))
            row[VALUES] = (weights[i] - 1.0) * abs(values[i])
        row[FIRST + ((lots[i] >> _BUCKET_SHIFT) & (BUCKETS - 1))] = part
    return out


def weighed_results(
    ids: Int64s,
    groups: int,
    values: Floats,
    repeats: Floats,
    unseen: Floats,
    told: Floats,
    own: int,
    weights: Floats,
    lots: Int64s,
    sums: Sequence[tuple[Floats, Int64s]],
) -> Floats:
    """The sums over the results of each group, for each of several values of a result.

    A row stands for `repeats` results of these values, with the members' weights, and for `unseen`
    that are not there. `values` has a row for each value, and `told` how many unseen ones it tells
    of; if a member has the value in its own sums, it has those numbers there, and is `own`, else
    that is −1. `weights` and `lots` have a row for each member that is a tuple, and `sums` a table
    for each that is a row of sums over tuples, with the place in it that each result has.
    """
    # Another number of tables would be another type, and so would arrays that may be written to.
    missing = -len(sums) % _TABLES if sums else _TABLES
    empty = np.empty((0, TUPLES_WIDTH))
    tables = tuple(read_only(table) for table in [*(t for t, _ in sums), *[empty] * missing])
    rows = np.array([where for _, where in sums], np.int64).reshape(len(sums), len(ids))
    about = read_only(values), read_only(repeats), read_only(unseen), read_only(told), own
    members = read_only(weights), read_only(lots), tables, read_only(rows)
    return _weighed(read_only(ids), groups, *about, *members)


@inlined
def _delta(bucket: int, turn: int) -> float:
    """δ of a bucket in the first or second replicate of its block: + − + −, then + + − −."""
    return -_ROOT if (bucket >> turn) & 1 else _ROOT


@compiled
def _weighed(
    ids: Int64s,
    groups: int,
    values: Floats,
    repeats: Floats,
    unseen: Floats,
    told: Floats,
    own: int,
    weights: Floats,
    lots: Int64s,
    sums: tuple[Floats, ...],
    rows: Int64s,
) -> Floats:
    """The same; nothing as large as all results times all buckets is ever held.

    Members of which nothing was shed do not vary. Most are such when shedding begins: they are
    factors, and nothing else is done for them.
    """
    tuples, folded = len(weights), len(rows)
    size = tuples + folded
    out = np.zeros((len(values), groups, RESULTS_WIDTH))
    plain, others, parts = np.ones(size), np.empty(size), np.empty(size)
    varies = np.zeros(size, np.bool_)
    places, signed = np.zeros(size, np.int64), np.zeros((size, REPLICATES))
    first, even, odd = np.empty(BUCKETS), np.zeros(REPLICATES), np.zeros(REPLICATES)
    for i in range(len(ids)):
        total, varying, spread = 1.0, 0, 0
        for m in range(tuples):
            plain[m] = weights[m, i]
            parts[m] = math.sqrt(plain[m] * (plain[m] - 1.0))
            places[m] = (lots[m, i] >> _BUCKET_SHIFT) & (BUCKETS - 1)
            varies[m] = plain[m] != 1.0
            varying += varies[m]
            total *= plain[m]
        for m in range(folded):
            row = sums[m][rows[m, i]]
            plain[tuples + m] = row[0] + row[1]
            varies[tuples + m] = row[UNSEEN] != 0.0
            spread += varies[tuples + m]
            total *= plain[tuples + m]
        varying += spread
        for m in range(size):
            others[m] = 1.0
            for n in range(size):
                if n != m:
                    others[m] *= plain[n]
        if spread:
            first[:] = 0.0
            for m in range(folded):
                if varies[tuples + m]:
                    share, row = others[tuples + m], sums[m][rows[m, i]]
                    for b in range(BUCKETS):
                        first[b] += share * row[FIRST + b]
        # Which replicates have anything: none of one that varies alone, two where two tuples agree.
        start, stop = 0, REPLICATES if varying > 1 else 0
        if size == 2 and tuples and stop:
            start = places[0] // _BLOCK * 2
            stop = start + 2
            if tuples == 2 and places[1] // _BLOCK * 2 != start:
                stop = start
        if stop > start:
            for m in range(folded):
                row = sums[m][rows[m, i]]
                for r in range(start, stop, 2):
                    block = FIRST + r // 2 * _BLOCK
                    one, two = row[block], row[block + 1]
                    three, four = row[block + 2], row[block + 3]
                    signed[tuples + m, r] = _ROOT * (one - two + three - four)
                    signed[tuples + m, r + 1] = _ROOT * (one + two - three - four)
            for m in range(tuples):
                for r in range(start, stop):
                    is_in = places[m] // _BLOCK == r // 2
                    signed[m, r] = parts[m] * _delta(places[m], r & 1) if is_in else 0.0
        if size == 2:
            for r in range(start, stop):
                even[r] = -signed[0, r] * signed[1, r]
        else:
            for r in range(start, stop):
                real, imaginary, linear = 1.0, 0.0, 0.0
                for m in range(size):
                    before = real
                    real = before * plain[m] - imaginary * signed[m, r]
                    imaginary = before * signed[m, r] + imaginary * plain[m]
                    linear += others[m] * signed[m, r]
                even[r] = real - total
                # Single members are in the buckets; what is left is of three and more.
                odd[r] = imaginary - linear
        for v in range(len(values)):
            into, single, times = out[v, ids[i]], values[v, i], told[v, i]
            into[UNSEEN] += unseen[i]
            if own >= 0:
                row = sums[own][rows[own, i]]
                for f in range(ALL, FIRST):
                    into[f] += times * row[f]
            elif times != 0.0:
                into[ALL] += times
                if single != 0.0:
                    into[OTHERS_THAN_ZERO] += times
                    into[ROOTS] += times * math.sqrt(abs(single))
                    into[VALUES] += times * abs(single)
            value = single * repeats[i]
            if value == 0.0:
                continue
            into[0], into[1] = add_pairs(into[0], into[1], value * total, 0.0)
            for m in range(tuples):
                into[FIRST + places[m]] += value * others[m] * parts[m]
            if spread:
                for b in range(BUCKETS):
                    into[FIRST + b] += value * first[b]
            for r in range(start, stop):
                into[EVEN + r] += value * even[r]
            if size > 2:
                for r in range(start, stop):
                    into[ODD + r] += value * odd[r]
    return out


def totals(rows: Floats) -> Floats:
    """The sums of the weights."""
    found: Floats = rows[:, 0] + rows[:, 1]
    return found


def buckets(rows: Floats) -> Floats:
    """The first order by buckets."""
    return rows[:, FIRST:EVEN]


def higher(rows: Floats) -> Floats:
    """Replicates of what the higher orders take from the variance."""
    found: Floats = rows[:, EVEN:ODD] ** 2 - rows[:, ODD:] ** 2
    return found


def marks(lots: Int64s) -> Int64s:
    """One of 64 bits for each tuple; it is by other bits of the lot than the bucket."""
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

    They are of 32 replicates with random signs, which are as good as buckets, and so are the first
    16 of their real parts. The facts are not known: something was shed, whatever it was like.
    """
    before = TOTAL + _SIGNS_BEFORE
    is_of_results = rows.shape[1] == before + _SIGNS_BEFORE
    if not is_of_results and rows.shape[1] != before:
        return rows
    now = np.zeros((len(rows), RESULTS_WIDTH if is_of_results else TUPLES_WIDTH))
    now[:, :TOTAL] = rows[:, :TOTAL]
    now[:, UNSEEN] = 1.0
    now[:, FIRST:EVEN] = rows[:, TOTAL:before] / math.sqrt(_SIGNS_BEFORE)
    if is_of_results:
        now[:, EVEN:ODD] = rows[:, before : before + REPLICATES]
    return now

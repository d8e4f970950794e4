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
_LOOKED_AT = 64
"""Results by which it is told which member changes most."""
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


@inlined
def _blocks(row: Floats) -> int:
    """The blocks of buckets in which a row of sums has anything, as bits."""
    found = 0
    if row[UNSEEN] != 0.0:
        for b in range(BUCKETS):
            if row[FIRST + b] != 0.0:
                found |= 1 << (b // _BLOCK)
    return found


@inlined
def _signed(row: Floats, start: int, block: int, turn: int) -> float:
    """The sum of δ times the buckets of a block, which begin at `start` of a row."""
    first = start + block * _BLOCK
    one, two, three, four = row[first], row[first + 1], row[first + 2], row[first + 3]
    found: float = one - four + (two - three if turn else three - two)
    return _ROOT * found


@compiled
def _quickest(lots: Int64s) -> int:
    """The member that is another tuple most often, from one result to the next."""
    best, most = 0, -1
    for m in range(len(lots)):
        changes = 0
        for i in range(1, min(len(lots[m]), _LOOKED_AT)):
            changes += lots[m, i] != lots[m, i - 1]
        if changes > most:
            best, most = m, changes
    return best


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

    Sums over results are linear in each member. So of results in a row that differ in one tuple
    only, the last of a join, these tuples are added up first, and multiplied by the others once.

    A member varies only in the blocks of buckets that its tuples fall into, which are few, and none
    if nothing of it was shed, as is so of most when shedding begins. The first order has what its
    members have, and the higher orders only something in blocks that two members share.
    """
    tuples, folded, size = len(weights), len(rows), len(ids)
    lead = _quickest(lots) if tuples else -1
    out = np.zeros((len(values), groups, RESULTS_WIDTH))
    # Of the tuples of the lead: sums of the weights, with their errors, and by bucket.
    head, led = np.zeros((len(values), 2)), np.zeros((len(values), BUCKETS))
    # Of the others: weights, the first order, and products by replicate in two parts.
    members = tuples + folded
    plain, parts, but_one = np.ones(members), np.zeros(members), np.ones(members)
    places, within = np.zeros(members, np.int64), np.zeros(members, np.int64)
    first = np.zeros(BUCKETS)
    # What is known of the rows of each table, by its first one: they are looked at as they come.
    starts = np.zeros(folded + 1, np.int64)
    for m in range(folded):
        starts[m + 1] = starts[m] + len(sums[m])
    blocks_of, plain_of = np.full(starts[folded], -1, np.int16), np.empty(starts[folded])
    stop = 0
    while stop < size:
        i = stop
        # The tuples of the lead that meet the same others.
        head[:], led_blocks = 0.0, 0
        is_same = True
        while is_same:
            weight, part, place = 1.0, 0.0, 0
            if lead >= 0:
                weight = weights[lead, stop]
            if weight != 1.0:
                part = math.sqrt(weight * (weight - 1.0))
                place = (lots[lead, stop] >> _BUCKET_SHIFT) & (BUCKETS - 1)
                led_blocks |= 1 << (place // _BLOCK)
            for v in range(len(values)):
                into, single, times = out[v, ids[stop]], values[v, stop], told[v, stop]
                into[UNSEEN] += unseen[stop]
                if own >= 0:
                    row = sums[own][rows[own, stop]]
                    for f in range(ALL, FIRST):
                        into[f] += times * row[f]
                elif times != 0.0:
                    into[ALL] += times
                    if single != 0.0:
                        into[OTHERS_THAN_ZERO] += times
                        into[ROOTS] += times * math.sqrt(abs(single))
                        into[VALUES] += times * abs(single)
                value = single * repeats[stop]
                if value != 0.0:
                    head[v, 0], head[v, 1] = add_pairs(head[v, 0], head[v, 1], value * weight, 0.0)
                    led[v, place] += value * part
            stop += 1
            is_same = stop < size and ids[stop] == ids[i]
            for m in range(tuples):
                if is_same and m != lead:
                    is_same = lots[m, stop] == lots[m, i] and weights[m, stop] == weights[m, i]
            for m in range(folded):
                is_same = is_same and rows[m, stop] == rows[m, i]
        # The others.
        product, blocks, shared = 1.0, 0, 0
        for m in range(tuples):
            within[m] = 0
            if m == lead:
                continue
            plain[m] = weights[m, i]
            if plain[m] != 1.0:
                parts[m] = math.sqrt(plain[m] * (plain[m] - 1.0))
                places[m] = (lots[m, i] >> _BUCKET_SHIFT) & (BUCKETS - 1)
                within[m] = 1 << (places[m] // _BLOCK)
            product *= plain[m]
        for m in range(folded):
            known = starts[m] + rows[m, i]
            if blocks_of[known] < 0:
                row = sums[m][rows[m, i]]
                blocks_of[known], plain_of[known] = _blocks(row), row[0] + row[1]
            plain[tuples + m], within[tuples + m] = plain_of[known], blocks_of[known]
            product *= plain_of[known]
        for m in range(members):
            shared |= blocks & within[m]
            blocks |= within[m]
        if blocks:
            first[:] = 0.0
            for m in range(members):
                but_one[m] = 1.0
                for n in range(members):
                    if n != m and n != lead:
                        but_one[m] *= plain[n]
            for m in range(tuples):
                if within[m]:
                    first[places[m]] += but_one[m] * parts[m]
            for m in range(folded):
                if within[tuples + m]:
                    share, row = but_one[tuples + m], sums[m][rows[m, i]]
                    for k in range(BUCKETS // _BLOCK):
                        if (within[tuples + m] >> k) & 1:
                            for b in range(k * _BLOCK, (k + 1) * _BLOCK):
                                first[b] += share * row[FIRST + b]
        shared |= blocks & led_blocks
        for v in range(len(values)):
            into, total = out[v, ids[i]], head[v, 0] + head[v, 1]
            more, less = head[v, 0] * product, head[v, 1] * product
            into[0], into[1] = add_pairs(into[0], into[1], more, less)
            for k in range(BUCKETS // _BLOCK):
                if ((blocks | led_blocks) >> k) & 1:
                    for b in range(k * _BLOCK, (k + 1) * _BLOCK):
                        into[FIRST + b] += led[v, b] * product
                        if blocks:
                            into[FIRST + b] += total * first[b]
        for k in range(BUCKETS // _BLOCK):
            if not (shared >> k) & 1:
                continue
            for turn in range(2):
                real, imaginary, linear = 1.0, 0.0, 0.0
                for m in range(members):
                    if m == lead:
                        continue
                    part = 0.0
                    if m >= tuples:
                        part = _signed(sums[m - tuples][rows[m - tuples, i]], FIRST, k, turn)
                    elif within[m] == 1 << k:
                        part = parts[m] * _delta(places[m], turn)
                    before = real
                    real = before * plain[m] - imaginary * part
                    imaginary = before * part + imaginary * plain[m]
                    linear += but_one[m] * part
                for v in range(len(values)):
                    into, total = out[v, ids[i]], head[v, 0] + head[v, 1]
                    part = _signed(led[v], 0, k, turn)
                    into[EVEN + 2 * k + turn] += total * (real - product) - part * imaginary
                    # Single members are in the buckets; what is left is of three and more.
                    odd = total * (imaginary - linear) + part * (real - product)
                    into[ODD + 2 * k + turn] += odd
        if led_blocks:
            led[:] = 0.0
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

"""Learning from a router's profile: which attribute tells most about an operator, and how many
rows to expect by its value."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from penstock.kernels.compiled import compiled, inlined, uncounted

Int64s = NDArray[np.int64]
Int32s = NDArray[np.int32]
Floats = NDArray[np.float64]
Codes = NDArray[np.uint8]

BUCKETS = 16
"""Buckets of an attribute: as many as a profile of some hundred tuples can fill."""
_ALL = BUCKETS + 1
"""With one more, for NULL."""
_OUTCOMES = 5
NOTHING = -1
"""In place of an attribute: none tells anything."""
_LEAST_GAIN = 0.05
"""The least gain ratio to go by an attribute: of a hundred tuples chance alone gives hundredths,
and what sets tuples apart gives tenths."""
_TRUST = 2.0
"""How many rows the average of all buckets counts for in each: a bucket with few is near it."""


@uncounted
def encode(values: Floats, bounds: Floats, codes: Codes) -> None:
    """Put each value into its bucket, that of NaN being the last.

    Numbers go by the upper bounds of all buckets but the last. Where these are NaN, values are
    codes of texts, of which each has its own bucket as long as there is one.
    """
    are_texts = np.isnan(bounds[0])
    for i in range(len(values)):
        if np.isnan(values[i]):
            codes[i] = BUCKETS
        elif are_texts:
            codes[i] = np.int64(values[i]) % BUCKETS
        else:
            bucket, step = 0, BUCKETS // 2
            while step > 0:
                bucket += step * (values[i] > bounds[bucket + step - 1])
                step //= 2
            codes[i] = bucket


@compiled
def learn(
    codes: Codes, tried: Int32s, matched: Int32s, attributes: Int64s, expected: Floats
) -> None:
    """For each input, note the attribute with the highest gain ratio and the rows to expect.

    `codes` has the buckets of a profiled tuple's attributes; `tried` and `matched` what went to
    each input for it, and what came out.
    """
    tables = np.zeros((codes.shape[1], _ALL, _OUTCOMES))
    for t in range(tried.shape[1]):
        tables[:] = 0.0
        for i in range(len(codes)):
            if tried[i, t] > 0:
                outcome = _outcome(matched[i, t] / tried[i, t])
                for a in range(codes.shape[1]):
                    tables[a, codes[i, a], outcome] += 1.0
        best, most = NOTHING, _LEAST_GAIN
        for a in range(codes.shape[1]):
            gain = _gain_ratio(tables[a])
            if gain > most:
                best, most = a, gain
        attributes[t] = best
        average = matched[:, t].sum() / max(tried[:, t].sum(), 1)
        expected[t] = average
        if best != NOTHING:
            _expect(codes[:, best], tried[:, t], matched[:, t], average, expected[t])


@compiled
def teach(
    values: Floats,
    are_texts: NDArray[np.bool_],
    tried: Int32s,
    matched: Int32s,
    bounds: Floats,
    attributes: Int64s,
    expected: Floats,
) -> None:
    """Put profiled tuples into buckets, and learn from them what to go by and what to expect.

    `values[a]` is attribute a of the tuples. `bounds[a]` become the upper bounds of its buckets but
    the last, with about as many tuples in each; texts have none (NaN).
    """
    codes = np.empty(values.shape[::-1], np.uint8)
    for a in range(len(values)):
        known = np.sort(values[a][~np.isnan(values[a])])
        for bucket in range(BUCKETS - 1):
            place = (bucket + 1) * len(known) // BUCKETS
            bounds[a, bucket] = np.nan if are_texts[a] else known[place] if len(known) else 0.0
        encode(values[a], bounds[a], codes[:, a])
    learn(codes, tried, matched, attributes, expected)


@inlined
def _outcome(rows: float) -> int:
    """A class of the rows that come out for one that goes in: none, some, 1, 2 and 4 or more."""
    if rows == 0.0:
        return 0
    return 1 + (rows >= 1.0) + (rows >= 2.0) + (rows >= 4.0)


@compiled
def _gain_ratio(table: Floats) -> float:
    """How much an attribute says about the outcome, for its own entropy (Quinlan's C4.5).

    Chance makes few tuples in many buckets say something too; that is taken off (Miller, Madow).
    """
    buckets, outcomes = table.sum(1), table.sum(0)
    own = _entropy(buckets)
    if own == 0.0:
        return 0.0
    freedom = ((buckets > 0).sum() - 1) * ((outcomes > 0).sum() - 1)
    chance = freedom / (2.0 * table.sum())
    gain: float = own + _entropy(outcomes) - _entropy(table.ravel()) - chance
    return gain / own


@compiled
def _entropy(counts: Floats) -> float:
    total, sum_ = counts.sum(), 0.0
    for count in counts:
        if count > 0.0:
            sum_ -= count * np.log(count / total)
    return sum_ / total if total > 0.0 else 0.0


@compiled
def _expect(codes: Codes, tried: Int32s, matched: Int32s, average: float, expected: Floats) -> None:
    rows_in = np.full(_ALL, _TRUST)
    rows_out = np.full(_ALL, _TRUST * average)
    for i in range(len(codes)):
        rows_in[codes[i]] += tried[i]
        rows_out[codes[i]] += matched[i]
    expected[:] = rows_out / rows_in

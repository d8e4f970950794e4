"""Number the groups of equal rows, and reduce their values."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from penstock.kernels.compiled import compiled
from penstock.kernels.exact_sum import Floats, add_row
from penstock.kernels.hashing import LONG_DIGITS, words_of

Int64s = NDArray[np.int64]
Bools = NDArray[np.bool_]

_SPREAD = np.uint64(0x9E3779B97F4A7C15)


def number_groups(columns: list[pa.Array], size: int) -> tuple[Int64s, Int64s]:
    """The group of each row, and the first row of each group.

    Rows are equal if all their values are: NULL is a value, NaN is one, and −0.0 is 0.0.
    """
    ids = np.zeros(size, np.int64)
    firsts = np.zeros(min(size, 1), np.int64)
    for column in columns:
        ids, firsts = pair_ids(ids, identities(column))
        if column.null_count and not _is_long(column.type):
            ids, firsts = pair_ids(ids, column.is_valid().to_numpy(False).astype(np.int64))
    return ids, firsts


def identities(column: pa.Array) -> Int64s:
    """A number for each value, equal for equal values; that of NULL is 0, or one of its own."""
    kind = column.type
    if _is_long(kind) or pa.types.is_null(kind):
        encoded = pc.dictionary_encode(column, null_encoding="encode")
        codes: Int64s = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
        return codes
    return order_keys(column)


def order_keys(column: pa.Array) -> Int64s:
    """Whole numbers in the order of the values, NaN above all; those of NULL mean nothing."""
    kind = column.type
    if pa.types.is_null(kind):
        return np.zeros(len(column), np.int64)
    if _is_long(kind):
        return _ranks(column)
    if pa.types.is_decimal(kind):
        known = column.is_valid().to_numpy(zero_copy_only=False)
        unscaled: Int64s = np.where(known, words_of(column)[0].view(np.int64), 0)
        return unscaled
    if pa.types.is_floating(kind):
        values = pc.fill_null(column, 0.0).to_numpy().astype(np.float64) + 0.0
        values[np.isnan(values)] = np.nan
        bits = values.view(np.int64)
        # The bits of negative floats grow downwards.
        keys: Int64s = np.where(bits < 0, np.int64(-(2**63)) - bits, bits)
        return keys
    if pa.types.is_date32(kind):
        column = column.cast(pa.int32())
    elif pa.types.is_boolean(kind):
        column = column.cast(pa.uint8())
    whole = column.cast(pa.int64())
    keys = (pc.fill_null(whole, 0) if whole.null_count else whole).to_numpy()
    return keys


def _is_long(kind: pa.DataType) -> bool:
    """Whether 64 bits do not hold the values: text, bytes, DECIMALs of many digits."""
    if pa.types.is_decimal(kind):
        return bool(kind.precision > LONG_DIGITS)
    return bool(pa.types.is_large_string(kind) or pa.types.is_large_binary(kind))


def _ranks(column: pa.Array) -> Int64s:
    encoded = pc.dictionary_encode(column)
    order = pc.array_sort_indices(encoded.dictionary).to_numpy()
    ranks = np.zeros(len(order) + 1, np.int64)
    ranks[order] = np.arange(len(order))
    places: Int64s = pc.fill_null(encoded.indices, len(order)).to_numpy()
    return ranks[places]


@compiled
def pair_ids(ones: Int64s, others: Int64s) -> tuple[Int64s, Int64s]:
    """The groups of equal pairs, numbered as they first appear, and the first row of each."""
    n = len(ones)
    size = 16
    while size < 2 * n:
        size *= 2
    mask = np.uint64(size - 1)
    table = np.full(size, -1)
    ids = np.empty(n, np.int64)
    firsts = np.empty(n, np.int64)
    groups = 0
    for i in range(n):
        h = (np.uint64(ones[i]) * _SPREAD) ^ np.uint64(others[i])
        h *= _SPREAD
        slot = (h ^ (h >> np.uint64(32))) & mask
        while table[slot] >= 0:
            first = firsts[table[slot]]
            if ones[first] == ones[i] and others[first] == others[i]:
                break
            slot = (slot + np.uint64(1)) & mask
        if table[slot] < 0:
            table[slot] = groups
            firsts[groups] = i
            groups += 1
        ids[i] = table[slot]
    return ids, firsts[:groups].copy()


@compiled
def counts_by(ids: Int64s, groups: int, counts: Int64s) -> Int64s:
    """The sum of the counts of each group."""
    out = np.zeros(groups, np.int64)
    for i in range(len(ids)):
        out[ids[i]] += counts[i]
    return out


@compiled
def least_by(ids: Int64s, groups: int, keys: Int64s, known: Bools) -> Int64s:
    """The row with the least key of each group, of those that are known; −1 if none is."""
    out = np.full(groups, -1)
    for i in range(len(ids)):
        if known[i]:
            best = out[ids[i]]
            if best < 0 or keys[i] < keys[best]:
                out[ids[i]] = i
    return out


@compiled
def rows_by(ids: Int64s, groups: int, rows: Floats) -> Floats:
    """The sum of the rows of each group, column by column; the first two are an exact sum."""
    out = np.zeros((groups, rows.shape[1]))
    for i in range(len(ids)):
        add_row(out[ids[i]], rows[i])
    return out


@compiled
def bits_by(ids: Int64s, groups: int, bits: Int64s) -> Int64s:
    """The bits that any row of each group has."""
    out = np.zeros(groups, np.int64)
    for i in range(len(ids)):
        out[ids[i]] |= bits[i]
    return out

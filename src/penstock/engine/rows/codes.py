"""Codes: integers that are equal and ordered as the values they stand for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Int64s = NDArray[np.int64]

_ALL_BUT_SIGN = np.int64(2**63 - 1)


def ordered_codes(columns: Sequence[pa.Array]) -> list[Int64s]:
    """Codes that compare, also between the columns, as the values do; a NULL's means nothing.

    The columns have one type. Text is ordered by code point; NaN is one value, above all numbers.
    """
    kind = columns[0].type
    tests = (pa.types.is_large_string, pa.types.is_large_binary, pa.types.is_decimal)
    if not any(test(kind) for test in tests):
        return [_number_codes(column) for column in columns]
    encoded = pa.concat_arrays(columns).dictionary_encode()
    ranks = np.zeros(len(encoded.dictionary) + 1, np.int64)
    ranks[pc.sort_indices(encoded.dictionary).to_numpy()] = np.arange(len(encoded.dictionary))
    codes = ranks[encoded.indices.fill_null(len(encoded.dictionary)).to_numpy()]
    return _split(codes, columns)


def combined_codes(parts: Sequence[Sequence[Int64s]]) -> list[Int64s]:
    """One code for several: `parts[p][c]` is part p of column c; equal parts, equal codes."""
    codes = np.concatenate(parts[0])
    for part in parts[1:]:
        codes = _pair(codes, np.concatenate(part))
    return _split(codes, parts[0])


def group_codes(columns: Sequence[pa.Array], count: int) -> Int64s:
    """A code for each of `count` rows, equal for equal values; NULL is a value here."""
    codes = np.zeros(count, np.int64)
    for column in columns:
        codes = _pair(codes, column.is_null().to_numpy(zero_copy_only=False).astype(np.int64))
        codes = _pair(codes, ordered_codes([column])[0])
    return codes


def _pair(left: Int64s, right: Int64s) -> Int64s:
    _, ours = np.unique(left, return_inverse=True)
    values, theirs = np.unique(right, return_inverse=True)
    return ours.astype(np.int64) * len(values) + theirs


def _split(codes: Int64s, like: Sequence[pa.Array] | Sequence[Int64s]) -> list[Int64s]:
    return np.split(codes, np.cumsum([len(column) for column in like])[:-1])


def _number_codes(column: pa.Array) -> Int64s:
    kind = column.type
    if pa.types.is_floating(kind):
        # The bits of positive doubles are ordered as integers, those of negative ones backwards.
        values = pc.cast(column, pa.float64()).fill_null(0.0).to_numpy(zero_copy_only=False) + 0.0
        values[np.isnan(values)] = np.nan
        bits = values.view(np.int64)
        ordered: Int64s = np.where(bits < 0, bits ^ _ALL_BUT_SIGN, bits)
        return ordered
    if pa.types.is_date32(kind):
        column = pc.cast(column, pa.int32())
    elif pa.types.is_boolean(kind):
        column = pc.cast(column, pa.uint8())
    codes: Int64s = pc.cast(column, pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
    return codes

"""Columns of plain lines of CSV, several times as fast as by a reader that knows all of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from penstock.kernels.csvtext.plain_lines import (
    are_numbers,
    find_fields,
    in_quotes,
    whole_numbers,
)
from penstock.kernels.jsontext.flat_columns import fits, is_text, texts_at

Int32s = NDArray[np.int32]
_MOST = 1 << 31
"""Bytes from which on places do not fit into 32 bits."""


def plain_columns(
    places: Sequence[int],
    types: Sequence[pa.DataType],
    width: int,
    delimiter: str,
    data: bytes,
    line_ends: int,
) -> list[pa.Array] | None:
    """The fields at some places of each line, in those types; None where the lines are not plain,
    or a value is not plainly of its type: then others must look at them. An empty field is NULL."""
    if (
        len(data) >= _MOST
        or not delimiter.isascii()
        or not places
        or not all(map(_is_known, types))
    ):
        return None
    columns = np.full(width, -1)
    columns[list(places)] = np.arange(len(places))
    text, rows = np.frombuffer(data, np.uint8), line_ends + (not data.endswith(b"\n"))
    is_plain, starts, stops = find_fields(text, ord(delimiter), columns, len(places), rows)
    made: list[pa.Array] = []
    for number, type_ in enumerate(types):
        found = _column(type_, text, starts[number], stops[number]) if is_plain else None
        if found is None:
            return None
        made.append(found)
    return made


def _is_known(type_: pa.DataType) -> bool:
    return is_text(type_) or pa.types.is_signed_integer(type_) or type_ == pa.float64()


def _column(
    type_: pa.DataType, data: NDArray[np.uint8], starts: Int32s, stops: Int32s
) -> pa.Array | None:
    if pa.types.is_signed_integer(type_):
        is_whole, numbers, absent = whole_numbers(data, starts, stops)
        if not is_whole or not fits(type_, numbers) or _has_quotes(data, starts, absent):
            return None
        return pa.array(numbers.astype(type_.to_pandas_dtype()), type_, mask=absent)
    empty = starts == stops
    if is_text(type_):
        absent = empty & ~in_quotes(data, starts) if empty.any() else empty
        return texts_at(data, starts, stops, absent).cast(type_)
    if not are_numbers(data, starts, stops) or _has_quotes(data, starts, empty):
        return None
    made = texts_at(data, starts, stops, empty).cast(type_)
    # No number in the text is infinite; one that becomes so is too large.
    return None if pc.any(pc.is_inf(made)).as_py() else made


def _has_quotes(data: NDArray[np.uint8], starts: Int32s, empty: NDArray[np.bool_]) -> bool:
    """Whether an empty field is in quotes: those are texts, and none of a number."""
    return bool(empty.any() and in_quotes(data, starts[empty]).any())

"""Columns of plain lines of JSON, several times as fast as by a reader that knows all of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from penstock.kernels.jsontext.flat_objects import (
    ABSENT,
    FALSE,
    FRACTION,
    TEXT,
    TRUE,
    WHOLE,
    Places,
    find_members,
    packed,
    whole_numbers,
)
from penstock.kernels.jsontext.plain_times import plain_times

Int64s = NDArray[np.int64]
_TIME = pa.timestamp("us", tz="UTC")
_WHOLE = {pa.int8(): 8, pa.int16(): 16, pa.int32(): 32, pa.int64(): 64}
_MOST = 1 << 31
"""Bytes from which on places do not fit into 32 bits."""


def flat_columns(
    names: Sequence[str],
    types: Sequence[pa.DataType],
    data: bytes | NDArray[np.uint8],
    rows: int | None = None,
) -> list[pa.Array] | None:
    """The members of those names in those types; None where the lines are not plain, are not so
    many, or a value is not plainly of its type: then others must look at them.

    A column of times is one of texts where they are not all plain.
    """
    spelled = [name.encode() for name in names]
    if len(data) >= _MOST or not all(map(_is_plain_name, names)) or not all(map(_is_plain, types)):
        return None
    text = np.frombuffer(data, np.uint8)
    # Else loops would be compiled twice, for what may be written to and for what may not.
    text.flags.writeable = False
    ends = np.cumsum([len(name) for name in spelled])
    is_plain, kinds, starts, stops = find_members(
        text,
        np.frombuffer(b"".join(spelled), np.uint8),
        ends,
        _lines_of(data) if rows is None else rows,
    )
    columns: list[pa.Array] = []
    for number, type_ in enumerate(types):
        found = (
            _column(type_, text, kinds[number], starts[number], stops[number]) if is_plain else None
        )
        if found is None:
            return None
        columns.append(found)
    return columns


def _lines_of(data: bytes | NDArray[np.uint8]) -> int:
    lines = bytes(data)
    return lines.count(b"\n") + (not lines.endswith(b"\n"))


def _is_plain_name(name: str) -> bool:
    """Whether a name in JSON is spelled as it is."""
    return name.isascii() and name.isprintable() and '"' not in name and "\\" not in name


def _is_plain(type_: pa.DataType) -> bool:
    return type_ in _WHOLE or is_text(type_) or type_ in (pa.float64(), pa.bool_(), _TIME)


def is_text(type_: pa.DataType) -> bool:
    """Whether a type is one of texts."""
    return bool(pa.types.is_string(type_) or pa.types.is_large_string(type_))


def fits(type_: pa.DataType, numbers: Int64s) -> bool:
    """Whether numbers are within a type of whole numbers."""
    limit = 1 << (_WHOLE[type_] - 1)
    return _WHOLE[type_] == 64 or not ((numbers >= limit) | (numbers < -limit)).any()


def _column(
    type_: pa.DataType,
    data: NDArray[np.uint8],
    kinds: NDArray[np.uint8],
    starts: Places,
    stops: Places,
) -> pa.Array | None:
    absent = kinds == ABSENT
    if type_ in _WHOLE:
        is_whole, numbers = whole_numbers(data, kinds, starts, stops)
        if not is_whole or not fits(type_, numbers):
            return None
        return _masked(numbers.astype(type_.to_pandas_dtype(), copy=False), absent)
    if type_ == pa.bool_():
        is_true = kinds == TRUE
        if not (absent | is_true | (kinds == FALSE)).all():
            return None
        return pa.array(is_true, type_, mask=absent)
    if type_ == _TIME:
        is_plain, micros = plain_times(data, kinds, starts, stops)
        if is_plain:
            return _masked(micros, absent).view(type_)
        type_ = pa.large_string()
    is_number = type_ == pa.float64()
    wanted = (kinds == WHOLE) | (kinds == FRACTION) if is_number else kinds == TEXT
    if not (absent | wanted).all():
        return None
    made = texts_at(data, starts, np.where(absent, starts, stops), absent).cast(type_)
    # No number in the text is infinite; one that becomes so is too large.
    return None if is_number and pc.any(pc.is_inf(made)).as_py() else made


def _masked(numbers: NDArray[np.signedinteger], absent: NDArray[np.bool_]) -> pa.Array:
    """Numbers, NULL where they are absent."""
    return pa.array(numbers, mask=absent if absent.any() else None)


def texts_at(
    data: NDArray[np.uint8],
    starts: NDArray[np.signedinteger],
    stops: NDArray[np.signedinteger],
    absent: NDArray[np.bool_],
) -> pa.StringArray:
    """The texts from some places to others; ArrowInvalid if one is no UTF-8."""
    values, places = packed(data, starts, stops)
    known = np.packbits(~absent, bitorder="little")
    texts = pa.StringArray.from_buffers(
        len(starts),
        pa.py_buffer(places),
        pa.py_buffer(values),
        pa.py_buffer(known) if absent.any() else None,
    )
    texts.validate(full=True)
    return texts

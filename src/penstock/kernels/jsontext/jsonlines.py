"""Rows as JSON lines: columns of all types as the loop takes them that writes the lines."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.kernels.jsontext.objects import (
    LOCAL,
    NULL,
    REAL,
    TEXT,
    TRUTH,
    UTC,
    WHOLE,
    WRITTEN,
    Bytes,
    Int64s,
    Values,
    written,
)
from penstock.kernels.jsontext.time_texts import FIRST, LAST


def json_lines(rows: pa.RecordBatch) -> pa.Buffer:
    """One JSON object a row, each ending in a newline. NaN and infinities become null."""
    made, _ = _objects(rows, b"}\n")
    return pa.py_buffer(made)


def json_objects(rows: pa.RecordBatch, *, is_key: bool = False) -> pa.LargeStringArray:
    """One JSON object a row. NaN and infinities become null, but in a key, which must tell them
    apart: there they are texts, and there is one zero only."""
    made, bounds = _objects(rows, b"}", is_key=is_key)
    return pa.LargeStringArray.from_buffers(len(rows), pa.py_buffer(bounds), pa.py_buffer(made))


def _objects(rows: pa.RecordBatch, end: bytes, *, is_key: bool = False) -> tuple[Bytes, Int64s]:
    if not len(rows):
        return np.empty(0, np.uint8), np.zeros(1, np.int64)
    names, columns = [], []
    for number, (name, column) in enumerate(zip(rows.schema.names, rows.columns, strict=True)):
        opening = "," if number else "{"
        names.append(f"{opening}{json.dumps(name, ensure_ascii=False)}:".encode())
        is_odd = is_key and pa.types.is_floating(column.type)
        columns.append(_texts(_odd_float(column), WRITTEN) if is_odd else _values(column))
    return written(names, columns, end)


def as_lines(texts: pa.LargeStringArray) -> pa.Buffer:
    """Texts, each ending in a newline."""
    if not len(texts):
        return pa.py_buffer(b"")
    return _bytes_of(pc.binary_join_element_wise(texts, _LINE_END, pa.scalar("", _TEXT)))


_TEXT = pa.large_string()
_LINE_END = pa.scalar("\n", _TEXT)


def _values(column: pa.Array) -> Values:
    """A column as the loop takes it; what that does not write is written before."""
    kind = column.type
    if pa.types.is_large_string(kind) or pa.types.is_string(kind):
        return _texts(column.cast(_TEXT), TEXT)
    if pa.types.is_float64(kind):
        return Values(REAL, _filled(column, float("nan")).view(np.int64))
    if pa.types.is_boolean(kind):
        return Values(TRUTH, _filled(column.cast(pa.int64()), NULL))
    if pa.types.is_integer(kind) and kind != pa.uint64():
        numbers = column.cast(pa.int64())
        if pc.min(numbers).as_py() != NULL:
            return Values(WHOLE, _filled(numbers, NULL))
    if pa.types.is_timestamp(kind):
        micros = column.cast(pa.timestamp("us", kind.tz)).cast(pa.int64())
        if _are_plain(micros):
            return Values(UTC if kind.tz else LOCAL, _filled(micros, NULL))
    return _texts(_encoded(column), WRITTEN)


def _are_plain(micros: pa.Array) -> bool:
    """Whether times are all of years that have four digits."""
    found = pc.min_max(micros).as_py()
    return found["min"] is None or (found["min"] >= FIRST and found["max"] <= LAST)


def _filled(column: pa.Array, null: float) -> Any:
    """The numbers of a column, and one that stands for null."""
    return (column.fill_null(null) if column.null_count else column).to_numpy()


def _texts(column: pa.LargeStringArray, kind: int) -> Values:
    _, offsets, data = column.buffers()
    bounds = np.frombuffer(offsets, np.int64)[column.offset : column.offset + len(column) + 1]
    starts = bounds[:-1] - bounds[0]
    if column.null_count:
        starts[column.is_null().to_numpy(zero_copy_only=False)] = NULL
    text = np.frombuffer(data or b"", np.uint8)[bounds[0] : bounds[-1]]
    return Values(kind, starts, np.diff(bounds), text)


def _odd_float(column: pa.Array) -> pa.Array:
    text = pc.add(column, pa.scalar(0.0, column.type)).cast(_TEXT)
    return pc.if_else(pc.is_finite(column), text, _in_quotes(text)).fill_null("null")


def _encoded(column: pa.Array) -> pa.Array:
    kind = column.type
    if pa.types.is_large_string(kind) or pa.types.is_string(kind):
        text = _quoted(column.cast(_TEXT))
    elif pa.types.is_timestamp(kind):
        text = _stamp(column)
    elif pa.types.is_nested(kind):
        text = pa.array([_nested_text(value, kind) for value in column.to_pylist()], _TEXT)
    elif pa.types.is_large_binary(kind):
        text = _in_quotes(pa.array(map(_base64, column.to_pylist()), _TEXT))
    elif pa.types.is_date(kind):
        text = _in_quotes(column.cast(_TEXT))
    elif pa.types.is_floating(kind):
        is_finite = pc.is_finite(column)
        if not pc.all(is_finite, min_count=0).as_py():
            column = pc.if_else(is_finite, column, pa.scalar(None, kind))
        text = column.cast(_TEXT)
    else:
        text = column.cast(_TEXT)
    return text.fill_null("null") if text.null_count else text


def _nested_text(value: Any, kind: pa.DataType) -> str:
    """A value with what is inside of it; a map is an object."""
    if value is None:
        return "null"
    if pa.types.is_struct(kind):
        return _object((field.name, _nested_text(value[field.name], field.type)) for field in kind)
    if pa.types.is_map(kind):
        return _object((str(key), _nested_text(each, kind.item_type)) for key, each in value)
    if is_any_list(kind):
        return f"[{','.join(_nested_text(each, kind.value_type) for each in value)}]"
    text: str = _encoded(pa.array([value], kind))[0].as_py()
    return text


def is_any_list(kind: pa.DataType) -> bool:
    """Whether values are lists, whichever way Arrow has them."""
    kinds = pa.types
    return bool(kinds.is_list(kind) or kinds.is_large_list(kind) or kinds.is_fixed_size_list(kind))


def _object(members: Iterable[tuple[str, str]]) -> str:
    quoted = (f"{json.dumps(name, ensure_ascii=False)}:{text}" for name, text in members)
    return f"{{{','.join(quoted)}}}"


def _base64(value: bytes | None) -> str | None:
    return None if value is None else b64encode(value).decode()


def _stamp(column: pa.Array) -> pa.Array:
    """ISO 8601 with microseconds, in UTC or without a zone."""
    text = column.cast(pa.timestamp("us")).cast(_TEXT)
    text = pc.replace_substring(text, " ", "T")
    end = 'Z"' if column.type.tz else '"'
    return pc.binary_join_element_wise(
        pa.scalar('"', _TEXT), text, pa.scalar(end, _TEXT), pa.scalar("", _TEXT)
    )


def _in_quotes(text: pa.Array) -> pa.Array:
    quote = pa.scalar('"', _TEXT)
    return pc.binary_join_element_wise(quote, text, quote, pa.scalar("", _TEXT))


def _quoted(text: pa.Array) -> pa.Array:
    """JSON strings; only values with something to escape are handled one by one."""
    plain = _in_quotes(text)
    special = pc.match_substring_regex(text, r'["\\\x00-\x1f]').fill_null(False)
    if not pc.any(special).as_py():
        return plain
    odd = np.flatnonzero(special.to_numpy(zero_copy_only=False))
    escaped = [json.dumps(v, ensure_ascii=False) for v in text.take(pa.array(odd)).to_pylist()]
    return pc.replace_with_mask(plain, special, pa.array(escaped, _TEXT))


def _bytes_of(lines: pa.LargeStringArray) -> pa.Buffer:
    _, offsets, data = lines.buffers()
    bounds = np.frombuffer(offsets, np.int64)
    first, last = bounds[lines.offset], bounds[lines.offset + len(lines)]
    return data.slice(int(first), int(last - first))

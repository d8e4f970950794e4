"""Rows as JSON lines, a column at a time."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.kernels.jsontext.time_texts import time_texts


def json_lines(rows: pa.RecordBatch) -> pa.Buffer:
    """One JSON object a row, each ending in a newline. NaN and infinities become null."""
    return _bytes_of(_objects(rows, "}\n")) if len(rows) else pa.py_buffer(b"")


def json_objects(rows: pa.RecordBatch, *, is_key: bool = False) -> pa.LargeStringArray:
    """One JSON object a row. NaN and infinities become null, but in a key, which must tell them
    apart: there they are texts, and there is one zero only."""
    return _objects(rows, "}", is_key=is_key)


def _objects(rows: pa.RecordBatch, end: str, *, is_key: bool = False) -> pa.LargeStringArray:
    parts: list[pa.Array | pa.Scalar] = []
    for number, (name, column) in enumerate(zip(rows.schema.names, rows.columns, strict=True)):
        opening = "{" if number == 0 else ","
        parts.append(pa.scalar(f"{opening}{json.dumps(name, ensure_ascii=False)}:", _TEXT))
        is_odd = is_key and pa.types.is_floating(column.type)
        parts.append(_odd_float(column) if is_odd else _encoded(column))
    return pc.binary_join_element_wise(*parts, pa.scalar(end, _TEXT), pa.scalar("", _TEXT))


def as_lines(texts: pa.LargeStringArray) -> pa.Buffer:
    """Texts, each ending in a newline."""
    if not len(texts):
        return pa.py_buffer(b"")
    return _bytes_of(pc.binary_join_element_wise(texts, _LINE_END, pa.scalar("", _TEXT)))


_TEXT = pa.large_string()
_LINE_END = pa.scalar("\n", _TEXT)


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
    if not column.null_count:
        micros = column.cast(pa.timestamp("us", column.type.tz)).cast(pa.int64()).to_numpy()
        written = time_texts(micros, is_utc=bool(column.type.tz))
        if written is not None:
            return written
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

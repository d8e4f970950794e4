"""Rows of files with one JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.json as pajson

from penstock.engine.arrow_types import arrow_type
from penstock.engine.lines import Piece, pieces_of
from penstock.engine.parsed import Parsed, converted, misfit, shorten
from penstock.engine.place import Place
from penstock.query import DataType
from penstock.query.source import Field, Source

_BITS = {DataType.TINYINT: 8, DataType.SMALLINT: 16, DataType.INT: 32, DataType.BIGINT: 64}
_BLANK = (b"\n", b"\r\n")


def json_rows(source: Source, path: Place, fields: list[Field]) -> Iterator[Parsed]:
    """The rows of a JSON file in the declared types, piece by piece; a missing member is NULL.

    Dates and timestamps are text. A number does not become text, nor text a number.
    """
    for piece in pieces_of(path, quoted=False):
        yield _parse(fields, piece)


def _parse(fields: list[Field], piece: Piece) -> Parsed:
    faults: dict[int, str] = {}
    try:
        columns = _fast(fields, piece.data)
    except pa.ArrowInvalid:
        columns = _slow(fields, _rows(piece.data), faults)
    for i, field in enumerate(fields):
        if field.type.is_temporal:
            columns[i] = converted(field, columns[i], faults)
    batch = pa.record_batch(columns, names=[field.name for field in fields])
    return Parsed(batch, faults, lambda row: _place(piece, row))


def _read_type(field: Field) -> pa.DataType:
    return arrow_type(DataType.STRING if field.type.is_temporal else field.type)


def _fast(fields: list[Field], data: bytes) -> list[pa.Array]:
    schema = pa.schema([(field.name, _read_type(field)) for field in fields])
    table = pajson.read_json(
        pa.BufferReader(data),
        pajson.ReadOptions(block_size=len(data) + 1),
        pajson.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore"),
    )
    # Arrow neither looks at the encoding nor minds where an object begins or ends.
    table.validate(full=True)
    has_blank = data.startswith(_BLANK) or any(b"\n" + end in data for end in _BLANK)
    lines = len(_rows(data)) if has_blank else data.count(b"\n") + (not data.endswith(b"\n"))
    if len(table) != lines:
        raise pa.ArrowInvalid("not one object a line")
    return [table.column(field.name).combine_chunks() for field in fields]


def _rows(data: bytes) -> list[bytes]:
    return [line for line in data.split(b"\n") if line.strip()]


def _slow(fields: list[Field], lines: list[bytes], faults: dict[int, str]) -> list[pa.Array]:
    columns: list[list[Any]] = [[] for _ in fields]
    for row, line in enumerate(lines):
        members = _members(line)
        if members is None:
            faults[row] = f"{shorten(line)} is not a JSON object"
        for field, column in zip(fields, columns, strict=True):
            value = (members or {}).get(field.name)
            if value is not None and not _fits(field, value):
                faults.setdefault(row, misfit(field, json.dumps(value)))
                value = None
            column.append(value)
    return [
        pa.array(column, _read_type(field)) for field, column in zip(fields, columns, strict=True)
    ]


def _members(line: bytes) -> dict[str, Any] | None:
    try:
        members = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return members if isinstance(members, dict) else None


def _fits(field: Field, value: Any) -> bool:
    match value:
        case bool():
            return field.type is DataType.BOOLEAN
        case int() if field.type.is_integer:
            bound = 1 << (_BITS[field.type] - 1)
            return -bound <= value < bound
        case int():
            return field.type.is_numeric and abs(value) < 1 << 1023
        case float():
            return field.type in (DataType.FLOAT, DataType.DOUBLE)
        case str():
            is_text = field.type is DataType.STRING or field.type.is_temporal
            # Half a surrogate pair can be escaped in JSON, but is no character.
            return is_text and not any("\ud800" <= letter <= "\udfff" for letter in value)
    return False


def _place(piece: Piece, row: int) -> str:
    lines = (n for n, line in enumerate(piece.data.split(b"\n")) if line.strip())
    return f"line {piece.first_line + next(n for i, n in enumerate(lines) if i == row)}"

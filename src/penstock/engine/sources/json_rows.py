"""Rows of files with one JSON object a line."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Collection, Iterator, Mapping
from decimal import Decimal
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.json as pajson
from numpy.typing import NDArray

from penstock.engine.expressions.arrow_types import arrow_type
from penstock.engine.expressions.json_names import doubtful_names, other_spellings, respelled
from penstock.engine.expressions.json_values import MisfitError, is_simple, json_value, member_of
from penstock.engine.sources.lines import Piece, lines_at, pieces_in, pieces_of, text_of_span
from penstock.engine.sources.parsed import (
    EXPONENT,
    Ask,
    FileFault,
    Located,
    Parsed,
    converted,
    misfit,
    row_most,
    shorten,
    too_long,
)
from penstock.kernels.jsontext.flat_columns import flat_columns
from penstock.query import DataType
from penstock.query.families.spelling import AmbiguousNameError
from penstock.query.source import Field

_BLANK = (b"\n", b"\r\n")
# A row that is no object, which Arrow takes for one without members; as the first row it ends the
# process.
_BARE_NULL = re.compile(rb"(?:\A(?:\xef\xbb\xbf)?|[}\n])\s*null")
MANY = 1 << 16
"""Bytes for which it pays to load compiled code."""
# How deep a column is looked for that is not where it should be.
_DEEPEST = 16


def json_rows(ask: Ask) -> Iterator[Parsed]:
    """The rows of a JSON file in the declared types, piece by piece; a missing member is NULL.

    Dates and timestamps are text. A number does not become text, nor text a number. Names match in
    any case. A column that the first piece of a file has only inside of other members is a fault of
    the file.
    """
    most = row_most(ask.source)
    for number, piece in enumerate(_pieces(ask, most)):
        if piece.skipped:
            yield too_long(ask, piece)
            continue
        parsed = parse_lines(list(ask.fields), piece, ask.source.timezone)
        if number == 0 and not ask.span.first:
            _refuse_nested(ask, piece, parsed.batch)
        yield parsed


def _pieces(ask: Ask, most: int) -> Iterator[Piece]:
    if ask.span.is_whole:
        return pieces_of(ask.path, quoted=False, most=most)
    return pieces_in(text_of_span(ask.path, ask.span, quoted=False), quoted=False, most=most)


def parse_lines(fields: list[Field], piece: Piece, zone: str | None = None) -> Parsed:
    """The rows of lines with an object each, in the declared types."""
    faults: dict[int, str] = {}
    try:
        columns = _fast(fields, piece.data, zone)
    except pa.ArrowInvalid:
        columns = _slow(fields, _rows(piece.data), faults, zone)
    return Parsed(_batch(fields, columns, faults, zone), faults, partial(_locate, piece))


def parse_plain(
    fields: list[Field], lines: NDArray[np.uint8], rows: int, zone: str | None = None
) -> tuple[pa.RecordBatch, Mapping[int, str]] | None:
    """So many plain lines as rows, and what is wrong with some; None if they are not plain."""
    faults: dict[int, str] = {}
    try:
        columns = _plain(fields, lines, zone, rows)
    except pa.ArrowInvalid:
        return None
    return None if columns is None else (_batch(fields, columns, faults, zone), faults)


def _batch(
    fields: list[Field], columns: list[pa.Array], faults: dict[int, str], zone: str | None
) -> pa.RecordBatch:
    """Columns as they were read, in the declared types."""
    for i, field in enumerate(fields):
        if field.type.is_temporal and columns[i].type != arrow_type(field.type):
            columns[i] = converted(field, columns[i], faults, zone)
        elif field.type is DataType.BINARY:
            columns[i] = _from_base64(field, columns[i], faults)
    return pa.record_batch(columns, names=[field.name for field in fields])


def _refuse_nested(ask: Ask, piece: Piece, batch: pa.RecordBatch) -> None:
    """A fault if a column is NULL throughout only because its values are deeper in the objects."""
    for field in ask.fields:
        is_absent = batch.column(field.name).null_count == len(batch)
        if is_absent and not ask.fills(field) and _is_quoted(field.name, piece.data):
            path = _only_inside(field.name, _rows(piece.data))
            if path is not None:
                reason = f"{ask.path} has {field.name}, which {ask.source.name} declares, only as"
                move = f"jq -c '.{field.name} = .{path}' moves it there"
                hint = f"columns are members of the outermost object; {move}; {ask.remedy(field)}"
                raise FileFault(f"{reason} {path}", hint)


def _is_quoted(name: str, data: bytes) -> bool:
    return f'"{name.lower()}"'.encode() in data.lower()


def _only_inside(name: str, lines: list[bytes]) -> str | None:
    """The path to a member of that name below the outermost ones, if it is nowhere among them."""
    found = None
    for line in lines:
        members = _members(line) or {}
        if name.lower() in (each.lower() for each in members):
            return None
        found = found or next(_paths(name, members), None)
    return found


def _paths(name: str, value: Any, path: str = "", depth: int = 0) -> Iterator[str]:
    """Where members of that name are, as jq writes it, less the first dot."""
    if depth > _DEEPEST:
        return
    match value:
        case dict():
            for key, inner in value.items():
                if key.lower() == name.lower():
                    yield f"{path}.{key}".removeprefix(".")
                yield from _paths(name, inner, f"{path}.{key}", depth + 1)
        case list():
            for inner in value:
                yield from _paths(name, inner, f"{path}[0]", depth + 1)


def _read_type(type_: DataType) -> pa.DataType:
    is_text = type_.is_temporal or type_ is DataType.BINARY
    return arrow_type(DataType.STRING if is_text else type_)


def _from_base64(field: Field, text: pa.Array, faults: dict[int, str]) -> pa.Array:
    """Bytes, which JSON has as text."""
    values: list[bytes | None] = []
    for row, each in enumerate(text.to_pylist()):
        try:
            values.append(None if each is None else b64decode(each, validate=True))
        except ValueError:
            faults.setdefault(row, misfit(field, each))
            values.append(None)
    return pa.array(values, arrow_type(field.type))


def _fast(fields: list[Field], data: bytes, zone: str | None) -> list[pa.Array]:
    plain = _plain(fields, data, zone) if len(data) >= MANY else None
    if plain is not None:
        return plain
    exacting = (field.type for field in fields if field.type.is_nested or field.type.is_decimal)
    if not all(map(is_simple, exacting)):
        raise pa.ArrowInvalid("Arrow reads no maps from JSON, nor times and long decimals as we do")
    if any("DECIMAL" in field.type for field in fields) and EXPONENT.search(data):
        raise pa.ArrowInvalid("Arrow ends the process at some exponents of decimals")
    if b"null" in data and _BARE_NULL.search(data):
        raise pa.ArrowInvalid("Arrow takes null for an object")
    columns = _read(fields, data)
    doubtful = doubtful_names(fields, columns)
    spellings = other_spellings(doubtful, data) if doubtful else {}
    if any(len(each) > 1 for each in spellings.values()):
        raise pa.ArrowInvalid("objects spell a name in several ways")
    if not spellings:
        return columns
    return _read(fields, data, {name: own for name, (own,) in spellings.items()})


def _plain(
    fields: list[Field], data: bytes | NDArray[np.uint8], zone: str | None, rows: int | None = None
) -> list[pa.Array] | None:
    # Times of another zone are read by those who know its clocks.
    times = {DataType.TIMESTAMP} if zone is None else set[DataType]()
    types = [
        arrow_type(field.type) if field.type in times else _read_type(field.type)
        for field in fields
    ]
    return flat_columns([field.name for field in fields], types, data, rows)


def _read(
    fields: list[Field], data: bytes, spellings: Mapping[str, str] = MappingProxyType({})
) -> list[pa.Array]:
    """The columns as Arrow reads them, where names are spelled as they are said to be."""
    names = [spellings.get(field.name, field.name) for field in fields]
    types = [_read_type(respelled(field.type, spellings)) for field in fields]
    schema = pa.schema(list(zip(names, types, strict=True)))
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
    columns = (table.column(name).combine_chunks() for name in names)
    return [
        column.view(_read_type(field.type)) if field.type.is_nested and spellings else column
        for field, column in zip(fields, columns, strict=True)
    ]


def _rows(data: bytes) -> list[bytes]:
    return [line for line in data.split(b"\n") if line.strip()]


def _slow(
    fields: list[Field], lines: list[bytes], faults: dict[int, str], zone: str | None
) -> list[pa.Array]:
    columns: list[list[Any]] = [[] for _ in fields]
    is_exact = any("DECIMAL" in field.type for field in fields)
    for row, line in enumerate(lines):
        members = _members(line, is_exact)
        if members is None:
            faults[row] = f"{shorten(line)} is not a JSON object"
        for field, column in zip(fields, columns, strict=True):
            value = None
            try:
                value = member_of(members or {}, field.name)
                column.append(json_value(value, field.type, zone))
            except MisfitError:
                faults.setdefault(row, misfit(field, json.dumps(value, default=str)))
                column.append(None)
            except AmbiguousNameError as error:
                faults.setdefault(row, f"members {error}")
                column.append(None)
    return [
        pa.array(column, _read_type(field.type))
        for field, column in zip(fields, columns, strict=True)
    ]


def _members(line: bytes, is_exact: bool = False) -> dict[str, Any] | None:
    """The members of an object; numbers with a point keep their digits if it `is_exact`."""
    try:
        members = json.loads(line, parse_float=Decimal if is_exact else None)
    except (ValueError, RecursionError):
        return None
    return members if isinstance(members, dict) else None


def _locate(piece: Piece, rows: Collection[int]) -> Mapping[int, Located]:
    found = lines_at(piece, rows)
    return {row: Located("line", line, text) for row, (line, text) in found.items()}

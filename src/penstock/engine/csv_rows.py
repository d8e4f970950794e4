"""Rows of CSV files."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from penstock.engine.arrow_types import arrow_type
from penstock.engine.lines import Piece, pieces_of, row_line
from penstock.engine.parsed import Parsed, converted, match_columns, misfit, shorten
from penstock.engine.place import Place
from penstock.query import DataType
from penstock.query.source import Field, Source


@dataclass(frozen=True)
class _Layout:
    """How the lines of a file are cut into fields: `places` is where the wanted columns stand."""

    fields: tuple[Field, ...]
    places: tuple[int, ...]
    width: int
    delimiter: str
    null: str


def csv_rows(source: Source, path: Place, fields: list[Field]) -> Iterator[Parsed]:
    """The rows of a CSV file in the declared types, piece by piece.

    An empty field is NULL (but "" in quotes is the empty text), as is what `null` says.
    """
    layout = None
    for piece in pieces_of(path, quoted=True):
        if layout is None:
            layout, piece = _layout(source, path, fields, piece)
        if piece.data:
            yield _parse(layout, piece)


def _layout(
    source: Source, path: Place, fields: list[Field], piece: Piece
) -> tuple[_Layout, Piece]:
    """The layout of a file, and its first piece without the header."""
    delimiter, null = str(source.option("delimiter") or ","), str(source.option("null") or "")
    if source.option("header") is False:
        names = [field.name for field in source.fields]
    else:
        line, _, rest = piece.data.partition(b"\n")
        text = line.decode("utf-8-sig", errors="replace").strip("\r")
        names = [name.strip() for name in next(csv.reader([text], delimiter=delimiter), [])]
        piece = Piece(rest, piece.first_line + 1)
    places = match_columns(source, path, fields, names)
    wanted = tuple(places[field.name] for field in fields)
    return _Layout(tuple(fields), wanted, len(names), delimiter, null), piece


def _parse(layout: _Layout, piece: Piece) -> Parsed:
    place = partial(_place, layout, piece)
    faults: dict[int, str] = {}
    try:
        columns = _typed_columns(layout, piece)
    except pa.ArrowInvalid:
        return _parse_text(layout, piece, place)
    for i, field in enumerate(layout.fields):
        if field.type is DataType.TIMESTAMP:
            columns[i] = converted(field, columns[i], faults)
    return Parsed(_batch(layout, columns), faults, place)


def _typed_columns(layout: _Layout, piece: Piece) -> list[pa.Array]:
    has_integers = any(field.type.is_integer for field in layout.fields)
    if has_integers and (b"0x" in piece.data or b"0X" in piece.data):
        raise pa.ArrowInvalid("Arrow would read 0x10 as 16")
    return _columns(layout, piece, [_fast_type(field) for field in layout.fields])


def _fast_type(field: Field) -> pa.DataType:
    """Timestamps are read as text, because Arrow takes them with a zone or without, not both."""
    return arrow_type(DataType.STRING if field.type is DataType.TIMESTAMP else field.type)


def _columns(
    layout: _Layout, piece: Piece, types: list[pa.DataType], bad_row: Any = None
) -> list[pa.Array]:
    """The wanted columns of a piece in the given types; ArrowInvalid if a value does not fit."""
    names = [str(place) for place in layout.places]
    table = pacsv.read_csv(
        pa.BufferReader(piece.data),
        # Rows are numbered for `bad_row` only if one thread reads.
        pacsv.ReadOptions(
            use_threads=bad_row is None,
            block_size=len(piece.data) + 1,
            column_names=[str(place) for place in range(layout.width)],
        ),
        pacsv.ParseOptions(
            delimiter=layout.delimiter, newlines_in_values=True, invalid_row_handler=bad_row
        ),
        pacsv.ConvertOptions(
            column_types=dict(zip(names, types, strict=True)),
            include_columns=names,
            null_values=["", layout.null],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    )
    return [table.column(name).combine_chunks() for name in names]


def _parse_text(layout: _Layout, piece: Piece, place: Any) -> Parsed:
    """The same from raw text, column by column, with every fault found."""
    faults: dict[int, str] = {}

    def skip(row: Any) -> str:
        faults[row.number - 1] = (
            f"{row.actual_columns} fields instead of {row.expected_columns}: {shorten(row.text)}"
        )
        return "skip"

    raw = _columns(layout, piece, [pa.large_binary()] * len(layout.fields), skip)
    count = len(raw[0]) + len(faults)
    # Rows that were skipped come back as rows of NULLs, so that the others keep their places.
    kept = np.setdiff1d(np.arange(count), list(faults))
    source_row = np.zeros(count, np.int64)
    source_row[kept] = np.arange(len(kept))
    is_skipped = np.ones(count, np.bool_)
    is_skipped[kept] = False
    spread = pa.array(source_row, mask=is_skipped)
    columns = [
        _converted(field, column.take(spread), faults)
        for field, column in zip(layout.fields, raw, strict=True)
    ]
    return Parsed(_batch(layout, columns), faults, place)


def _converted(field: Field, raw: pa.Array, faults: dict[int, str]) -> pa.Array:
    text = _decoded(field, raw, faults)
    if field.type is DataType.STRING:
        return text
    return converted(field, pc.utf8_trim(text, characters=" \t"), faults)


def _decoded(field: Field, raw: pa.Array, faults: dict[int, str]) -> pa.Array:
    try:
        return raw.cast(pa.large_string())
    except pa.ArrowInvalid:
        return pa.array(list(_decode_each(field, raw, faults)), pa.large_string())


def _decode_each(field: Field, raw: pa.Array, faults: dict[int, str]) -> Iterator[str | None]:
    for row, text in enumerate(raw.to_pylist()):
        try:
            yield None if text is None else text.decode()
        except UnicodeDecodeError:
            faults.setdefault(row, misfit(field, text))
            yield None


def _batch(layout: _Layout, columns: list[pa.Array]) -> pa.RecordBatch:
    return pa.record_batch(columns, names=[field.name for field in layout.fields])


def _place(layout: _Layout, piece: Piece, row: int) -> str:
    return f"line {row_line(piece, row, layout.delimiter)}"

"""Rows of CSV files."""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from io import StringIO
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from penstock.engine.expressions.arrow_types import arrow_type
from penstock.engine.expressions.decimal_cast import has_room
from penstock.engine.sources.lines import Piece, csv_rows_at, pieces_in, pieces_of, text_of_span
from penstock.engine.sources.parsed import (
    EXPONENT,
    SKIP_FILES,
    Ask,
    FileFault,
    Located,
    Parsed,
    converted,
    filled,
    match_columns,
    misfit,
    row_most,
    shorten,
    too_long,
)
from penstock.kernels.csvtext.plain_columns import plain_columns
from penstock.query import DataType
from penstock.query.source import Field

# Bytes for which it pays to load compiled code.
_MANY = 1 << 16
# Stands for bytes that are no text: a code point that Unicode keeps from ever being a character.
_NO_TEXT = "\ufdd0"
_NO_BYTES = re.compile("[\udc80-\udcff]+")


@dataclass(frozen=True)
class CsvLayout:
    """How the lines of a file are cut into fields: `places` is where the wanted columns stand.

    Those of `asked` that are not among the `fields` are not in the file.
    """

    asked: tuple[Field, ...]
    fields: tuple[Field, ...]
    places: tuple[int, ...]
    width: int
    delimiter: str
    null: str
    zone: str | None


def csv_rows(ask: Ask) -> Iterator[Parsed]:
    """The rows of a CSV file in the declared types, piece by piece.

    An empty field is NULL (but "" in quotes is the empty text), as is what `null` says.
    """
    most = row_most(ask.source)
    if ask.span.is_whole:
        return _rows_of(ask, pieces_of(ask.path, quoted=True, most=most))
    part = text_of_span(ask.path, ask.span, quoted=True)
    pieces = pieces_in(part, quoted=True, most=most)
    # What is wrong with the head of a file is told with its first part.
    if not ask.span.first:
        return _rows_of(ask, pieces)
    try:
        layout, _ = _layout(ask, Piece(part.head, 1))
    except FileFault:
        return iter(())
    return _rows_of(ask, pieces, layout)


def _rows_of(
    ask: Ask, pieces: Iterable[Piece], layout: CsvLayout | None = None
) -> Iterator[Parsed]:
    for piece in pieces:
        if piece.skipped:
            if layout is None and ask.source.option("header") is not False:
                raise _long_header(ask, piece)
            yield too_long(ask, piece)
            continue
        if layout is None:
            layout, piece = _layout(ask, piece)
        if piece.data:
            yield parse_csv(layout, piece)


def _layout(ask: Ask, piece: Piece) -> tuple[CsvLayout, Piece]:
    """The layout of a file, and its first piece without the header."""
    source = ask.source
    delimiter, null = str(source.option("delimiter") or ","), str(source.option("null") or "")
    if source.option("header") is False:
        names = [field.name for field in source.fields]
        if source.columns == "fill":
            # Without names, only the last columns can be told to be missing.
            names = names[: len(_first(ask, piece.data, delimiter)) or None]
    else:
        line, _, rest = piece.data.partition(b"\n")
        names = [name.strip() for name in _first(ask, line, delimiter)]
        piece = Piece(rest, piece.first_line + 1)
    if not names:
        raise ask.lacking(ask.fields[0], "its first line is empty")
    places = match_columns(ask, names)
    present = tuple(field for field in ask.fields if field.name in places)
    wanted = tuple(places[field.name] for field in present)
    layout = CsvLayout(ask.fields, present, wanted, len(names), delimiter, null, source.timezone)
    return layout, piece


def _long_header(ask: Ask, piece: Piece) -> FileFault:
    reason = f"cannot read {ask.path} as csv: its first line has {piece.skipped:,} bytes"
    return FileFault(reason, f"is it of another format? {SKIP_FILES}", "format")


def _first(ask: Ask, data: bytes, delimiter: str) -> list[str]:
    """The fields of the first row of a file."""
    text = data.decode("utf-8-sig", errors="replace")
    try:
        return next(filter(None, csv.reader(StringIO(text), delimiter=delimiter)), [])
    except csv.Error as error:
        reason = f"cannot read {ask.path} as csv: {error} in its first line"
        raise FileFault(reason, f"is it of another format? {SKIP_FILES}", "format") from None


def parse_csv(layout: CsvLayout, piece: Piece) -> Parsed:
    """The rows of lines that are cut as the layout says, in the declared types."""
    if piece.data.endswith(layout.delimiter.encode()):
        # Arrow takes an empty field at the very end for a quoted one, where one before it is.
        piece = Piece(piece.data + b"\n", piece.first_line)
    faults: dict[int, str] = {}
    try:
        columns, count = _typed_columns(layout, piece)
    except pa.ArrowInvalid:
        return _parse_text(layout, piece)
    for i, field in enumerate(layout.fields):
        if field.type.is_moment:
            columns[i] = converted(field, columns[i], faults, layout.zone)
    return _parsed(layout, piece, columns, count, faults)


def _parsed(
    layout: CsvLayout, piece: Piece, columns: list[pa.Array], count: int, faults: dict[int, str]
) -> Parsed:
    found = dict(zip((field.name for field in layout.fields), columns, strict=True))
    return Parsed(filled(layout.asked, found, count), faults, partial(_locate, layout, piece))


def _typed_columns(layout: CsvLayout, piece: Piece) -> tuple[list[pa.Array], int]:
    types = [_fast_type(field) for field in layout.fields]
    if len(piece.data) >= _MANY and not layout.null:
        width, delimiter = layout.width, layout.delimiter
        plain = plain_columns(layout.places, types, width, delimiter, piece.data, piece.line_ends)
        if plain is not None:
            return plain, len(plain[0])
    has_integers = any(field.type.is_integer for field in layout.fields)
    if has_integers and (b"0x" in piece.data or b"0X" in piece.data):
        raise pa.ArrowInvalid("Arrow would read 0x10 as 16")
    decimals = [field.type for field in layout.fields if field.type.is_decimal]
    if decimals and EXPONENT.search(piece.data):
        raise pa.ArrowInvalid("Arrow ends the process at some exponents of decimals")
    if not all(has_room(type_.digits) for type_ in decimals):
        raise pa.ArrowInvalid("Arrow drops the highest bits of some decimals")
    columns, count = _columns(layout, piece, types)
    for field, column in zip(layout.fields, columns, strict=True):
        if field.type.is_decimal:
            # Arrow counts the digits before it moves the point.
            column.validate(full=True)
    return columns, count


def _fast_type(field: Field) -> pa.DataType:
    """Timestamps are read as text, because Arrow takes them with a zone or without, not both."""
    return arrow_type(DataType.STRING if field.type.is_moment else field.type)


def _columns(
    layout: CsvLayout, piece: Piece, types: list[pa.DataType], bad_row: Any = None
) -> tuple[list[pa.Array], int]:
    """The wanted columns of a piece in the given types, and how many rows they have.

    ArrowInvalid if a value does not fit.
    """
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
            column_types=dict(zip(names, types, strict=True)) or {"0": pa.large_binary()},
            include_columns=names or ["0"],
            null_values=["", layout.null],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    )
    return [table.column(name).combine_chunks() for name in names], len(table)


def _parse_text(layout: CsvLayout, piece: Piece) -> Parsed:
    """The same from raw text, column by column, with every fault found."""
    faults: dict[int, str] = {}

    def skip(row: Any) -> str:
        faults[row.number - 1] = (
            f"{row.actual_columns} fields instead of {row.expected_columns}: {shorten(row.text)}"
        )
        return "skip"

    plain = Piece(_in_utf8(piece.data), piece.first_line)
    raw, sound = _columns(layout, plain, [pa.large_string()] * len(layout.fields), skip)
    count = sound + len(faults)
    # Rows that were skipped come back as rows of NULLs, so that the others keep their places.
    kept = np.setdiff1d(np.arange(count), list(faults))
    source_row = np.zeros(count, np.int64)
    source_row[kept] = np.arange(len(kept))
    is_skipped = np.ones(count, np.bool_)
    is_skipped[kept] = False
    spread = pa.array(source_row, mask=is_skipped)
    columns = [
        _converted(field, column.take(spread), faults, layout.zone)
        for field, column in zip(layout.fields, raw, strict=True)
    ]
    shown = {row: reason.replace(_NO_TEXT, "\ufffd") for row, reason in faults.items()}
    return _parsed(layout, piece, columns, count, shown)


def _in_utf8(data: bytes) -> bytes:
    """The same rows, with a mark in the place of what is no text: Arrow needs text to skip rows."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return _NO_BYTES.sub(_NO_TEXT, data.decode(errors="surrogateescape")).encode()
    return data


def _converted(field: Field, text: pa.Array, faults: dict[int, str], zone: str | None) -> pa.Array:
    if field.type not in (DataType.STRING, DataType.BINARY):
        return converted(field, pc.utf8_trim(text, characters=" \t"), faults, zone)
    is_bad = pc.match_substring(text, _NO_TEXT).fill_null(False)
    for row in np.flatnonzero(is_bad):
        faults.setdefault(int(row), misfit(field, text[row].as_py()))
    return text if field.type is DataType.STRING else text.cast(arrow_type(field.type))


def _locate(layout: CsvLayout, piece: Piece, rows: Collection[int]) -> Mapping[int, Located]:
    found = csv_rows_at(piece, rows, layout.delimiter)
    return {row: Located("line", line, text) for row, (line, text) in found.items()}

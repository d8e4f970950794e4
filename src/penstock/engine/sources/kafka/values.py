"""Values of records in the declared types, whether they are JSON, CSV or Avro; faults named."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.sources.csv_rows import CsvLayout, parse_csv
from penstock.engine.sources.json_rows import MANY, parse_lines, parse_plain
from penstock.engine.sources.kafka.avro_values import avro_values
from penstock.engine.sources.kafka.run import Run
from penstock.engine.sources.lines import Piece
from penstock.engine.sources.parsed import shorten
from penstock.query.source import Field, Source

_HEADER = 5
"""Bytes before a value whose schema is in a registry: a zero, and the schema's number."""
_NO_VALUE = "it has no value"
_LINE_ENDS = (b"\r\n", b"\n", b"\r")


@dataclass(frozen=True)
class Values:
    """Columns by name, and what is wrong with the malformed rows, by index."""

    columns: Mapping[str, pa.Array]
    faults: Mapping[int, str]


def parse_values(
    source: Source, fields: list[Field], given: Sequence[bytes | None], schema: str | None
) -> Values:
    """The values of records as rows; `schema` is that of Avro."""
    values, faults, kind = list(given), dict[int, str](), _kind(source)
    if source.option("registry_header"):
        values = _headed(values, faults)
    for row, value in enumerate(values):
        # Of Avro, a record of NULLs alone may have no bytes.
        is_nothing = value is None or (kind != "avro" and not value.strip())
        if is_nothing:
            faults.setdefault(row, _NO_VALUE)
    match kind:
        case "avro":
            assert schema is not None, "whoever made the slice has found it"
            found = Values(*avro_values(fields, values, faults, schema))
        case "csv":
            found = _csv(_layout(source, fields), values, faults)
        case _:
            found = _json(fields, values, faults, source.timezone)
    return Values(found.columns, {**found.faults, **faults})


def parse_run(source: Source, fields: list[Field], run: Run, schema: str | None) -> Values:
    """The values of a run as rows, without taking it apart where they are lines of JSON already."""
    lines = run.lines if _kind(source) == "json" and not source.option("registry_header") else None
    if lines is not None:
        found = _lines(fields, lines, len(run.offsets), source.timezone)
        if found is not None:
            return found
    return parse_values(source, fields, run.values, schema)


def _lines(
    fields: list[Field], lines: NDArray[np.uint8], rows: int, zone: str | None
) -> Values | None:
    """The values of lines that are so many rows; None if they are not."""
    if len(lines) >= MANY:
        plain = parse_plain(fields, lines, rows, zone)
        return None if plain is None else _of(*plain)
    data = lines.tobytes()
    if data.count(b"\n") != rows:
        return None
    parsed = parse_lines(fields, Piece(data, 1), zone)
    return _of(parsed.batch, parsed.faults) if len(parsed.batch) == rows else None


def _kind(source: Source) -> str:
    return str(source.option("value") or "json")


def _headed(values: list[bytes | None], faults: dict[int, str]) -> list[bytes | None]:
    """The values behind their headers."""
    for row, value in enumerate(values):
        if value is not None and (len(value) < _HEADER or value[0] != 0):
            faults[row] = f"{shorten(value)} does not begin with the header of a registry"
    return [
        None if value is None or row in faults else value[_HEADER:]
        for row, value in enumerate(values)
    ]


def _json(
    fields: list[Field], values: list[bytes | None], faults: Mapping[int, str], zone: str | None
) -> Values:
    # Line ends are blanks in JSON, and so are tabs: in a text both are an escape, or malformed.
    lines = [
        b"{}" if row in faults or value is None else value.replace(b"\n", b"\t")
        for row, value in enumerate(values)
    ]
    parsed = parse_lines(fields, Piece(b"\n".join(lines), 1), zone)
    return _of(parsed.batch, parsed.faults)


def _layout(source: Source, fields: list[Field]) -> CsvLayout:
    """The columns that values have, in the order of the declaration."""
    declared = [field.name for field in source.value_fields]
    places = tuple(declared.index(field.name) for field in fields)
    delimiter, null = str(source.option("delimiter") or ","), str(source.option("null") or "")
    every = tuple(fields)
    return CsvLayout(every, every, places, len(declared), delimiter, null, source.timezone)


def _csv(layout: CsvLayout, values: list[bytes | None], faults: dict[int, str]) -> Values:
    lines = [
        b"" if row in faults or value is None else _without_end(value.removeprefix(BOM_UTF8))
        for row, value in enumerate(values)
    ]
    row_alone = re.compile(_ROW.replace("D", re.escape(layout.delimiter)).encode())
    empty = layout.delimiter.encode() * (layout.width - 1) or b'""'
    for row, line in enumerate(lines):
        if row in faults or not row_alone.fullmatch(line):
            # One that is not closed would take the next record with it.
            if row not in faults and not _is_one_row(layout, line):
                faults[row] = f"{shorten(line)} is not one row of CSV"
            lines[row] = empty if row in faults else line
    parsed = parse_csv(layout, Piece(b"\n".join(lines), 1))
    return _of(parsed.batch, parsed.faults)


_ROW = r'(?:"(?:[^"]|"")*"|(?:[^"D\r\n][^D\r\n]*)?)(?:D(?:"(?:[^"]|"")*"|(?:[^"D\r\n][^D\r\n]*)?))*'
"""A row whose quotes are closed, D between its fields."""


def _is_one_row(layout: CsvLayout, line: bytes) -> bool:
    """Whether a line that is oddly quoted is a row by itself, and leaves the next one alone."""
    if b"\n" in line or b"\r" in line:
        return False
    return len(parse_csv(layout, Piece(line + b"\n" + line, 1)).batch) == 2


def _without_end(value: bytes) -> bytes:
    end = next((end for end in _LINE_ENDS if value.endswith(end)), b"")
    return value[: len(value) - len(end)]


def _of(batch: pa.RecordBatch, faults: Mapping[int, str]) -> Values:
    return Values(dict(zip(batch.schema.names, batch.columns, strict=True)), faults)

"""Rows of Parquet files."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from penstock.engine.expressions.arrow_types import arrow_type
from penstock.engine.expressions.cast import to_integer
from penstock.engine.expressions.timestamps import in_calendar
from penstock.engine.sources.lines import text_of
from penstock.engine.sources.parsed import (
    SKIP_FILES,
    Ask,
    FileFault,
    Located,
    Parsed,
    filled,
    match_columns,
    misfit,
)
from penstock.query import DataType
from penstock.query.source import Field

BLOCK_ROWS = 1_000_000


def parquet_rows(ask: Ask) -> Iterator[Parsed]:
    """The rows of a Parquet file in the declared types, at most a million at a time."""
    place = ask.path
    with place.filesystem.open_input_file(place.path) as opened, pq.ParquetFile(opened) as file:
        actual = _actual(ask, file.schema_arrow)
        first = 0
        for batch in file.iter_batches(BLOCK_ROWS, columns=list(actual.values())):
            yield _parse(ask, batch, actual, first)
            first += len(batch)


def _actual(ask: Ask, schema: pa.Schema) -> dict[str, str]:
    """The names that the columns have in the file, by their declared ones."""
    places = match_columns(ask, schema.names)
    actual = {name: schema.names[place] for name, place in places.items()}
    for field in ask.fields:
        fault = _misfit(ask, field, actual[field.name], schema) if field.name in actual else None
        if fault is not None and field.name not in ask.hints:
            raise fault
        if fault is not None:
            del actual[field.name]
    return actual


def _misfit(ask: Ask, field: Field, name: str, schema: pa.Schema) -> FileFault | None:
    """The fault of a column of a file, if it has one."""
    if schema.names.count(name) > 1:
        reason = f"{ask.path} has several columns named {name}"
        return FileFault(reason, f"rename all but one in the file; {SKIP_FILES}")
    found = schema.field(name).type
    if _is_readable(found, field.type):
        return None
    return FileFault(
        f"column {field.name} of {ask.path} is {found}, which cannot be read as {field.type}",
        f"declare {field.name} in {ask.source.name} with the type that the file has; {SKIP_FILES}",
    )


def _parse(ask: Ask, batch: pa.RecordBatch, actual: Mapping[str, str], first: int) -> Parsed:
    faults: dict[int, str] = {}
    found = {
        field.name: fitted(field, batch.column(actual[field.name]), faults)
        for field in ask.fields
        if field.name in actual
    }
    return Parsed(filled(ask.fields, found, len(batch)), faults, partial(locate, batch, first))


def fitted(field: Field, column: pa.Array, faults: dict[int, str]) -> pa.Array:
    """A column in the type of its field; rows that do not fit are added to the faults."""
    values = _cast(field.type, column)
    if field.type.is_temporal:
        values = in_calendar(values)
    if values.null_count > column.null_count:
        for row in np.flatnonzero(pc.and_(pc.is_valid(column), pc.is_null(values))):
            faults.setdefault(int(row), misfit(field, _shown(column[row])))
    return values


def _cast(type_: DataType, column: pa.Array) -> pa.Array:
    wanted = arrow_type(type_)
    if column.type == wanted:
        return column
    # Floats are rounded, and times cut to microseconds; integers and coarser times must fit.
    is_coarse = pa.types.is_timestamp(column.type) and column.type.unit in ("s", "ms")
    try:
        return column.cast(wanted, safe=type_.is_integer or is_coarse)
    except pa.ArrowInvalid:
        return _narrowed(column, wanted)


def _shown(value: pa.Scalar) -> Any:
    """A value for a message; a time that Python cannot say is the number that Arrow holds."""
    try:
        return value.as_py()
    except UnicodeDecodeError:
        return text_of(value.as_buffer().to_pybytes())
    except (ValueError, OverflowError):
        return value.cast(pa.int32() if pa.types.is_date32(value.type) else pa.int64()).as_py()


def _narrowed(column: pa.Array, wanted: pa.DataType) -> pa.Array:
    """Integers in a narrower type, times in microseconds, text in UTF-8: NULL where it fails."""
    if pa.types.is_integer(wanted) and column.type != pa.uint64():
        return to_integer(column, wanted)
    values = []
    for value in column:
        try:
            values.append(value.cast(wanted).as_py())
        except (ValueError, OverflowError):
            values.append(None)
    return pa.array(values, wanted)


def _is_readable(found: pa.DataType, type_: DataType) -> bool:
    """Whether values of an Arrow type are values of the SQL type, but for those out of range."""
    kinds = pa.types
    if kinds.is_dictionary(found):
        return _is_readable(found.value_type, type_)
    match type_:
        case _ if kinds.is_null(found):
            return True
        case DataType.STRING:
            return any(
                test(found)
                for test in (kinds.is_string, kinds.is_large_string, kinds.is_string_view)
            )
        case DataType.BOOLEAN:
            return bool(kinds.is_boolean(found))
        case DataType.FLOAT | DataType.DOUBLE:
            is_number = kinds.is_floating(found) or kinds.is_integer(found)
            return bool(is_number or kinds.is_decimal(found))
        case DataType.TIMESTAMP:
            return bool(kinds.is_timestamp(found) or kinds.is_date(found))
        case DataType.DATE:
            return bool(kinds.is_date(found))
    return bool(kinds.is_integer(found))


def locate(batch: pa.RecordBatch, first: int, rows: Collection[int]) -> Mapping[int, Located]:
    """Rows by their number, from 1, with the values of the columns that were read."""
    found = {}
    for row in rows:
        values = {name: _shown(batch.column(name)[row]) for name in batch.schema.names}
        text = json.dumps(values, ensure_ascii=False, default=str)
        found[row] = Located("row", first + row + 1, text)
    return found

"""Rows of Parquet files."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from penstock.engine.arrow_types import arrow_type
from penstock.engine.cast import to_integer
from penstock.engine.parsed import Parsed, match_columns, misfit
from penstock.engine.place import Place
from penstock.engine.timestamps import in_calendar
from penstock.errors import SourceError
from penstock.query import DataType
from penstock.query.source import Field, Source

BLOCK_ROWS = 1_000_000


def parquet_rows(source: Source, path: Place, fields: list[Field]) -> Iterator[Parsed]:
    """The rows of a Parquet file in the declared types, at most a million at a time."""
    with path.filesystem.open_input_file(path.path) as opened, pq.ParquetFile(opened) as file:
        names = file.schema_arrow.names
        places = match_columns(source, path, fields, names)
        actual = [names[places[field.name]] for field in fields]
        for field, name in zip(fields, actual, strict=True):
            _check_type(source, path, field, file.schema_arrow.field(name).type)
        first = 0
        for batch in file.iter_batches(BLOCK_ROWS, columns=actual):
            yield _parse(batch, fields, actual, first)
            first += len(batch)


def _parse(batch: pa.RecordBatch, fields: list[Field], names: list[str], first: int) -> Parsed:
    faults: dict[int, str] = {}
    columns = [
        _fitted(field, batch.column(name), faults)
        for field, name in zip(fields, names, strict=True)
    ]
    made = pa.record_batch(columns, names=[field.name for field in fields])
    return Parsed(made, faults, partial(_place, first))


def _fitted(field: Field, column: pa.Array, faults: dict[int, str]) -> pa.Array:
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


def _check_type(source: Source, path: Place, field: Field, found: pa.DataType) -> None:
    if not _is_readable(found, field.type):
        raise SourceError(
            f"column {field.name} of {path} is {found}, which cannot be read as {field.type}",
            place=source.places.get("name"),
            hint=f"declare {field.name} in {source.name} with the type that the file has",
        )


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


def _place(first: int, row: int) -> str:
    return f"row {first + row + 1}"

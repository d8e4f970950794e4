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
from penstock.engine.expressions.decimal_cast import to_decimal
from penstock.engine.expressions.member_names import with_declared_names
from penstock.engine.expressions.timestamps import in_calendar, in_zone
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
from penstock.kernels.jsontext.jsonlines import is_any_list
from penstock.query import DataType
from penstock.query.families.spelling import AmbiguousNameError, spelled
from penstock.query.source import Field

BLOCK_ROWS = 1_000_000


def parquet_rows(ask: Ask) -> Iterator[Parsed]:
    """The rows of a Parquet file in the declared types, at most a million at a time."""
    place = ask.path
    with place.filesystem.open_input_file(place.path) as opened, pq.ParquetFile(opened) as file:
        actual = _actual(ask, file.schema_arrow)
        first = 0
        leaves = [leaf for f in ask.fields for leaf in _leaves(f, actual, file.schema_arrow)]
        for batch in file.iter_batches(BLOCK_ROWS, columns=leaves):
            yield _parse(ask, batch, actual, first)
            first += len(batch)


def _leaves(field: Field, actual: Mapping[str, str], schema: pa.Schema) -> list[str]:
    """What to read for a column: of a STRUCT only the members that are wanted, if all are there."""
    if field.name not in actual:
        return []
    name = actual[field.name]
    paths = list(_paths(field.type, schema.field(name).type))
    return [name] if None in paths else [f"{name}{path}" for path in paths]


def _paths(type_: DataType, found: pa.DataType) -> Iterator[str | None]:
    """The ways from a column to the members that are no STRUCTs; None if one is not there."""
    if type_.kind != "STRUCT" or not pa.types.is_struct(found):
        yield ""
        return
    for name, inner in type_.parts:
        own = spelled(name, [each.name for each in found])
        if own is None or "." in own:
            yield None
        else:
            ways = _paths(inner, found.field(own).type)
            yield from (None if way is None else f".{own}{way}" for way in ways)


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
    try:
        found = with_declared_names(schema.field(name).type, field.type)
    except AmbiguousNameError as error:
        return ask.ambiguous(error)
    if _is_readable(found, field.type):
        return None
    return FileFault(
        f"column {field.name} of {ask.path} is {found}, which cannot be read as {field.type}",
        f"declare {field.name} in {ask.source.name} with the type that the file has; {SKIP_FILES}",
    )


def _parse(ask: Ask, batch: pa.RecordBatch, actual: Mapping[str, str], first: int) -> Parsed:
    faults: dict[int, str] = {}
    found = {
        field.name: fitted(field, batch.column(actual[field.name]), faults, ask.source.timezone)
        for field in ask.fields
        if field.name in actual
    }
    return Parsed(filled(ask.fields, found, len(batch)), faults, partial(locate, batch, first))


def fitted(
    field: Field, column: pa.Array, faults: dict[int, str], zone: str | None = None
) -> pa.Array:
    """A column in the type of its field; rows that do not fit are added to the faults."""
    is_wall = zone is not None and pa.types.is_timestamp(column.type) and column.type.tz is None
    if zone is not None and is_wall and field.type is DataType.TIMESTAMP:
        column = in_zone(column, zone)
    if field.type.is_nested:
        column = column.view(with_declared_names(column.type, field.type))
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
    if type_.is_decimal and not pa.types.is_null(column.type):
        return _decimals(column, wanted)
    # Floats are rounded, and times cut to microseconds; integers and coarser times must fit.
    is_coarse = pa.types.is_timestamp(column.type) and column.type.unit in ("s", "ms")
    try:
        return column.cast(wanted, safe=type_.is_integer or type_.is_nested or is_coarse)
    except pa.ArrowInvalid:
        return _narrowed(column, wanted)


def _decimals(column: pa.Array, wanted: pa.DataType) -> pa.Array:
    """DECIMALs and integers as DECIMALs, NULL where there are too many digits before the point."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_uint64(column.type):
        column = column.cast(pa.decimal128(20, 0))
    return to_decimal(column, wanted)


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
        case DataType.BINARY:
            tests = (kinds.is_binary, kinds.is_large_binary, kinds.is_fixed_size_binary)
            return any(test(found) for test in (*tests, kinds.is_binary_view))
        case DataType.TIMESTAMP_NTZ:
            return bool(kinds.is_date(found) or (kinds.is_timestamp(found) and found.tz is None))
        case DataType.BOOLEAN:
            return bool(kinds.is_boolean(found))
        case DataType.FLOAT | DataType.DOUBLE:
            is_number = kinds.is_floating(found) or kinds.is_integer(found)
            return bool(is_number or kinds.is_decimal(found))
        case DataType.TIMESTAMP:
            return bool(kinds.is_timestamp(found) or kinds.is_date(found))
        case DataType.DATE:
            return bool(kinds.is_date(found))
    if type_.is_nested:
        return _is_nested_readable(found, type_)
    if type_.is_decimal and kinds.is_decimal(found):
        return bool(found.scale <= type_.digits[1])
    return bool(kinds.is_integer(found))


def _is_nested_readable(found: pa.DataType, type_: DataType) -> bool:
    kinds, inner = pa.types, dict(type_.parts)
    match type_.kind:
        case "STRUCT":
            there = {found.field(n).name: found.field(n).type for n in range(found.num_fields)}
            return kinds.is_struct(found) and all(
                _is_readable(there[name], part) for name, part in inner.items() if name in there
            )
        case "ARRAY":
            return is_any_list(found) and _is_readable(found.value_type, inner["element"])
    return kinds.is_map(found) and (
        _is_readable(found.key_type, inner["key"]) and _is_readable(found.item_type, inner["value"])
    )


def locate(batch: pa.RecordBatch, first: int, rows: Collection[int]) -> Mapping[int, Located]:
    """Rows by their number, from 1, with the values of the columns that were read."""
    found = {}
    for row in rows:
        values = {name: _shown(batch.column(name)[row]) for name in batch.schema.names}
        text = json.dumps(values, ensure_ascii=False, default=str)
        found[row] = Located("row", first + row + 1, text)
    return found

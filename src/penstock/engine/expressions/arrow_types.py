"""The Arrow type of each SQL type."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from penstock.query import DataType
from penstock.query.source import Field

TIMESTAMP = pa.timestamp("us", tz="UTC")
WALL_TIME = pa.timestamp("us")

# large_string, because the results of a hot key may hold more than 2 GiB of text.
_ARROW = {
    DataType.BOOLEAN: pa.bool_(),
    DataType.TINYINT: pa.int8(),
    DataType.SMALLINT: pa.int16(),
    DataType.INT: pa.int32(),
    DataType.BIGINT: pa.int64(),
    DataType.FLOAT: pa.float32(),
    DataType.DOUBLE: pa.float64(),
    DataType.STRING: pa.large_string(),
    DataType.DATE: pa.date32(),
    DataType.BINARY: pa.large_binary(),
    DataType.TIMESTAMP: TIMESTAMP,
    DataType.TIMESTAMP_NTZ: WALL_TIME,
    DataType.NULL: pa.null(),
}


def arrow_type(type_: DataType) -> pa.DataType:
    """The Arrow type that holds a SQL type."""
    if type_ in _ARROW:
        return _ARROW[type_]
    inner = [(name, arrow_type(part)) for name, part in type_.parts]
    match type_.kind:
        case "STRUCT":
            return pa.struct(inner)
        case "ARRAY":
            return pa.list_(inner[0][1])
        case "MAP":
            return pa.map_(inner[0][1], inner[1][1])
    return pa.decimal128(*type_.digits)


def schema_of(fields: Iterable[Field]) -> pa.Schema:
    """Declared columns as an Arrow schema."""
    return pa.schema([(field.name, arrow_type(field.type)) for field in fields])

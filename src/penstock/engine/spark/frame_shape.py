"""DataFrames that users give, looked at without running anything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.errors import SourceError, UsageError
from penstock.query.foreign.frame import FrameShape
from penstock.query.source import Field
from penstock.query.types import DataType, decimal, nested

# Types as Spark writes them; strings that are compared by another rule than ours are written so.
_TYPES = {
    "boolean": DataType.BOOLEAN,
    "tinyint": DataType.TINYINT,
    "smallint": DataType.SMALLINT,
    "int": DataType.INT,
    "bigint": DataType.BIGINT,
    "float": DataType.FLOAT,
    "double": DataType.DOUBLE,
    "string": DataType.STRING,
    "date": DataType.DATE,
    "timestamp": DataType.TIMESTAMP,
    "timestamp_ntz": DataType.TIMESTAMP_NTZ,
    "binary": DataType.BINARY,
}
_DELAY = "spark.watermarkDelayMs"
"""The metadata that `withWatermark` leaves at its column."""
_HINT = 'streams is a dict of DataFrames by stream, such as {"bid": spark.readStream.load(…)}'


def frames_given(streams: object) -> dict[str, Any]:
    """The DataFrames that a caller gives, by the names of their streams and tables."""
    if not isinstance(streams, Mapping):
        raise UsageError(f"streams cannot be {streams!r}", hint=_HINT)
    for name, frame in streams.items():
        is_frame = all(hasattr(frame, each) for each in ("schema", "isStreaming", "mapInArrow"))
        if not isinstance(name, str) or not is_frame:
            raise UsageError(f"{frame!r} is not a DataFrame, for stream {name}", hint=_HINT)
    by_lower = {name.lower(): name for name in streams}
    for name in streams:
        if by_lower[name.lower()] != name:
            hint = "names of streams are the same in any case; give one frame for each"
            raise UsageError(f"two DataFrames were given for stream {name}", hint=hint)
    return dict(streams)


def shape_of(name: str, frame: Any) -> FrameShape:
    """The columns of the DataFrame of a stream."""
    columns = frame.schema.fields
    _check_names(name, [column.name for column in columns])
    types = {column.name: column.dataType.simpleString() for column in columns}
    found = {column.name: _held(column.dataType) for column in columns}
    held = {column: type_ for column, type_ in found.items() if type_ is not None}
    return FrameShape(
        fields=tuple(Field(column, type_) for column, type_ in held.items()),
        is_streaming=bool(frame.isStreaming),
        unheld=tuple((column, type_) for column, type_ in types.items() if column not in held),
        watermarks={
            column.name: int(column.metadata[_DELAY]) * 1000
            for column in columns
            if _DELAY in (column.metadata or {})
        },
    )


def _held(type_: Any) -> DataType | None:
    """Our type for one of Spark's; None if we hold no such values."""
    match type_.typeName():
        case "decimal":
            return decimal(type_.precision, type_.scale)
        case "struct":
            return _nested("STRUCT", [(each.name, each.dataType) for each in type_.fields])
        case "array":
            return _nested("ARRAY", [("element", type_.elementType)])
        case "map":
            return _nested("MAP", [("key", type_.keyType), ("value", type_.valueType)])
    return _TYPES.get(type_.simpleString())


def _nested(kind: str, parts: list[tuple[str, Any]]) -> DataType | None:
    if len({name.lower() for name, _ in parts}) < len(parts):
        return None  # Names mean the same in any case, so that one could not be told from another.
    inner = [(name, held) for name, type_ in parts if (held := _held(type_)) is not None]
    return nested(kind, tuple(inner)) if len(inner) == len(parts) else None


def _check_names(name: str, columns: list[str]) -> None:
    """Refuse a frame of which it cannot be said which column a name means."""
    lower = [column.lower() for column in columns]
    for column in columns:
        if lower.count(column.lower()) > 1:
            raise SourceError(
                f"the DataFrame of {name} has several columns named {column}",
                hint="rename or drop all but one of them in the frame",
            )

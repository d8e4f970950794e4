"""Users' functions applied to columns, a row or an array at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.engine.expressions.arrow_types import arrow_type
from penstock.engine.expressions.decimals import checked, half_up
from penstock.errors import EvaluationError
from penstock.query import DataType, Function

_PYTHON: Mapping[DataType, type | tuple[type, ...]] = {
    DataType.BOOLEAN: bool,
    DataType.FLOAT: (float, int),
    DataType.DOUBLE: (float, int),
    DataType.STRING: str,
    DataType.BINARY: bytes,
    DataType.DATE: date,
    DataType.TIMESTAMP: datetime,
    DataType.TIMESTAMP_NTZ: datetime,
}
_ARROW: Mapping[DataType, Callable[[pa.DataType], bool]] = {
    DataType.BOOLEAN: pa.types.is_boolean,
    DataType.FLOAT: lambda kind: pa.types.is_floating(kind) or pa.types.is_integer(kind),
    DataType.DOUBLE: lambda kind: pa.types.is_floating(kind) or pa.types.is_integer(kind),
    DataType.STRING: lambda kind: pa.types.is_string(kind) or pa.types.is_large_string(kind),
    DataType.BINARY: lambda kind: pa.types.is_binary(kind) or pa.types.is_large_binary(kind),
    DataType.DATE: pa.types.is_date32,
    DataType.TIMESTAMP: pa.types.is_timestamp,
    DataType.TIMESTAMP_NTZ: lambda kind: pa.types.is_timestamp(kind) and kind.tz is None,
}

# Characters of a value in a message: enough to find it by, and few enough to read.
_LONGEST = 60


def apply(function: Function, columns: Sequence[pa.Array]) -> pa.Array:
    """The function's values in its Arrow type; NULL, without a call, where an argument is NULL."""
    if not any(column.null_count for column in columns):
        return _called(function, columns)
    known = reduce(pc.and_, (column.is_valid() for column in columns))
    values = _called(function, [column.filter(known) for column in columns])
    return pc.replace_with_mask(pa.nulls(len(known), arrow_type(function.returns)), known, values)


def _called(function: Function, columns: Sequence[pa.Array]) -> pa.Array:
    if not len(columns[0]):
        return pa.array([], arrow_type(function.returns))
    return _at_once(function, columns) if function.is_vectorized else _by_row(function, columns)


def _by_row(function: Function, columns: Sequence[pa.Array]) -> pa.Array:
    try:
        rows = zip(*(column.to_pylist() for column in columns), strict=True)
        return pa.array([_row(function, row) for row in rows], arrow_type(function.returns))
    except (ValueError, OverflowError) as error:
        # Python has no time after the year 9999; Arrow has no text with half a surrogate pair.
        raise _failed(function, f"{len(columns[0])} rows", error) from None


def _row(function: Function, arguments: tuple[Any, ...]) -> Any:
    try:
        value = function.call(*arguments)
    except Exception as error:
        raise _failed(function, _shown(arguments), error) from error
    return None if value is None else _as_declared(function, arguments, value)


def _as_declared(function: Function, arguments: tuple[Any, ...], value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    returns = function.returns
    if returns.is_decimal and isinstance(value, int | Decimal) and not isinstance(value, bool):
        value = half_up(Decimal(value), *returns.digits)
    if not _is_of(value, returns):
        raise _misfit(function, _shown(arguments), _shown((value,)))
    if returns in (DataType.FLOAT, DataType.DOUBLE):
        return float(value)
    if returns is DataType.TIMESTAMP and value.tzinfo is None:
        return value.replace(tzinfo=UTC)
    return value


def _is_of(value: Any, type_: DataType) -> bool:
    # To Python a bool is an int and a datetime is a date; here they are not.
    if isinstance(value, bool):
        return type_ is DataType.BOOLEAN
    if isinstance(value, datetime):
        return type_ is DataType.TIMESTAMP or (
            type_ is DataType.TIMESTAMP_NTZ and value.tzinfo is None
        )
    if type_.is_integer:
        bound = 1 << (arrow_type(type_).bit_width - 1)
        return isinstance(value, int) and -bound <= value < bound
    return isinstance(value, Decimal if type_.is_decimal else _PYTHON[type_])


def _at_once(function: Function, columns: Sequence[pa.Array]) -> pa.Array:
    size = f"{len(columns[0])} rows"
    try:
        values = function.call(*columns)
    except Exception as error:
        raise _failed(function, size, error) from error
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if not isinstance(values, pa.Array):
        raise _misfit(function, size, f"{type(values).__name__}, not an Arrow array")
    if len(values) != len(columns[0]):
        raise _misfit(function, size, f"{len(values)} values")
    numbers = pa.types.is_decimal if function.returns.is_decimal else pa.types.is_integer
    if not _ARROW.get(function.returns, numbers)(values.type):
        raise _misfit(function, size, str(values.type))
    try:
        wanted = arrow_type(function.returns)
        return checked(values, wanted) if pa.types.is_decimal(wanted) else values.cast(wanted)
    except pa.ArrowInvalid as error:
        raise _misfit(function, size, str(error)) from None


def _shown(arguments: tuple[Any, ...]) -> str:
    texts = [repr(argument) for argument in arguments]
    return ", ".join(f"{text[:_LONGEST]}…" if len(text) > _LONGEST else text for text in texts)


def _failed(function: Function, arguments: str, error: Exception) -> EvaluationError:
    return EvaluationError(
        f"{function.name}({arguments}) failed: {type(error).__name__}: {error}",
        hint=f"mend {function.name}, or keep such values from it with CASE",
    )


def _misfit(function: Function, arguments: str, found: str) -> EvaluationError:
    return EvaluationError(
        f"{function.name}({arguments}) gave {found}, but is declared to give {function.returns}",
        hint=f"mend {function.name}, or the type that it is declared to give",
    )

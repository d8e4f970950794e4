"""Casts between SQL types. A value that the other type cannot hold becomes NULL, never an error."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.engine.expressions import decimal_cast
from penstock.engine.expressions.arrow_types import arrow_type
from penstock.engine.expressions.decimal_cast import to_decimal
from penstock.engine.expressions.timestamps import timestamps_of, wall_times_of
from penstock.errors import EvaluationError
from penstock.query import DataType

_INTEGER = "^[+-]?[0-9]+$"
_NUMBER = (
    r"^[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"
    r"|[nN][aA][nN]|[iI][nN][fF]([iI][nN][iI][tT][yY])?)$"
)
_DECIMAL = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_DATE = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
_TRUE = pa.array(["true", "t", "yes", "y", "1"], pa.large_string())
_FALSE = pa.array(["false", "f", "no", "n", "0"], pa.large_string())


def cast(values: pa.Array, source: DataType, target: DataType) -> pa.Array:
    """The values in the target type, in its Arrow type.

    Numbers as text have the fewest digits that read back, `NaN` and `Infinity`; timestamps are
    `2024-01-31 08:00:00.5`, in UTC. A DOUBLE or DECIMAL is cut towards zero to an
    integer.
    """
    if source is target:
        return values
    if source is DataType.NULL:
        return pa.nulls(len(values), arrow_type(target))
    if target is DataType.STRING:
        return _to_text(values, source)
    if source is DataType.STRING and target is DataType.TIMESTAMP:
        return timestamps_of(values)
    if source is DataType.STRING and target is DataType.BINARY:
        return values.cast(pa.large_binary())
    if source is DataType.STRING:
        return _from_text(pc.utf8_trim(values, characters=" "), target)
    if source.is_temporal and target.is_temporal:
        return values.cast(arrow_type(target), safe=False)
    if not (source.is_temporal or target.is_temporal):
        if source.is_decimal:
            return _from_decimal(values, target)
        if target.is_decimal:
            return to_decimal(values, arrow_type(target))
        return _number(values, source, target)
    raise EvaluationError(
        f"a {source} cannot be cast to {target}", hint="cast it to STRING, or compare it as it is"
    )


def to_integer(numbers: pa.Array, type_: pa.DataType) -> pa.Array:
    """Numbers cut towards zero, NULL where the type cannot hold them."""
    limits = np.iinfo(type_.to_pandas_dtype())
    if pa.types.is_floating(numbers.type):
        numbers = pc.trunc(numbers.cast(pa.float64()))
        # 2⁶³ − 1 is not a double, 2⁶³ is.
        fits = pc.and_(
            pc.greater_equal(numbers, float(limits.min)),
            pc.less(numbers, float(int(limits.max) + 1)),
        )
    else:
        fits = pc.and_(
            pc.greater_equal(numbers, int(limits.min)), pc.less_equal(numbers, int(limits.max))
        )
    return pc.if_else(fits, numbers, None).cast(type_, safe=False)


def _number(values: pa.Array, source: DataType, target: DataType) -> pa.Array:
    """Between BOOLEAN and numbers, and between numbers."""
    if target is DataType.BOOLEAN:
        return pc.not_equal(values, pa.scalar(0, values.type))
    if source is DataType.BOOLEAN:
        values = values.cast(pa.int8())
    if target.is_integer:
        wanted = arrow_type(target)
        is_wider = pa.types.is_integer(values.type) and values.type.bit_width <= wanted.bit_width
        return values.cast(wanted) if is_wider else to_integer(values, wanted)
    # By way of DOUBLE, so that a BIGINT is rounded to FLOAT as a DOUBLE would be.
    return values.cast(pa.float64(), safe=False).cast(arrow_type(target), safe=False)


def _from_decimal(values: pa.Array, target: DataType) -> pa.Array:
    wanted = arrow_type(target)
    if target.is_decimal:
        return to_decimal(values, wanted)
    if target.is_integer:
        return decimal_cast.to_integer(values, wanted)
    if target is DataType.BOOLEAN:
        return pc.not_equal(values, pa.scalar(0, values.type))
    return decimal_cast.to_double(values).cast(wanted, safe=False)


def _from_text(text: pa.Array, target: DataType) -> pa.Array:
    match target:
        case DataType.BOOLEAN:
            lower = pc.ascii_lower(text)
            known = pc.if_else(pc.is_in(lower, value_set=_FALSE), False, None)
            return pc.if_else(pc.is_in(lower, value_set=_TRUE), True, known)
        case DataType.TIMESTAMP_NTZ:
            return wall_times_of(text)
        case DataType.DATE:
            return timestamps_of(_matching(text, _DATE)).cast(pa.date32(), safe=False)
    if target.is_integer:
        return to_integer(_parsed(_matching(text, _INTEGER), pa.int64()), arrow_type(target))
    if target.is_decimal:
        return decimal_cast.from_text(_matching(text, _DECIMAL), arrow_type(target))
    return _parsed(_matching(text, _NUMBER), pa.float64()).cast(arrow_type(target), safe=False)


def _matching(text: pa.Array, pattern: str) -> pa.Array:
    return pc.if_else(pc.match_substring_regex(text, pattern), text, None)


def _parsed(text: pa.Array, type_: pa.DataType) -> pa.Array:
    """Numbers from text that has their form."""
    try:
        return pc.replace_substring_regex(text, r"^\+", "").cast(type_)
    except pa.ArrowInvalid:
        # Integers beyond 64 bits, and doubles beyond the largest: rare enough to go one by one.
        return pa.array([_parse_one(each, type_) for each in text.to_pylist()], type_)


def _parse_one(text: str | None, type_: pa.DataType) -> Any:
    if text is None:
        return None
    if not pa.types.is_integer(type_):
        return float(text)
    # Python refuses to read integers of thousands of digits.
    digits = text.lstrip("+-0")
    number = int(text) if len(digits) < 20 and len(text) < 1000 else None
    return number if number is not None and -(1 << 63) <= number < 1 << 63 else None


def _to_text(values: pa.Array, source: DataType) -> pa.Array:
    match source:
        case DataType.FLOAT | DataType.DOUBLE:
            numbers = values.to_numpy(zero_copy_only=False)
            if source is DataType.FLOAT:
                # NumPy writes large FLOATs with an exponent, where it writes DOUBLEs without.
                numbers = numbers.astype(str).astype(np.float64)
            text = pa.array(numbers.astype(str), pa.large_string(), mask=_nulls(values))
            text = pc.replace_substring(text, "inf", "Infinity")
            return pc.replace_substring(text, "nan", "NaN")
        case DataType.BINARY:
            return _utf8(values)
        case DataType.TIMESTAMP | DataType.TIMESTAMP_NTZ:
            text = values.cast(pa.timestamp("us")).cast(pa.large_string())
            return pc.replace_substring_regex(text, r"\.?0+$", "")
    if source.is_decimal:
        return decimal_cast.to_text(values)
    return values.cast(pa.large_string())


def _utf8(values: pa.Array) -> pa.Array:
    """Bytes as text, NULL where they are none."""
    try:
        text = values.cast(pa.large_string())
        text.validate(full=True)
    except pa.ArrowInvalid:
        return pa.array([_decoded(each) for each in values.to_pylist()], pa.large_string())
    return text


def _decoded(value: bytes | None) -> str | None:
    try:
        return None if value is None else value.decode()
    except UnicodeDecodeError:
        return None


def _nulls(values: pa.Array) -> np.ndarray[Any, np.dtype[np.bool_]]:
    return np.asarray(pc.is_null(values))

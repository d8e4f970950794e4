"""The meaning of expressions, one row at a time in plain Python: no Arrow, no cleverness.

A value is None, bool, int, float, Decimal, str, bytes, date, or a datetime: in UTC of a TIMESTAMP,
without a zone of a TIMESTAMP_NTZ. DECIMALs are computed with as fractions.
"""

from __future__ import annotations

import json
import math
import re
import struct
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from typing import Any

from penstock.errors import EvaluationError
from penstock.query import Apply, Call, Column, DataType, Expression, Literal
from penstock.query.expression import COMPARISONS, Value, render

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
BITS = {DataType.TINYINT: 8, DataType.SMALLINT: 16, DataType.INT: 32, DataType.BIGINT: 64}


def value_of(expression: Expression, row: Mapping[Column, Value]) -> Value:
    """The value of an expression on one row; EvaluationError where an integer overflows."""
    match expression:
        case Column():
            return row[expression]
        case Literal(value=value, type=type_):
            return None if value is None else _fit(value, type_)
        case Call(function="case", arguments=arguments):
            for when, then in zip(arguments[:-1:2], arguments[1:-1:2], strict=True):
                if value_of(when, row) is True:
                    return _result(value_of(then, row), expression)
            return _result(value_of(arguments[-1], row), expression)
        case Call(function=function, arguments=arguments, type=type_):
            values = [value_of(argument, row) for argument in arguments]
            if function == "cast":
                return cast(values[0], type_, arguments[0].type)
            return _result(_call(function, values), expression)
        case Apply(function=function, arguments=arguments):
            assert not function.is_vectorized
            values = [value_of(argument, row) for argument in arguments]
            return None if None in values else function(*values)
    raise AssertionError(expression)


def holds_on(expression: Expression, row: Mapping[Column, Value]) -> bool:
    """Whether a condition is true; NULL is not."""
    return value_of(expression, row) is True


def compare(left: Any, right: Any) -> int:
    """-1, 0 or 1 as left is below, equal to or above right; NaN is above every number."""
    a, b = _rank(left), _rank(right)
    return (a > b) - (a < b)


def _rank(value: Any) -> tuple[bool, Any]:
    if isinstance(value, float) and math.isnan(value):
        return (True, 0)
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day, tzinfo=UTC)
    return (False, value)


def _result(value: Any, expression: Call) -> Value:
    """The value in the type of the expression; an integer that does not fit is an error."""
    if value is None:
        return None
    if expression.type.is_integer and isinstance(value, int) and not isinstance(value, bool):
        bound = 1 << (BITS[expression.type] - 1)
        if not -bound <= value < bound:
            raise EvaluationError(f"overflow in {render(expression)}")
        return value
    if expression.type.is_decimal:
        exact = to_decimal(value, expression.type)
        if exact is None:
            raise EvaluationError(f"overflow in {render(expression)}")
        return exact
    if expression.type is DataType.TIMESTAMP and isinstance(value, OverflowError):
        raise EvaluationError(f"overflow in {render(expression)}")
    return _fit(value, expression.type)


def _fit(value: Any, type_: DataType) -> Value:
    if type_.is_integer and isinstance(value, float):
        return cast(value, type_)
    if type_.is_decimal:
        return to_decimal(value, type_)
    if type_ is DataType.FLOAT:
        return _single(float(value))
    fitting: Value = float(value) if type_ is DataType.DOUBLE else value
    return fitting


def _single(value: float) -> float:
    try:
        (single,) = struct.unpack("f", struct.pack("f", value))
        return float(single)
    except OverflowError:
        return math.copysign(math.inf, value)


def _call(function: str, values: list[Any]) -> Any:
    match function:
        case "is_null":
            return values[0] is None
        case "is_not_null":
            return values[0] is not None
        case "and":
            return False if False in values else None if None in values else True
        case "or":
            return True if True in values else None if None in values else False
        case "coalesce":
            return next((value for value in values if value is not None), None)
        case "greatest" | "least":
            return _extreme(function, [value for value in values if value is not None])
        case "in":
            return _is_in(values[0], values[1:])
        case "pair":
            return None if values[0] is None else tuple(values)
    if None in values:
        return None
    if function in COMPARISONS:
        sign = compare(*values)
        true_signs = {"eq": [0], "ne": [-1, 1], "lt": [-1], "le": [-1, 0], "gt": [1], "ge": [0, 1]}
        return sign in true_signs[function]
    return _plain(function, values)


def _extreme(function: str, values: list[Any]) -> Any:
    best = None
    for value in values:
        sign = 0 if best is None else compare(value, best)
        if best is None or (sign > 0 if function == "greatest" else sign < 0):
            best = value
    return best


def _is_in(needle: Any, items: list[Any]) -> bool | None:
    if needle is None:
        return None
    if any(item is not None and compare(needle, item) == 0 for item in items):
        return True
    return None if None in items else False


def _plain(function: str, values: list[Any]) -> Any:
    if function == "micros":
        return (values[0] - EPOCH) // timedelta(microseconds=1)
    """A function that is NULL wherever an argument is."""
    first = values[0]
    if isinstance(first, Decimal) and function in ("round", "floor", "ceil"):
        return _rounded_decimal(function, Fraction(first), *values[1:])
    match function:
        case "add" | "subtract" | "multiply" | "divide" | "modulo":
            return _arithmetic(function, *values)
        case "not":
            return not first
        case "negate":
            return first.copy_negate() if isinstance(first, Decimal) else -first
        case "abs":
            return first.copy_abs() if isinstance(first, Decimal) else abs(first)
        case "round":
            return _round(first, values[1] if len(values) > 1 else 0)
        case "floor" | "ceil":
            if isinstance(first, int) or not math.isfinite(first):
                return first
            whole = math.floor(first) if function == "floor" else math.ceil(first)
            return math.copysign(float(whole), first)
        case "sqrt":
            return math.sqrt(first) if not first < 0 else math.nan
        case "lower":
            return first.lower()
        case "upper":
            return first.upper()
        case "length":
            return len(first)
        case "trim":
            return first.strip(" ")
        case "concat":
            return "".join(values)
        case "starts_with":
            return first.startswith(values[1])
        case "like":
            return _like(first, values[1])
        case "substring":
            return _substring(*values)
    raise AssertionError(function)


def _arithmetic(function: str, left: Any, right: Any) -> Any:
    if isinstance(left, datetime) or isinstance(right, datetime):
        return _time_arithmetic(function, left, right)
    if isinstance(left, Decimal):
        left, right = Fraction(left), Fraction(right)
    match function:
        case "add":
            return left + right
        case "subtract":
            return left - right
        case "multiply":
            return left * right
    if right == 0:
        return None
    if function == "divide" and isinstance(left, Fraction):
        return left / right
    if function == "divide":
        return float(left) / float(right)
    if not isinstance(left, float):
        return abs(left) % abs(right) * (-1 if left < 0 else 1)
    return math.nan if math.isinf(left) else math.fmod(left, right)


def _time_arithmetic(function: str, left: Any, right: Any) -> Any:
    """TIMESTAMP ± microseconds, or the microseconds between two TIMESTAMPs."""
    if isinstance(left, datetime) and isinstance(right, datetime):
        return (left - right) // timedelta(microseconds=1)
    try:
        step = timedelta(microseconds=right)
        return left + step if function == "add" else left - step
    except OverflowError as error:
        return error


def _round(value: int | float, digits: int) -> int | float:
    """Half away from zero, on the shortest decimal digits that give the number."""
    if isinstance(value, float) and not math.isfinite(value):
        return value
    digits = max(-400, min(400, digits))
    exact = Decimal(value) if isinstance(value, int) else Decimal(repr(value))
    rounded = exact.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP, Context(prec=2000))
    return int(rounded) if isinstance(value, int) else float(rounded)


def _rounded_decimal(function: str, value: Fraction, digits: int = 0) -> Fraction:
    match function:
        case "floor":
            return Fraction(math.floor(value))
        case "ceil":
            return Fraction(math.ceil(value))
    return _half_up(value, digits)


def _half_up(value: Fraction, digits: int) -> Fraction:
    """The nearest multiple of a power of ten, of two the one away from zero."""
    step = Fraction(1, 10) ** digits
    whole = math.floor(abs(value) / step + Fraction(1, 2)) * step
    return whole if value >= 0 else -whole


def to_decimal(value: Any, type_: DataType) -> Decimal | None:
    """The value with the digits of a DECIMAL, None if there are not enough of them."""
    precision, scale = type_.digits
    if isinstance(value, str):
        number = r"([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"
        if not re.fullmatch(rf" *[+-]?{number} *", value):
            return None
        value = Decimal(value.strip(" "))
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        value = Decimal(repr(value))
    whole = _half_up(Fraction(value), scale) * 10**scale
    assert whole.denominator == 1
    if abs(whole) >= 10**precision:
        return None
    return Decimal(whole.numerator).scaleb(-scale, Context(prec=60))


def _like(text: str, pattern: str) -> bool:
    if not pattern:
        return not text
    head, rest = pattern[0], pattern[1:]
    if head == "%":
        return any(_like(text[i:], rest) for i in range(len(text) + 1))
    if head == "\\" and rest:
        return text[:1] == rest[0] and _like(text[1:], rest[1:])
    return bool(text) and (head in ("_", text[0])) and _like(text[1:], rest)


def _substring(text: str, start: int, length: int | None = None) -> str:
    """Characters from `start`: 1 is the first, 0 too, -1 the last."""
    begin = start - 1 if start > 0 else len(text) + start if start < 0 else 0
    end = len(text) if length is None else begin + length
    return "".join(c for i, c in enumerate(text) if begin <= i < end)


def cast(value: Value, type_: DataType, source: DataType | None = None) -> Value:
    """The value in another type, or NULL where it has none there; `source` tells FLOAT apart."""
    if value is None:
        return None
    if type_ is DataType.BOOLEAN:
        return _to_boolean(value)
    if type_.is_decimal:
        return to_decimal(value, type_)
    if type_.is_integer:
        return _to_integer(value, BITS[type_])
    if type_.is_numeric:
        number = _to_double(value)
        return number if number is None or type_ is DataType.DOUBLE else _single(number)
    match type_:
        case DataType.STRING:
            return _to_text(_shortest(value) if source is DataType.FLOAT else value)
        case DataType.TIMESTAMP:
            return _to_timestamp(value)
        case DataType.TIMESTAMP_NTZ:
            moment = _to_timestamp(value)
            return None if moment is None else moment.replace(tzinfo=None)
        case DataType.BINARY:
            return value.encode() if isinstance(value, str) else value
        case DataType.DATE:
            return _to_date(value)
    return value


def _to_boolean(value: Any) -> bool | None:
    if not isinstance(value, str):
        return bool(value)
    words = {"true": True, "t": True, "yes": True, "y": True, "1": True}
    words |= {"false": False, "f": False, "no": False, "n": False, "0": False}
    return words.get(value.strip(" ").lower())


def _to_integer(value: Any, bits: int) -> int | None:
    if isinstance(value, str):
        if not re.fullmatch(r" *[+-]?[0-9]+ *", value):
            return None
    elif not math.isfinite(value):
        return None
    number = int(value)
    return number if -(1 << (bits - 1)) <= number < 1 << (bits - 1) else None


def _to_double(value: Any) -> float | None:
    number = r"([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"
    if isinstance(value, str) and not re.fullmatch(
        rf" *[+-]?({number}|(?i:nan|inf|infinity)) *", value
    ):
        return None
    return float(value)


def _to_text(value: Any) -> str | None:
    match value:
        case bytes():
            try:
                return value.decode()
            except UnicodeDecodeError:
                return None
        case bool():
            return str(value).lower()
        case float():
            return json.dumps(value)
        case Decimal():
            return f"{value:f}"
        case datetime():
            text = value.strftime("%H:%M:%S.%f").rstrip("0").rstrip(".")
            return f"{value.date().isoformat()} {text}"
        case date():
            return value.isoformat()
    return str(value)


def _shortest(value: Any) -> float:
    """The double with the fewest digits that is this FLOAT."""
    tries = (float(f"{value:.{digits}g}") for digits in range(1, 10))
    return next((number for number in tries if _single(number) == value), value)


def _to_timestamp(value: Any) -> datetime | None:
    if isinstance(value, datetime):
        return value if value.tzinfo else value.replace(tzinfo=UTC)
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=UTC)
    parts = re.fullmatch(
        r" *([0-9]{4})-([0-9]{2})-([0-9]{2})"
        r"(?:[ T]([0-9]{2})(?::([0-9]{2})(?::([0-9]{2})(?:\.([0-9]{1,9}))?)?)?"
        r"(Z|[+-][0-9]{2}(?::?[0-9]{2})?)?)? *",
        value,
    )
    if not parts:
        return None
    *numbers, fraction, zone = parts.groups()
    zone = "+0000" if zone in (None, "Z") else zone.replace(":", "").ljust(5, "0")
    shift = timedelta(hours=int(zone[1:3]), minutes=int(zone[3:]))
    micros = int((fraction or "0").ljust(6, "0")[:6])
    try:
        year, month, day, *clock = (int(n or 0) for n in numbers)
        hour, minute, second = clock
        local = datetime(year, month, day, hour, minute, second, micros, tzinfo=UTC)
        if shift >= timedelta(days=1) or int(zone[3:]) > 59:
            return None
        return local + shift if zone[0] == "-" else local - shift
    except (ValueError, OverflowError):
        return None


def _to_date(value: Any) -> date | None:
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    if not re.fullmatch(r" *[0-9]{4}-[0-9]{2}-[0-9]{2} *", value):
        return None
    moment = _to_timestamp(value)
    return None if moment is None else moment.date()

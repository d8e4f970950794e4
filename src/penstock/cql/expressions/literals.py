"""Constants: numbers, dates and times as they are written, and in another type."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, time

from penstock.cql.reading.text import Span, Text
from penstock.query.expression import Literal
from penstock.query.types import DataType

_INT = range(-(2**31), 2**31)
_BIGINT = range(-(2**63), 2**63)
_MOST_DIGITS = 19


def whole_number(digits: str) -> int | None:
    """The number that decimal digits are; None if a BIGINT does not hold it."""
    significant = digits.lstrip("-0")
    if len(significant) > _MOST_DIGITS:
        # Python refuses to read thousands of digits.
        return None
    value = int(significant or 0) * (-1 if digits.startswith("-") else 1)
    return value if value in _BIGINT else None


def parse_number(text: Text, span: Span, written: str) -> Literal:
    """A number: INT if it fits, else BIGINT; DOUBLE if it has a point or an exponent."""
    if written.lstrip("-").isdecimal():
        value = whole_number(written)
        if value is None:
            hint = "write it with a decimal point for a DOUBLE"
            raise text.error(span, "this number does not fit a BIGINT", hint)
        return Literal(value, DataType.INT if value in _INT else DataType.BIGINT)
    number = float(written)
    if math.isinf(number):
        raise text.error(span, "this number does not fit a DOUBLE", "write a smaller one")
    return Literal(number, DataType.DOUBLE)


def parse_temporal(text: Text, span: Span, written: str, type_: DataType) -> Literal:
    """A TIMESTAMP or DATE from its text; without a zone it is UTC."""
    try:
        if type_ is DataType.DATE:
            return Literal(date.fromisoformat(written.strip()), type_)
        return Literal(parse_moment(written), type_)
    except (ValueError, OverflowError):
        example = "2026-01-31" if type_ is DataType.DATE else "2026-01-31 23:59:59.5"
        message = f"'{written}' is not a {type_}"
        raise text.error(span, message, f"write it like '{example}'") from None


def parse_moment(written: str) -> datetime:
    """A point in time, UTC; ValueError or OverflowError if the text is none."""
    moment = datetime.fromisoformat(written.strip())
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def convert(literal: Literal, type_: DataType) -> Literal:
    """The same constant in a wider type."""
    value = literal.value
    if isinstance(value, int) and type_ in (DataType.FLOAT, DataType.DOUBLE):
        value = float(value)
    elif literal.type is DataType.DATE and isinstance(value, date):
        value = datetime.combine(value, time(), UTC)
    return Literal(value, type_)

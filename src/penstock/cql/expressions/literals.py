"""Constants: numbers, dates and times as they are written, and in another type."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, time
from decimal import Decimal

from penstock.cql.reading.text import Span, Text
from penstock.query.expression import Literal
from penstock.query.families.decimal_types import MOST_DIGITS
from penstock.query.types import DataType, decimal

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


def exact_number(written: str) -> Literal | None:
    """A number without an exponent as the DECIMAL with just its digits; None if they are too many.

    2.50 is a DECIMAL(3, 2), and 0.05 a DECIMAL(2, 2), as in Spark.
    """
    whole, _, fraction = written.lstrip("-").partition(".")
    digits = len((whole + fraction).lstrip("0"))
    if not (whole + fraction).isdecimal() or max(digits, len(fraction)) > MOST_DIGITS:
        return None
    return Literal(Decimal(written), decimal(max(digits, len(fraction), 1), len(fraction)))


def parse_decimal(text: Text, span: Span, written: str) -> Literal:
    """`DECIMAL '2.50'`, with the digits that it has."""
    exact = exact_number(written.strip())
    if exact is None:
        hint = f"write it like DECIMAL '2.50', with up to {MOST_DIGITS} digits"
        raise text.error(span, f"'{written}' is not a DECIMAL", hint)
    return exact


def parse_temporal(text: Text, span: Span, written: str, type_: DataType) -> Literal:
    """A time or DATE from its text; a TIMESTAMP without a zone is UTC, TIMESTAMP_NTZ has none."""
    try:
        if type_ is DataType.TIMESTAMP_NTZ:
            return Literal(_wall_time(written), type_)
        if type_ is DataType.DATE:
            return Literal(date.fromisoformat(written.strip()), type_)
        return Literal(parse_moment(written), type_)
    except (ValueError, OverflowError):
        example = "2026-01-31" if type_ is DataType.DATE else "2026-01-31 23:59:59.5"
        message = f"'{written}' is not a {type_}"
        raise text.error(span, message, f"write it like '{example}'") from None


def _wall_time(written: str) -> datetime:
    time_ = datetime.fromisoformat(written.strip())
    if time_.tzinfo is not None:
        raise ValueError("a zone")
    return time_


def parse_moment(written: str) -> datetime:
    """A point in time, UTC; ValueError or OverflowError if the text is none."""
    moment = datetime.fromisoformat(written.strip())
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def convert(literal: Literal, type_: DataType) -> Literal:
    """The same constant in a wider type."""
    value = literal.value
    if isinstance(value, int | Decimal) and type_.is_floating:
        value = float(value)
    elif isinstance(value, int) and type_.is_decimal:
        value = Decimal(value)
    elif literal.type is DataType.DATE and isinstance(value, date):
        value = datetime.combine(value, time(), UTC if type_ is DataType.TIMESTAMP else None)
    elif isinstance(value, datetime) and type_.is_moment:
        value = value.replace(tzinfo=UTC if type_ is DataType.TIMESTAMP else None)
    return Literal(value, type_)

"""The types a column may have, and which of them can be compared."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import ClassVar

from penstock.query.families import decimal_types, nested_types


class DataType(str):
    """A SQL type; the text is how it is written. Equal types are one object, also after a pickle.

    Most are class attributes; `DECIMAL(10, 2)` and its like are made by `decimal`.
    """

    __slots__ = ()

    BOOLEAN: ClassVar[DataType]
    TINYINT: ClassVar[DataType]
    SMALLINT: ClassVar[DataType]
    INT: ClassVar[DataType]
    BIGINT: ClassVar[DataType]
    FLOAT: ClassVar[DataType]
    DOUBLE: ClassVar[DataType]
    STRING: ClassVar[DataType]
    BINARY: ClassVar[DataType]
    DATE: ClassVar[DataType]
    TIMESTAMP: ClassVar[DataType]
    TIMESTAMP_NTZ: ClassVar[DataType]
    NULL: ClassVar[DataType]

    def __new__(cls, written: str) -> DataType:
        if written not in _KNOWN:
            if not _is_type(written):
                raise ValueError(f"{written} is no type")
            _KNOWN.setdefault(written, super().__new__(cls, written))
        return _KNOWN[written]

    @property
    def is_integer(self) -> bool:
        return self in _INTEGERS

    @property
    def is_floating(self) -> bool:
        return self in (DataType.FLOAT, DataType.DOUBLE)

    @property
    def is_decimal(self) -> bool:
        return self.startswith("DECIMAL")

    @property
    def is_numeric(self) -> bool:
        return self in _NUMERIC or self.is_decimal

    @property
    def is_temporal(self) -> bool:
        return self is DataType.DATE or self.is_moment

    @property
    def is_moment(self) -> bool:
        """Whether it is a day and the time of day, in UTC or by some clock on a wall."""
        return self in (DataType.TIMESTAMP, DataType.TIMESTAMP_NTZ)

    @property
    def is_narrow(self) -> bool:
        """Whether each of its values takes a few bytes: numbers, times, yes or no."""
        return self.is_numeric or self.is_temporal or self is DataType.BOOLEAN

    @property
    def is_nested(self) -> bool:
        return self.endswith(">")

    @property
    def is_held(self) -> bool:
        """Whether there are columns of it; others may be declared if no query reads them."""
        return all(type_.is_held for _, type_ in self.parts) and self not in _UNHELD

    @property
    def is_telling(self) -> bool:
        """Whether plans look at such values: numbers, text and times."""
        return not self.is_nested and self not in (*_UNHELD, "BINARY", "NULL")

    @property
    def kind(self) -> str:
        """ARRAY, MAP, STRUCT, or what else the type is."""
        return self.split("<")[0]

    @property
    def parts(self) -> tuple[tuple[str, DataType], ...]:
        """The members of a STRUCT, the element of an ARRAY, the key and value of a MAP, by name."""
        found = nested_types.split(self) if self.is_nested else None
        return () if found is None else tuple((name, DataType(type_)) for name, type_ in found[1])

    @property
    def digits(self) -> decimal_types.Digits:
        """The precision and scale of a DECIMAL, or of the least that holds an integer type."""
        if self in _DIGITS:
            return _DIGITS[self], 0
        found = _DECIMAL.fullmatch(self)
        assert found, f"{self} has no digits"
        return int(found[1]), int(found[2])


_PLAIN = (
    *("BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE"),
    *("STRING", "BINARY", "DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "NULL"),
)
_UNHELD = ("VARIANT", "INTERVAL", "TIME", "GEOMETRY", "GEOGRAPHY", "VOID", "OBJECT")
_DECIMAL = re.compile(r"DECIMAL\(([0-9]+), ([0-9]+)\)")
_KNOWN: dict[str, DataType] = {}


def _is_type(written: str) -> bool:
    if written in (*_PLAIN, *_UNHELD) or _DECIMAL.fullmatch(written):
        return True
    found = nested_types.split(written)
    return found is not None and all(_is_type(type_) for _, type_ in found[1])


for _name in _PLAIN:
    setattr(DataType, _name, DataType(_name))

UNHELD_TYPES = tuple(DataType(name) for name in _UNHELD)
"""Types that a column may be declared with, if no query reads it."""

PLAIN_TYPES = tuple(DataType(name) for name in _PLAIN if name != "NULL")
"""The types without parameters that a column may have."""

# Narrow to wide: the common type of two numbers is the one further to the right.
_INTEGERS = (DataType.TINYINT, DataType.SMALLINT, DataType.INT, DataType.BIGINT)
_NUMERIC = (*_INTEGERS, DataType.FLOAT, DataType.DOUBLE)
_DIGITS = dict(zip(_INTEGERS, (3, 5, 10, 20), strict=True))


def decimal(precision: int, scale: int) -> DataType:
    """The DECIMAL of so many digits, `scale` of them after the point."""
    most = decimal_types.MOST_DIGITS
    assert 0 <= scale <= precision, (precision, scale)
    assert 1 <= precision <= most, (precision, scale)
    return DataType(f"DECIMAL({precision}, {scale})")


def nested(kind: str, parts: Iterable[tuple[str, DataType]]) -> DataType:
    """The STRUCT of these members, or the ARRAY or MAP of these types."""
    return DataType(nested_types.joined(kind, parts))


def common_type(left: DataType, right: DataType) -> DataType | None:
    """The type in which two values are compared, or None where they cannot be.

    An integer beside a FLOAT is compared as DOUBLE, because a FLOAT holds only 24 bits of it. A
    DECIMAL beside another or an integer keeps all digits of both; 38 must hold them. A time without
    a zone beside one with a zone is in UTC.
    """
    if left.is_nested or right.is_nested:
        return None
    if left == right or right is DataType.NULL:
        return left
    if left is DataType.NULL:
        return right
    if left.is_numeric and right.is_numeric:
        return _common_number(left, right)
    if left.is_temporal and right.is_temporal:
        has_zone = DataType.TIMESTAMP in (left, right)
        return DataType.TIMESTAMP if has_zone else DataType.TIMESTAMP_NTZ
    return None


def _common_number(left: DataType, right: DataType) -> DataType | None:
    if left.is_floating != right.is_floating:
        return DataType.DOUBLE
    if left.is_decimal or right.is_decimal:
        digits = decimal_types.union(left.digits, right.digits)
        return None if digits is None else decimal(*digits)
    return max(left, right, key=_NUMERIC.index)

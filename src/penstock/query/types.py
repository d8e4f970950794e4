"""The types a column may have, and which of them can be compared."""

from __future__ import annotations

from enum import StrEnum


class DataType(StrEnum):
    """A SQL type; the value is how it is written."""

    BOOLEAN = "BOOLEAN"
    TINYINT = "TINYINT"
    SMALLINT = "SMALLINT"
    INT = "INT"
    BIGINT = "BIGINT"
    FLOAT = "FLOAT"
    DOUBLE = "DOUBLE"
    STRING = "STRING"
    DATE = "DATE"
    TIMESTAMP = "TIMESTAMP"
    NULL = "NULL"

    @property
    def is_integer(self) -> bool:
        return self in _INTEGERS

    @property
    def is_numeric(self) -> bool:
        return self in _NUMERIC

    @property
    def is_temporal(self) -> bool:
        return self in (DataType.DATE, DataType.TIMESTAMP)


# Narrow to wide: the common type of two numbers is the one further to the right.
_INTEGERS = (DataType.TINYINT, DataType.SMALLINT, DataType.INT, DataType.BIGINT)
_NUMERIC = (*_INTEGERS, DataType.FLOAT, DataType.DOUBLE)


def common_type(left: DataType, right: DataType) -> DataType | None:
    """The type in which two values are compared, or None where they cannot be.

    An integer beside a FLOAT is compared as DOUBLE, because a FLOAT holds only 24 bits of it.
    """
    if left == right or right is DataType.NULL:
        return left
    if left is DataType.NULL:
        return right
    if left.is_numeric and right.is_numeric:
        wider = max(left, right, key=_NUMERIC.index)
        mixed = left.is_integer != right.is_integer
        return DataType.DOUBLE if mixed else wider
    if left.is_temporal and right.is_temporal:
        return DataType.TIMESTAMP
    return None

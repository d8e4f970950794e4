"""The values of join keys, read back from the state: from hashes, or from the tuples themselves."""

from __future__ import annotations

import struct
from datetime import date, timedelta
from decimal import Decimal

import pyarrow as pa

from penstock.engine.expressions.arrow_types import arrow_type
from penstock.engine.expressions.evaluate import evaluate
from penstock.engine.rows.columns import column_name
from penstock.engine.rows.event_time import moment
from penstock.engine.wire.exchange import hash_values
from penstock.kernels.hashing import combine, unmixed
from penstock.query.expression import as_type, columns_of
from penstock.query.keys import KeyClass
from penstock.query.types import DataType

_CELL = 120
"""Characters of a key that are shown."""


def key_text(key: KeyClass, hash_: int, row: pa.RecordBatch) -> str | None:
    """A key as people read it, of its hash and a row that has it; None if neither tells it.

    Hashes of numbers and times are bijections. Of texts, and of keys of several parts, tuples carry
    the columns, because equal hashes prove nothing.
    """
    text = value_text(key.types[0], hash_) if key.is_exact else _text_in(key, row)
    return text if text is None or len(text) <= _CELL else text[: _CELL - 1] + "…"


def unknown_hash(key: KeyClass) -> int:
    """The hash of NULL in all parts of a key: that of 0, or of no text."""
    nulls = [hash_values(pa.nulls(1, arrow_type(type_))) for type_ in key.types]
    return int(combine(nulls)[0])


def value_text(type_: DataType, hash_: int) -> str:
    """The value of a type that fits 64 bits, by its hash."""
    bits = unmixed(hash_)
    if type_.is_floating:
        return repr(struct.unpack("<d", struct.pack("<Q", bits))[0])
    whole = bits - (1 << 64) if bits >> 63 else bits
    if type_ is DataType.BOOLEAN:
        return "true" if whole else "false"
    if type_.is_decimal:
        return str(Decimal(whole).scaleb(-type_.digits[1]))
    if type_ is DataType.DATE:
        return (date(1970, 1, 1) + timedelta(days=whole)).isoformat()
    return moment(whole) if type_.is_moment else str(whole)


def _text_in(key: KeyClass, row: pa.RecordBatch) -> str | None:
    """The parts of a key in the columns of one of its inputs, if the row has them."""
    names = set(row.schema.names)
    for _, parts in key.members:
        columns = {column_name(c) for part in parts for c in columns_of(part)}
        if columns <= names:
            values = [
                evaluate(as_type(part, type_), row, column_name)[0].as_py()
                for part, type_ in zip(parts, key.types, strict=True)
            ]
            return ", ".join("NULL" if value is None else str(value) for value in values)
    return None

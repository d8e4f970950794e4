"""Type names as they are written in CREATE and CAST."""

from __future__ import annotations

import re

from penstock.cql.reading.dialect import without_comments
from penstock.cql.reading.nearest import nearest
from penstock.cql.reading.text import Span, Text
from penstock.query.families import nested_types
from penstock.query.families.decimal_types import MOST_DIGITS
from penstock.query.types import PLAIN_TYPES, UNHELD_TYPES, DataType, decimal, nested

_SYNONYMS = {"INTEGER": "INT", "LONG": "BIGINT", "REAL": "FLOAT", "VARCHAR": "STRING"}
TYPE_NAMES = {
    **{str(type_): type_ for type_ in PLAIN_TYPES},
    **{synonym: DataType(name) for synonym, name in _SYNONYMS.items()},
    "TEXT": DataType.STRING,
    "BYTES": DataType.BINARY,
    "TIMESTAMP_LTZ": DataType.TIMESTAMP,
}
TYPES_HINT = (
    f"the types are {', '.join(PLAIN_TYPES)}, DECIMAL(precision, scale), ARRAY<…>, MAP<…, …> and "
    "STRUCT<name: …, …>"
)
_INSTEAD = {
    "VARCHAR": "leave the length out",
    "CHAR": "use STRING",
    "DATETIME": "use TIMESTAMP",
    "TIMESTAMPTZ": "use TIMESTAMP; all times are UTC",
    "VARBINARY": "use BINARY",
    "BLOB": "use BINARY",
}
_DECIMAL = re.compile(r"(?:DECIMAL|DEC|NUMERIC)(?:\s*\(\s*([0-9]+)\s*(?:,\s*([0-9]+)\s*)?\))?")
_DECIMAL_HINT = f"write it DECIMAL(10, 2): up to {MOST_DIGITS} digits, 2 of them after the point"
_NESTED = ("ARRAY", "MAP", "STRUCT")
_NESTED_HINT = "write it ARRAY<STRING>, MAP<STRING, INT> or STRUCT<city: STRING, zip: INT>"
# The digits of a DECIMAL that does not say them, as in Spark.
_USUAL_DIGITS = "10"


def parse_type(text: Text, span: Span) -> DataType:
    """The type whose name stands there."""
    written = " ".join(without_comments(text.at(span)).split())
    type_ = type_named(written)
    if type_ is None:
        written = written.upper()
        name = re.split(r"[(<]", written)[0].strip()
        if name in _NESTED:
            raise text.error(span, "this type cannot be read", _NESTED_HINT)
        hint = _DECIMAL_HINT if _DECIMAL.fullmatch(name) else _INSTEAD.get(name)
        hint = hint or nearest(name, TYPE_NAMES, TYPES_HINT)
        raise text.error(span, f"{written} is not a type of the language", hint)
    return type_


def type_named(written: str) -> DataType | None:
    """The type that is written so, if there is one."""
    if (outer := nested_types.split(written)) is not None:
        return _nested(*outer)
    upper = written.upper()
    found = _DECIMAL.fullmatch(upper)
    if found is None:
        unheld = {str(type_): type_ for type_ in UNHELD_TYPES}
        return TYPE_NAMES.get(upper) or unheld.get(re.split(r"[ (]", upper)[0])
    precision, scale = int(found[1] or _USUAL_DIGITS), int(found[2] or 0)
    return (
        decimal(precision, scale) if 0 < precision <= MOST_DIGITS and scale <= precision else None
    )


def _nested(kind: str, parts: nested_types.Parts) -> DataType | None:
    inner = [(name, type_named(written)) for name, written in parts]
    known = [(name, type_) for name, type_ in inner if type_ is not None]
    return nested(kind, known) if len(known) == len(inner) else None

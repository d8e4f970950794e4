"""Type names as they are written in CREATE and CAST."""

from __future__ import annotations

from penstock.cql.reading.text import Span, Text
from penstock.query.types import DataType

_SYNONYMS = {"INTEGER": "INT", "LONG": "BIGINT", "REAL": "FLOAT", "VARCHAR": "STRING"}
TYPE_NAMES = {
    **{str(type_): type_ for type_ in DataType if type_ is not DataType.NULL},
    **{synonym: DataType(name) for synonym, name in _SYNONYMS.items()},
    "TEXT": DataType.STRING,
}
TYPES_HINT = "the types are " + ", ".join(t for t in DataType if t is not DataType.NULL)
_INSTEAD = {
    "DECIMAL": "use DOUBLE, or BIGINT in the smallest unit (cents)",
    "NUMERIC": "use DOUBLE, or BIGINT in the smallest unit (cents)",
    "VARCHAR": "leave the length out",
    "CHAR": "use STRING",
    "DATETIME": "use TIMESTAMP",
    "TIMESTAMPTZ": "use TIMESTAMP; all times are UTC",
}


def parse_type(text: Text, span: Span) -> DataType:
    """The type whose name stands there."""
    written = " ".join(text.at(span).upper().split())
    type_ = TYPE_NAMES.get(written)
    if type_ is None:
        hint = _INSTEAD.get(written.split("(")[0].strip(), TYPES_HINT)
        raise text.error(span, f"{written} is not a type of the language", hint)
    return type_

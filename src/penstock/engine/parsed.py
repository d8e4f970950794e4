"""What the readers of the file formats give: all the rows of a stretch of a file, faults named."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.engine.cast import cast
from penstock.engine.place import Place
from penstock.errors import SourceError
from penstock.query import DataType
from penstock.query.source import Field, Source

_SHOWN = 80


@dataclass(frozen=True)
class Parsed:
    """Rows in the declared types. `faults` says what is wrong with the malformed ones, by index.

    `place` gives where a row, by index, stands in the file: `line 7`.
    """

    batch: pa.RecordBatch
    faults: Mapping[int, str]
    place: Callable[[int], str]


def shorten(text: Any) -> str:
    """The text in quotes, cut where it is too long for a message."""
    shown = text.decode(errors="replace") if isinstance(text, bytes) else str(text)
    return f"'{shown[:_SHOWN]}…'" if len(shown) > _SHOWN else f"'{shown}'"


def misfit(field: Field, value: Any) -> str:
    """What is wrong with a value that is not of its column's type."""
    article = "an" if field.type is DataType.INT else "a"
    return f"{shorten(value)} in column {field.name} is not {article} {field.type}"


def requested(source: Source, columns: Collection[str]) -> list[Field]:
    """The declared columns that were asked for, in the order of the declaration.

    One at least, because a batch without columns does not know how many rows it has.
    """
    return [field for field in source.fields if field.name in columns] or [source.fields[0]]


def converted(field: Field, text: pa.Array, faults: dict[int, str]) -> pa.Array:
    """Text in the type of a column; rows that do not fit are added to the faults."""
    if field.type is DataType.STRING:
        return text
    values = cast(text, DataType.STRING, field.type)
    if values.null_count > text.null_count:
        for row in np.flatnonzero(pc.and_(pc.is_valid(text), pc.is_null(values))):
            faults.setdefault(int(row), misfit(field, text[row].as_py()))
    return values


def match_columns(
    source: Source, path: Place, fields: list[Field], present: list[str]
) -> dict[str, int]:
    """Where each declared column stands among the file's: by name, else by name in another case."""
    lower = [name.lower() for name in present]
    places = {}
    for field in fields:
        if field.name in present:
            places[field.name] = present.index(field.name)
        elif field.name.lower() in lower:
            places[field.name] = lower.index(field.name.lower())
        else:
            raise SourceError(
                f"{path} has no column {field.name}, which {source.name} declares",
                place=source.places.get("name"),
                hint=f"its columns are {', '.join(present)}",
            )
    return places

"""Parsed rows, as readers of all file formats give them: a stretch of a file, faults named."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.engine.expressions.arrow_types import arrow_type
from penstock.engine.expressions.cast import cast
from penstock.engine.expressions.timestamps import timestamps_of
from penstock.engine.places.place import Place
from penstock.engine.sources.lines import ROW_MOST, WHOLE, Piece, Span, text_of
from penstock.query import DataType
from penstock.query.families.spelling import AmbiguousNameError, spelled
from penstock.query.source import Field, Source

EXPONENT = re.compile(rb"[\d.][eE][+-]?\d")
"""What may be the exponent of a number."""
_SHOWN = 80
# Columns that a message names: a file of another kind may seem to have thousands.
_LISTED = 12

SKIP_FILES = "malformed = 'drop' skips such files"


class FileFault(Exception):  # noqa: N818 - whether it is an error, the source decides
    """A file that cannot be read as what its source declares; `at` is the option to blame."""

    def __init__(self, reason: str, hint: str, at: str = "name"):
        super().__init__(reason)
        self.reason = reason
        self.hint = hint
        self.at = at


@dataclass(frozen=True)
class Located:
    """Where a row stands in its file, as `line 7` or `row 7`, and what stands there."""

    unit: str
    number: int
    text: str

    def __str__(self) -> str:
        return f"{self.unit} {self.number}"

    def within(self, place: str) -> str:
        """Its full name: `bids.csv, line 7`, or of a record `bids[3]@7`."""
        return f"{place}@{self.number}" if self.unit == "offset" else f"{place}, {self}"


Locate = Callable[[Collection[int]], Mapping[int, Located]]


@dataclass(frozen=True)
class Parsed:
    """Rows in the declared types. `faults` says what is wrong with the malformed ones, by index.

    `locate` gives where rows, by index, stand in the file.
    """

    batch: pa.RecordBatch
    faults: Mapping[int, str]
    locate: Locate


@dataclass(frozen=True)
class Ask:
    """The columns that are wanted of a file, of which `hints` do not decide anything.

    A hint that the file does not have, or not in a type that can be read, is NULL.
    """

    source: Source
    path: Place
    fields: tuple[Field, ...]
    hints: frozenset[str] = frozenset()
    span: Span = WHOLE
    """The part of the file that is read."""

    @classmethod
    def of(
        cls,
        source: Source,
        path: Place,
        columns: Collection[str],
        hints: Collection[str],
        span: Span,
    ) -> Ask:
        """The columns asked for in the order of the declaration.

        One at least, because a batch without columns does not know how many rows it has.
        """
        fields = tuple(requested(source, {*columns, *hints}))
        return cls(source, path, fields, frozenset(hints) - frozenset(columns), span)

    def fills(self, field: Field) -> bool:
        """Whether a column that the file does not have is NULL; an event time never is."""
        is_filled = self.source.columns == "fill" and field.name != self.source.timestamp
        return is_filled or field.name in self.hints

    def lacking(self, field: Field, hint: str) -> FileFault:
        """The fault of a file that does not have a column."""
        reason = f"{self.path} has no column {field.name}, which {self.source.name} declares"
        return FileFault(reason, f"{hint}; {self.remedy(field)}")

    def ambiguous(self, error: AmbiguousNameError) -> FileFault:
        """The fault of a file that has a name in several cases, none of which is the declared."""
        hint = f"declare it as one of them is spelled, or rename them in the file; {SKIP_FILES}"
        return FileFault(f"in {self.path} {error}, which {self.source.name} declares", hint)

    def remedy(self, field: Field) -> str:
        """The option that lets a query go on at a file without a column."""
        if field.name == self.source.timestamp:
            return f"an event time cannot be NULL; {SKIP_FILES}"
        return f"columns = 'fill' makes what is missing NULL, {SKIP_FILES}"


def row_most(source: Source) -> int:
    """The bytes that a row of a source may have."""
    most = source.option("max_row")
    return ROW_MOST if most is None else int(most)


def too_long(ask: Ask, piece: Piece) -> Parsed:
    """The one row of a piece that is skipped, since it has too many bytes."""
    reason = f"it has {piece.skipped:,} bytes, and max_row is {row_most(ask.source):,}"
    place = Located("line", piece.first_line, text_of(piece.data))
    return Parsed(filled(ask.fields, {}, 1), {0: reason}, lambda rows: {0: place})


def shorten(text: Any) -> str:
    """The text in quotes, cut where it is too long for a message."""
    shown = text.decode(errors="replace") if isinstance(text, bytes) else str(text)
    return f"'{shown[:_SHOWN]}…'" if len(shown) > _SHOWN else f"'{shown}'"


def misfit(field: Field, value: Any) -> str:
    """The fault of a value that is not of its column's type."""
    article = "an" if field.type is DataType.INT else "a"
    return f"{shorten(value)} in column {field.name} is not {article} {field.type}"


def requested(source: Source, columns: Collection[str]) -> list[Field]:
    """The declared columns that were asked for, in the order of the declaration; one at least."""
    asked = [field for field in source.fields if field.name in columns]
    plain = (field for field in source.fields if field.type.is_telling)
    return asked or [next(plain, source.fields[0])]


def converted(
    field: Field, text: pa.Array, faults: dict[int, str], zone: str | None = None
) -> pa.Array:
    """Text in the type of a column; rows that do not fit are added to the faults.

    Times that do not say their zone are of the given one, else UTC.
    """
    if field.type is DataType.STRING:
        return text
    if field.type is DataType.TIMESTAMP:
        values = timestamps_of(text, zone)
    else:
        values = cast(text, DataType.STRING, field.type)
    if values.null_count > text.null_count:
        for row in np.flatnonzero(pc.and_(pc.is_valid(text), pc.is_null(values))):
            faults.setdefault(int(row), misfit(field, text[row].as_py()))
    return values


def match_columns(ask: Ask, present: list[str]) -> dict[str, int]:
    """Where the columns stand among the file's: by name, else by name in another case.

    Columns that the file does not have are left out if they are to be NULL.
    """
    places = {}
    for field in ask.fields:
        try:
            own = spelled(field.name, present)
        except AmbiguousNameError as error:
            if field.name not in ask.hints:
                raise ask.ambiguous(error) from None
            continue
        if own is not None:
            places[field.name] = present.index(own)
        elif not ask.fills(field):
            raise ask.lacking(field, f"its columns are {_listed(present)}")
    return places


def filled(fields: Collection[Field], found: Mapping[str, pa.Array], rows: int) -> pa.RecordBatch:
    """So many rows of all columns, NULL where none was found."""
    columns = [
        found[f.name] if f.name in found else pa.nulls(rows, arrow_type(f.type)) for f in fields
    ]
    return pa.record_batch(columns, names=[f.name for f in fields])


def _listed(names: list[str]) -> str:
    plain = [name if name.isprintable() else ascii(name) for name in names[:_LISTED]]
    shown = [name if len(name) <= _SHOWN else f"{name[:_SHOWN]}…" for name in plain]
    return ", ".join(shown) + (f" and {len(names) - _LISTED:,} more" if names[_LISTED:] else "")

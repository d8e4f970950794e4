"""Sources: where the tuples of a stream or the rows of a table come from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from penstock.errors import Caret
from penstock.query.types import DataType

Format = Literal["csv", "json", "parquet", "rate", "synthetic"]
Unit = Literal["us", "ms", "s"]
Columns = Literal["all", "fill"]
FILE_FORMATS = ("csv", "json", "parquet")
KEEP = "keep:"
"""`malformed = 'keep:PATH'` begins so."""


@dataclass(frozen=True)
class Field:
    """A declared column."""

    name: str
    type: DataType


@dataclass(frozen=True)
class Source:
    """A CREATE STREAM or CREATE TABLE. Durations are microseconds.

    `malformed` is `fail`, `drop`, or `keep:PATH`, which drops too. With `columns` as `fill`, those
    that a file does not have are NULL. `options` holds what only one format understands (header,
    delimiter, values, seed, …), by lower-case name; `places` says where each option stands in the
    text.
    """

    name: str
    fields: tuple[Field, ...]
    format: Format
    is_table: bool = False
    path: str | None = None
    timestamp: str | None = None
    unit: Unit | None = None
    lateness: int = 0
    idle: int | None = None
    rate: float | None = None
    malformed: str = "fail"
    columns: Columns = "all"
    options: tuple[tuple[str, str | int | float | bool], ...] = ()
    places: Mapping[str, Caret] = field(default_factory=dict, compare=False, repr=False)

    def field(self, name: str) -> Field | None:
        """The declared column of that name (case as declared), if any."""
        return next((f for f in self.fields if f.name == name), None)

    @property
    def drops_malformed(self) -> bool:
        return self.malformed != "fail"

    @property
    def keeps_malformed_at(self) -> str | None:
        """The file that malformed rows are kept in, if they are."""
        return self.malformed.removeprefix(KEEP) if self.malformed.startswith(KEEP) else None

    def option(self, name: str) -> str | int | float | bool | None:
        """A format's own option, or None."""
        return dict(self.options).get(name)

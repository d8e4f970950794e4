"""Sources: where the tuples of a stream or the rows of a table come from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from penstock.errors import Caret
from penstock.query.secret import Secret
from penstock.query.types import DataType

Format = Literal[
    "csv",
    "json",
    "parquet",
    "rate",
    "synthetic",
    "nexmark",
    "kafka",
    "dataframe",
    "spark",
    "derived",
]
Unit = Literal["us", "ms", "s"]
Columns = Literal["all", "fill"]
FILE_FORMATS = ("csv", "json", "parquet")
MADE_FORMATS = ("synthetic", "nexmark")
"""The formats whose tuples are made up, in numbered blocks."""
FRAME_FORMATS = ("rate", "dataframe", "spark")
"""The formats whose rows come through Spark."""
_RECORD_COLUMNS = {
    "kafka_timestamp": DataType.TIMESTAMP,
    "kafka_key": DataType.STRING,
    "kafka_partition": DataType.INT,
    "kafka_offset": DataType.BIGINT,
    "kafka_headers": DataType.STRING,
}
SCHEMA_TEXT = "schema text"
"""The option that holds what is in the file of the option `schema`."""
CAST_IT = "cast it in the DataFrame, or leave it out of the query"
FUTURE = 24 * 3600 * 1_000_000
"""How far ahead of the clock an event time may be if nothing is said: a day, microseconds."""
MAX_AGE = 7 * FUTURE
"""How much older than the newest a file is that may be forgotten, if nothing is said."""
KEEP = "keep:"
"""`malformed = 'keep:PATH'` begins so."""


StepKind = Literal["column", "member", "item", "get", "key"]
Step = tuple[StepKind, str | int]
"""A step on the way into a column: which column, which member of a STRUCT, which item of an ARRAY
(`get` gives NULL where there is none), which key of a MAP."""


@dataclass(frozen=True)
class Field:
    """A declared column, or a part of one that a query reads."""

    name: str
    type: DataType

    path: tuple[Step, ...] = ()
    """The way to it from a declared column, whose name is the first step, if it is not one itself.

    Such columns (`meta.city`, `tags[1]`) are read with the others, so that nobody else knows.
    """

    @property
    def record_type(self) -> DataType | None:
        """The type that it must have in a stream from Kafka, if its name, in any case, is one of
        those that stand for what records have beside their values; None if it is in the values."""
        return _RECORD_COLUMNS.get(self.name.lower())


@dataclass(frozen=True)
class Source:
    """A CREATE STREAM or CREATE TABLE. Durations are microseconds."""

    name: str
    """The name of the stream or table, as declared."""

    fields: tuple[Field, ...]
    """The declared columns."""

    format: Format
    """The format of its files, or the kind of generator."""

    is_table: bool = False
    """Whether it is a table, whose rows have been there for ever."""

    path: str | None = None
    """The file, folder or pattern of files; None for generators."""

    timestamp: str | None = None
    """The column with the event time; a table has none."""

    unit: Unit | None = None
    """The unit of event times that are numbers."""

    lateness: int = 0
    """How far a tuple may be behind the highest event time so far and still count."""

    idle: int | None = None
    """How long a silent stream holds up the others; None for ever."""

    future: int | None = FUTURE
    """How far an event time may be ahead of the clock; None for as far as it likes."""

    rate: float | None = None
    """Tuples/s of event time, which generators need."""

    refresh: int | None = None
    """How often the files of a table are looked at for a new version of it; None for never."""

    malformed: str = "fail"
    """`fail`, `drop`, or `keep:PATH`, which drops too."""

    columns: Columns = "all"
    """With `fill`, columns that a file does not have are NULL."""

    options: tuple[tuple[str, str | int | float | bool], ...] = ()
    """Options of one format alone (header, delimiter, values, seed, …), by lower-case name."""

    client: tuple[tuple[str, str | Secret], ...] = ()
    """Settings that are passed on to Kafka's client, by its names for them."""

    reader: str | None = None
    """The format of Spark's own reader, where `format = 'spark:…'` names one."""

    reader_options: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    """The options that this reader gets as they are written; some may be secrets."""

    unheld: tuple[tuple[str, str], ...] = ()
    """Columns of a DataFrame that no query can read, with their types as Spark writes them."""

    key: tuple[str, ...] | None = None
    """The columns that tell the rows apart where it is the changes of a view (`format` is `derived`
    then), or a stream of upserts that keeps a table; None for all others."""

    delete: str | None = None
    """The condition, as text, by which an upsert takes the row of its key away."""

    hidden: str | None = None
    """A group of that view that is not among the columns, as text: its rows cannot be told apart
    then, and the key is empty."""

    makers: tuple[str, ...] = ()
    """The queries of a script whose results it is; several, where they are united."""

    places: Mapping[str, Caret] = field(default_factory=dict, compare=False, repr=False)
    """Where each option stands in the text."""

    @property
    def is_kept(self) -> bool:
        """Whether it is a table that a stream of upserts keeps."""
        return self.key is not None and self.format != "derived"

    @property
    def kind(self) -> str:
        """What it was declared as."""
        return "table" if self.is_table or self.is_kept else "stream"

    @property
    def telling(self) -> tuple[str, ...]:
        """The columns that may tell tuples apart: those of numbers, text and times."""
        return tuple(field.name for field in self.fields if field.type.is_telling)

    def latest(self, clock: int | None) -> int | None:
        """The last event time that a tuple may have when the clock shows `clock`, microseconds
        since the epoch; None if there is no such bound, as for all that is not read."""
        is_read = not self.is_table and self.format not in (*MADE_FORMATS, "derived")
        if not is_read or self.future is None or clock is None:
            return None
        return clock + self.future

    @property
    def timezone(self) -> str | None:
        """The zone of times that do not say theirs; None is UTC."""
        zone = self.option("timezone")
        return None if zone is None else str(zone)

    def field(self, name: str) -> Field | None:
        """The declared column of that name (case as declared), if any."""
        return next((f for f in self.fields if f.name == name), None)

    def unheld_fault(self, name: str) -> str | None:
        """The fault of a column, in any case, that is there but cannot be read; None of others."""
        for column, type_ in self.unheld:
            if column.lower() == name.lower():
                return f"column {column} of {self.name} is {type_}, which queries cannot read"
        return None

    @property
    def is_of_spark(self) -> bool:
        """Whether its rows come through Spark."""
        return self.format in FRAME_FORMATS

    @property
    def is_json(self) -> bool:
        """Whether its rows are JSON objects, in files or in the values of records."""
        is_value = self.format == "kafka" and (self.option("value") or "json") == "json"
        return self.format == "json" or is_value

    @property
    def drops_malformed(self) -> bool:
        return self.malformed != "fail"

    @property
    def keeps_malformed_at(self) -> str | None:
        """The file that malformed rows are kept in, if they are."""
        return self.malformed.removeprefix(KEEP) if self.malformed.startswith(KEEP) else None

    @property
    def whole_fields(self) -> tuple[Field, ...]:
        """The columns that are declared; others are parts of these."""
        return tuple(field for field in self.fields if not field.path)

    @property
    def value_fields(self) -> tuple[Field, ...]:
        """The columns that are in the values of records."""
        return tuple(field for field in self.whole_fields if field.record_type is None)

    def option(self, name: str) -> str | int | float | bool | None:
        """A format's own option, or None."""
        return dict(self.options).get(name)

"""What can be read of a query by its checkpoint: results, reports, plans and state.

Each kind has a schema, a position up to which it can be read now, and pieces between two positions,
which other processes read. So any engine can take it as a table or as a stream.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Literal, Protocol

import pyarrow as pa

from penstock.arguments import as_one_of
from penstock.engine.reports.standing import store_of
from penstock.engine.results.columns import ResultColumns, read_columns
from penstock.engine.results.kept_query import KeptQuery, kept_query
from penstock.engine.results.kept_state import STATE, state_rows, view_rows
from penstock.engine.results.log_rows import PLANS, REPORTS, last_batch, plan_rows, report_rows
from penstock.engine.results.pieces import Piece, between
from penstock.engine.results.position import Position, published, sink_of
from penstock.engine.results.reading import rows_of
from penstock.errors import UsageError

What = Literal["results", "reports", "plans", "state"]
KINDS: tuple[What, ...] = ("results", "reports", "plans", "state")
Offset = dict[str, Any]
"""A position as JSON."""


@dataclass(frozen=True)
class Span:
    """Batches of the log, after one and up to another."""

    after: int
    upto: int


@dataclass(frozen=True)
class Now:
    """The state as it is when somebody reads it."""


class Content(Protocol):
    """One kind of what a checkpoint has."""

    @property
    def schema(self) -> pa.Schema:
        """The columns; an error if there is nothing to be read."""

    def table(self) -> list[Any]:
        """The pieces of all there is now."""

    def first(self) -> Offset:
        """Where a stream begins."""

    def latest(self) -> Offset:
        """How far a stream can be read now."""

    def between(self, start: Offset, end: Offset) -> list[Any]:
        """The pieces of a stream between two positions."""

    def read(self, piece: Any) -> Iterator[pa.RecordBatch]:
        """The rows of a piece."""


def content_of(
    checkpoint: str, what: str = "results", *, changes: bool = False, query: str | None = None
) -> Content:
    """What is to be read of a checkpoint; `changes` of a view instead of its rows, as a table. Of a
    script it is said of which `query`; reports and plans are there of all of them together too."""
    if query is None and what in ("reports", "plans"):
        store = store_of(checkpoint)
        kept = KeptQuery(store, store)
    else:
        kept = kept_query(checkpoint, query)
    match as_one_of(what, KINDS, "what"):
        case "reports":
            return Log(kept, REPORTS, report_rows)
        case "plans":
            return Log(kept, PLANS, plan_rows)
        case "state":
            return State(kept)
        case _:
            return Results(kept, changes)


@dataclass(frozen=True)
class Results:
    """The results of a query. Of a view, a table has its rows as they are, a stream its changes."""

    query: KeptQuery
    changes: bool = False

    @cached_property
    def _columns(self) -> ResultColumns:
        return read_columns(self.query.store)

    @property
    def schema(self) -> pa.Schema:
        columns = self._columns
        if not columns.is_view:
            sink_of(self.query)  # Said as early as can be if there are none to read.
        return columns.schema

    def table(self) -> list[Piece | Now]:
        if self._columns.is_view and not self.changes:
            return [Now()]
        return [*between(self.query, Position(), published(self.query))]

    def first(self) -> Offset:
        return asdict(Position())

    def latest(self) -> Offset:
        sink_of(self.query)
        return asdict(published(self.query))

    def between(self, start: Offset, end: Offset) -> list[Piece]:
        return between(self.query, Position(**start), Position(**end))

    def read(self, piece: Piece | Now) -> Iterator[pa.RecordBatch]:
        schema = self._columns.schema
        return view_rows(self.query, schema) if isinstance(piece, Now) else rows_of(piece, schema)


@dataclass(frozen=True)
class Log:
    """What the report log has, a row a batch or fewer."""

    query: KeptQuery
    schema: pa.Schema
    rows: Callable[[KeptQuery, int, int], Iterator[pa.RecordBatch]]

    def table(self) -> list[Span]:
        return [Span(-1, last_batch(self.query))]

    def first(self) -> Offset:
        return {"batch": -1}

    def latest(self) -> Offset:
        return {"batch": last_batch(self.query)}

    def between(self, start: Offset, end: Offset) -> list[Span]:
        return [Span(start["batch"], end["batch"])]

    def read(self, piece: Span) -> Iterator[pa.RecordBatch]:
        return self.rows(self.query, piece.after, piece.upto)


@dataclass(frozen=True)
class State:
    """The tuples that a query keeps; there is no stream of them."""

    query: KeptQuery
    schema: pa.Schema = STATE

    def table(self) -> list[Now]:
        return [Now()]

    def first(self) -> Offset:
        raise _not_a_stream()

    def latest(self) -> Offset:
        raise _not_a_stream()

    def between(self, start: Offset, end: Offset) -> list[Now]:
        raise _not_a_stream()

    def read(self, piece: Now) -> Iterator[pa.RecordBatch]:
        return state_rows(self.query)


def _not_a_stream() -> UsageError:
    return UsageError(
        "the state of a query is a table, not a stream",
        hint="read it with spark.read; results, reports and plans are streams too",
    )

"""The view Results: the last rows of a sink, or the rows that a view shows now."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import pyarrow as pa

from penstock.engine.places.file_names import batch_of_part, mark_of_part
from penstock.engine.places.place import Place
from penstock.engine.results.columns import read_columns
from penstock.engine.results.kept_query import KeptQuery, kept_query
from penstock.engine.results.kept_state import view_rows
from penstock.engine.results.pieces import PartFiles
from penstock.engine.results.position import Position, published, sink_of
from penstock.engine.results.reading import rows_of
from penstock.engine.state.checkpoint import mark_of
from penstock.errors import PenstockError
from penstock.watch.log_view import LogView

MOST = 100
"""Rows that are shown."""
_TAIL = 1 << 17
"""Bytes at the end of a jsonl file that are looked at."""
_FILES = 8
"""Files of a parquet sink that are looked at, from the last one on."""
_CELL = 200
"""Characters of a value that are shown."""
_EXACT = 1 << 53
"""Integers beyond this are rounded by readers of JSON that know doubles only: they are text."""

Cell = str | int | float | bool | None


@dataclass(frozen=True)
class Results:
    """Rows of a query's results, the latest last; of a view, those that it shows now."""

    is_view: bool
    at: float | None
    """When the last batch was final, seconds since the epoch."""

    total: int
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Cell, ...], ...] = ()
    is_all: bool = False
    """Whether these are all rows there are."""

    missing: str | None = None
    """Why there are none to be shown."""


def results_view(log: LogView, most: int = MOST) -> Results:
    """The view of a log, and of the sink that it names."""
    last = log.last
    at, total = (None, 0) if last is None else (last.at, last.total_results)
    try:
        kept = kept_query(log.checkpoint, log.query)
        columns = read_columns(kept.store)
        if columns.is_view:
            found = list(islice(_rows(view_rows(kept, columns.schema)), most + 1))
            rows, is_all = tuple(found[:most]), len(found) <= most
        else:
            rows = tuple(_tail(kept, columns.schema, most))
            is_all = len(rows) == total
        return Results(columns.is_view, at, total, tuple(columns.schema.names), rows, is_all)
    except PenstockError as error:
        told = " – ".join(part for part in (error.message, error.hint) if part)
        return Results(False, at, total, missing=told)
    except (OSError, pa.ArrowException) as error:
        return Results(False, at, total, missing=f"the results cannot be read: {error}")


def _tail(kept: KeptQuery, schema: pa.Schema, most: int) -> list[tuple[Cell, ...]]:
    sink, end = sink_of(kept), published(kept)
    if sink.kind == "jsonl":
        return _last_lines(sink.place, end, schema.names, most)
    return _last_files(sink.place, mark_of(kept.store), end, schema, most)


def _last_lines(file: Place, end: Position, names: list[str], most: int) -> list[tuple[Cell, ...]]:
    first = max(0, end.length - _TAIL)
    if not end.length:
        return []
    with file.filesystem.open_input_file(file.path) as stream:
        data = stream.read_at(end.length - first, first)
    lines = data.splitlines()[1 if first else 0 :]  # The first of a tail is cut off.
    rows = [json.loads(line) for line in lines[-most:]]
    return [tuple(_cell(row.get(name)) for name in names) for row in rows]


def _last_files(
    folder: Place, mark: str, end: Position, schema: pa.Schema, most: int
) -> list[tuple[Cell, ...]]:
    names = [name for name, _ in folder.files() if mark_of_part(name) == mark]
    ours = [name for name in names if batch_of_part(name) <= end.batch]
    ours.sort(key=lambda name: (batch_of_part(name), name))
    found: list[tuple[Cell, ...]] = []
    for name in reversed(ours[-_FILES:]):
        if len(found) < most:
            tables = pa.Table.from_batches(
                rows_of(PartFiles(folder, (name,), 0, 0), schema), schema
            )
            wanted = tables.slice(max(0, len(tables) - (most - len(found))))
            found = [*_rows(wanted.to_batches()), *found]
    return found


def _rows(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[Cell, ...]]:
    for batch in batches:
        yield from (tuple(map(_cell, row.values())) for row in batch.to_pylist())


def _cell(value: Any) -> Cell:
    match value:
        case None | bool():
            return value
        case int() if abs(value) < _EXACT:
            return value
        case float() if math.isfinite(value):
            return value
    text = str(value)
    return text if len(text) <= _CELL else text[: _CELL - 1] + "…"

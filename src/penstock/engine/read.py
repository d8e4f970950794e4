"""Reading the files of a source: blocks of typed rows, each row with its position in its file."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from penstock.engine.csv_rows import csv_rows
from penstock.engine.json_rows import json_rows
from penstock.engine.parquet_rows import BLOCK_ROWS, parquet_rows
from penstock.engine.parsed import Parsed, requested
from penstock.engine.place import Place
from penstock.engine.timestamps import EARLIEST, LATEST
from penstock.errors import SourceError
from penstock.query.source import Source

MICROS_PER_UNIT = {"us": 1, "ms": 1_000, "s": 1_000_000}

_READERS = {"csv": csv_rows, "json": json_rows, "parquet": parquet_rows}

Micros = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True)
class Block:
    """Rows of a file; `first_row` is the position of the first, from 0, malformed rows counted.

    `rows` has the position of each if some were dropped in between, `malformed` says how many.
    """

    batch: pa.RecordBatch
    first_row: int
    rows: pa.Int64Array | None
    malformed: int


def read_file(
    source: Source,
    path: str | os.PathLike[str],
    columns: Collection[str],
    hints: Collection[str] = (),
) -> Iterator[Block]:
    """The rows of one file, the columns asked for in their declared Arrow types.

    A row is malformed if one of these columns is, or if its event time is NULL: an error, or
    dropped and counted, as the source says. `hints` are columns that only a plan looks at, which
    must not decide what a row is worth: malformed values there are NULL.
    """
    first, place = 0, Place.of(path)
    strictly = enumerate(_parsed(source, place, columns))
    for number, parsed in enumerate(_parsed(source, place, {*columns, *hints})):
        if parsed.faults and not set(hints) <= set(columns):
            faults = next(strict.faults for at, strict in strictly if at == number)
            parsed = replace(parsed, faults=faults)
        yield from _blocks(_checked(source, place, parsed), first)
        first += len(parsed.batch)


def event_micros(source: Source, batch: pa.RecordBatch) -> Micros:
    """The event times of a stream's rows, microseconds since the epoch."""
    assert source.timestamp is not None, "a stream has event times"
    column = batch.column(source.timestamp)
    if pa.types.is_date(column.type):
        column = column.cast(pa.timestamp("us"))
    times: Micros = column.cast(pa.int64()).to_numpy()
    scale = MICROS_PER_UNIT[source.unit or "us"]
    if not _in_calendar(times, scale).all():
        raise SourceError(
            f"event times of {source.name} are too far from 1970",
            place=source.places.get("unit") or source.places.get("timestamp"),
            hint="is the unit right? It is one of us, ms and s",
        )
    return times if scale == 1 else times * scale


def _in_calendar(times: Micros, scale: int) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Which event times are of the years that a TIMESTAMP has."""
    inside: np.ndarray[Any, np.dtype[np.bool_]] = (times >= EARLIEST // scale) & (
        times <= LATEST // scale
    )
    return inside


def _parsed(source: Source, path: Place, columns: Collection[str]) -> Iterator[Parsed]:
    try:
        yield from _READERS[source.format](source, path, requested(source, columns))
    except FileNotFoundError as error:
        raise SourceError(
            f"the input file {path} of {source.name} has vanished",
            place=source.places.get("path"),
            hint="put it back, or start without the checkpoint that lists it",
        ) from error
    except (OSError, pa.ArrowException) as error:
        raise SourceError(
            f"cannot read {path} as {source.format}: {error}",
            place=source.places.get("format"),
            hint="is it damaged, still being written, or of another format?",
        ) from error


def _checked(source: Source, path: Place, parsed: Parsed) -> Parsed:
    """The same rows, those without an event time among the faults; an error if faults are."""
    faults = {**_eventless(source, parsed), **parsed.faults}
    if faults and source.malformed == "fail":
        row = min(faults)
        raise SourceError(
            f"malformed row in {path}, {parsed.place(row)}: {faults[row]}",
            place=source.places.get("name"),
            hint="mend the file, or skip such rows with malformed = 'drop'",
        )
    return Parsed(parsed.batch, faults, parsed.place)


def _eventless(source: Source, parsed: Parsed) -> dict[int, str]:
    """The rows that have no event time, or one that cannot be counted in microseconds."""
    if source.timestamp is None or source.timestamp not in parsed.batch.schema.names:
        return {}
    column = parsed.batch.column(source.timestamp)
    faults = {}
    if column.null_count:
        empty = np.flatnonzero(column.is_null())
        faults = {int(row): f"the event time {source.timestamp} is NULL" for row in empty}
    if pa.types.is_integer(column.type):
        scale = MICROS_PER_UNIT[source.unit or "us"]
        times = column.cast(pa.int64()).fill_null(0).to_numpy()
        for row in np.flatnonzero(~_in_calendar(times, scale)):
            faults[int(row)] = f"the event time {source.timestamp}, {times[row]}, is out of range"
    return faults


def _blocks(parsed: Parsed, first: int) -> Iterator[Block]:
    """The sound rows, at most a million a block."""
    batch, rows, dropped = parsed.batch, None, len(parsed.faults)
    if dropped:
        kept = np.delete(np.arange(len(batch)), list(parsed.faults))
        batch, rows = batch.take(pa.array(kept)), pa.array(kept + first)
    for start in range(0, max(len(batch), 1), BLOCK_ROWS):
        places = None if rows is None else rows.slice(start, BLOCK_ROWS)
        at = first + start if places is None or not len(places) else places[0].as_py()
        yield Block(batch.slice(start, BLOCK_ROWS), at, places, dropped if start == 0 else 0)

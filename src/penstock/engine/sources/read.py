"""Reading the files of a source: blocks of typed rows, each row with its position in its file."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa

from penstock.duration import Duration
from penstock.engine.expressions.arrow_types import schema_of
from penstock.engine.expressions.timestamps import EARLIEST, LATEST
from penstock.engine.places.place import Place
from penstock.engine.sources.csv_rows import csv_rows
from penstock.engine.sources.json_rows import json_rows
from penstock.engine.sources.kept_rows import kept_file, kept_rows
from penstock.engine.sources.lines import WHOLE, Span
from penstock.engine.sources.member_rows import asked_whole, with_members
from penstock.engine.sources.parquet_rows import BLOCK_ROWS, parquet_rows
from penstock.engine.sources.parsed import SKIP_FILES, Ask, FileFault, Located, Parsed
from penstock.engine.wire.attempts import PASSING
from penstock.errors import SourceError, UnreachableError
from penstock.query.source import FILE_FORMATS, Source

MICROS_PER_UNIT = {"us": 1, "ms": 1_000, "s": 1_000_000}

# Bytes read at a time to see whether a file can be read at all.
_STRETCH = 1 << 20

_READERS = {"csv": csv_rows, "json": json_rows, "parquet": parquet_rows}

Micros = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True)
class Block:
    """Rows of a file; `first_row` is the position of the first, from 0, malformed rows counted.

    `rows` has the position of each if some were dropped in between, `malformed` says how many.
    `kept` are those as lines for the file that the source keeps them in. Where the file, or the
    rest of it, cannot be read, `unreadable` says why.
    """

    batch: pa.RecordBatch
    first_row: int
    rows: pa.Int64Array | None
    malformed: int
    kept: bytes = b""
    unreadable: str | None = None


def read_file(
    source: Source,
    path: str | os.PathLike[str],
    columns: Collection[str],
    hints: Collection[str] = (),
    latest: int | None = None,
    span: Span = WHOLE,
) -> Iterator[Block]:
    """The rows of one file, or of a span of it, the columns asked for in their declared types.

    A row is malformed if one of these columns is, or if its event time is NULL or after `latest`:
    an error, or dropped and counted, as the source says; so is a file that cannot be read. `hints`
    are columns that only a plan looks at, which must not decide what a row is worth: malformed
    values there are NULL.
    """
    at = Place.of(path)
    ask = Ask.of(source, at, columns, hints, span)
    try:
        yield from _read(ask, Ask.of(source, at, columns, (), span), latest)
    except FileFault as fault:
        if not source.drops_malformed:
            place = source.places.get(fault.at)
            raise SourceError(fault.reason, place=place, hint=fault.hint) from None
        kept = kept_file(source, str(at), fault.reason)
        yield Block(_no_rows(ask), 0, None, 0, kept, fault.reason)


def _read(ask: Ask, strict: Ask, latest: int | None) -> Iterator[Block]:
    """The sound rows of a file; those are malformed whose columns without the hints are."""
    # There are no more rows before a byte than bytes.
    first = ask.span.first
    strictly = enumerate(_parsed(strict))
    for number, parsed in enumerate(_parsed(ask)):
        if parsed.faults and ask.hints:
            faults = next(each.faults for at, each in strictly if at == number)
            parsed = replace(parsed, faults=faults)
        yield from blocks_of(ask.source, str(ask.path), parsed, first, latest)
        first += len(parsed.batch)


def _no_rows(ask: Ask) -> pa.RecordBatch:
    schema = schema_of(ask.fields)
    return pa.RecordBatch.from_pylist([], schema)


def event_micros(source: Source, batch: pa.RecordBatch) -> Micros:
    """The event times of a stream's rows, microseconds since the epoch."""
    assert source.timestamp is not None, "a stream has event times"
    column = batch.column(source.timestamp)
    if pa.types.is_date(column.type):
        column = column.cast(pa.timestamp("us"))
    times: Micros = column.cast(pa.int64()).to_numpy()
    scale = MICROS_PER_UNIT[source.unit or "us"]
    # What other queries tell of sources may be later than these: windows end after their tuples.
    if source.format != "derived" and not _in_calendar(times, scale).all():
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


def _parsed(ask: Ask) -> Iterator[Parsed]:
    source, path = ask.source, ask.path
    try:
        for parsed in _READERS[source.format](asked_whole(ask)):
            yield with_members(ask.fields, parsed, ask.hints)
    except MemoryError:
        raise
    except FileNotFoundError as error:
        raise SourceError(
            f"the input file {path} of {source.name} has vanished",
            place=source.places.get("path"),
            hint="put it back, or a file without rows in its place, to go on without what it held",
        ) from error
    except (OSError, pa.ArrowException) as error:
        if isinstance(error, OSError) and error.errno in PASSING:
            raise _unreachable(source, path, error) from None
        if _size_of(source, path) == 0:
            hint = "it is empty: is it still being written? Move files there when they are whole"
        else:
            hint = "is it damaged, still being written, or of another format?"
        reason = f"cannot read {path} as {source.format}: {error}"
        raise FileFault(reason, f"{hint} ({SKIP_FILES})", "format") from None


def _size_of(source: Source, path: Place) -> int:
    """The bytes of a file, all of them read: what cannot be fetched is not the file's fault.

    A disk or a network that fails must not make rows disappear where malformed ones are dropped.
    """
    size = 0
    try:
        with path.filesystem.open_input_stream(path.path, compression=None) as stream:
            while stretch := stream.read(_STRETCH):
                size += len(stretch)
    except OSError as error:
        raise _unreachable(source, path, error) from None
    return size


def _unreachable(source: Source, path: Place, error: OSError) -> SourceError:
    """The error of a disk or a network, which is not the file's."""
    kind = UnreachableError if error.errno in PASSING else SourceError
    return kind(
        f"cannot read {path}: {error.strerror or error}",
        place=source.places.get("path"),
        hint="nothing is lost: mend that, then run again on this checkpoint",
    )


def _checked(source: Source, where: str, parsed: Parsed, first: int, latest: int | None) -> Parsed:
    """The same rows, those without a sound event time among the faults; an error if faults are."""
    faults = {**_eventless(source, parsed, latest), **parsed.faults}

    def locate(rows: Collection[int]) -> dict[int, Located]:
        # Where the reader and the lines of the file disagree about rows, their number must do.
        return {row: Located("row", first + row + 1, "") for row in rows} | {**parsed.locate(rows)}

    if faults and not source.drops_malformed:
        row = min(faults)
        raise SourceError(
            f"malformed row in {locate([row])[row].within(where)}: {faults[row]}",
            place=source.places.get("name"),
            hint=f"{_MENDED[source.format in FILE_FORMATS]} with malformed = 'drop'",
        )
    return Parsed(parsed.batch, faults, locate)


def _eventless(source: Source, parsed: Parsed, latest: int | None) -> dict[int, str]:
    """The rows that have no event time, one that cannot be counted in microseconds, or one that is
    too far in the future."""
    if source.timestamp is None or source.timestamp not in parsed.batch.schema.names:
        return {}
    column = parsed.batch.column(source.timestamp)
    faults = {}
    if column.null_count:
        empty = np.flatnonzero(column.is_null())
        faults = {int(row): f"the event time {source.timestamp} is NULL" for row in empty}
    if latest is None and not pa.types.is_integer(column.type):
        return faults
    scale, times = MICROS_PER_UNIT[source.unit or "us"], _counted(column)
    if latest is not None:
        for row in np.flatnonzero(times > latest // scale):
            faults.setdefault(int(row), _too_late(source, column[row].as_py(), latest))
    if pa.types.is_integer(column.type):
        for row in np.flatnonzero(~_in_calendar(times, scale)):
            faults[int(row)] = f"the event time {source.timestamp}, {times[row]}, is out of range"
    return faults


def _counted(column: pa.Array) -> Micros:
    """Event times in their unit since the epoch; those that are NULL are the epoch."""
    if pa.types.is_date(column.type):
        column = column.cast(pa.timestamp("us"))
    times: Micros = column.cast(pa.int64()).fill_null(0).to_numpy()
    return times


def _too_late(source: Source, time: object, latest: int) -> str:
    """The fault of an event time that is too far in the future, which a replay gives again."""
    assert source.future is not None, "there is a bound"
    last = datetime.fromtimestamp(0, UTC) + timedelta(microseconds=latest)
    allowed = f"future = '{Duration(source.future)}'"
    return (
        f"the event time {source.timestamp}, {time}, is in the future: by {allowed} none is after "
        f"{last:%Y-%m-%d %H:%M:%S}"
    )


_MENDED = {True: "mend the file, or skip such rows", False: "skip such records"}


def blocks_of(
    source: Source, where: str, parsed: Parsed, first: int, latest: int | None = None
) -> Iterator[Block]:
    """The sound rows, at most a million a block, of what begins with row `first`; an error if there
    are others and the source does not drop them. None has an event time after `latest`."""
    parsed = _checked(source, where, parsed, first, latest)
    batch, rows, dropped, kept = parsed.batch, None, len(parsed.faults), b""
    if dropped:
        sound = np.delete(np.arange(len(batch)), list(parsed.faults))
        batch, rows = batch.take(pa.array(sound)), pa.array(sound + first)
        kept = kept_rows(source, where, parsed)
    for start in range(0, max(len(batch), 1), BLOCK_ROWS):
        places = None if rows is None else rows.slice(start, BLOCK_ROWS)
        at = first + start if places is None or not len(places) else places[0].as_py()
        part = batch.slice(start, BLOCK_ROWS)
        yield Block(part, at, places, dropped, kept)
        # They are told with the first block.
        dropped, kept = 0, b""

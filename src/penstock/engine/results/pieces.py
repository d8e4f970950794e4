"""Pieces of published results, for tasks to read: some files, or a range of lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq

from penstock.engine.places.file_names import batch_of_part, mark_of_part
from penstock.engine.places.place import Place
from penstock.engine.results.kept_query import KeptQuery
from penstock.engine.results.position import Position, sink_of
from penstock.engine.sinks.sink import Sink
from penstock.engine.state.checkpoint import mark_of
from penstock.engine.state.store import Store
from penstock.errors import SinkError

_PIECE_BYTES = 32 << 20
"""What one task reads, where files or lines allow it: a second's work or less."""
_NEWLINE = b"\n"
_AGAIN = "read them from the newest batch on, with another checkpoint and option start = 'latest'"


@dataclass(frozen=True)
class PartFiles:
    """Some files of a parquet sink."""

    folder: Place
    names: tuple[str, ...]
    size: int
    rows: int


@dataclass(frozen=True)
class LineRange:
    """Whole lines of a jsonl sink, from a byte on."""

    file: Place
    first: int
    size: int
    rows: int


Piece = PartFiles | LineRange


def between(kept: KeptQuery, start: Position, end: Position) -> list[Piece]:
    """The pieces with the results after one position and up to another, all of them or an error."""
    if start.batch >= end.batch:
        return []
    sink, store = sink_of(kept), kept.store
    _refuse_other_sink(store, start, end, sink)
    found = list(_pieces(store, sink, start, end))
    held, wanted = sum(piece.rows for piece in found), end.results - start.results
    if held != wanted:
        raise SinkError(
            f"{sink.path} has {held:,} of the {wanted:,} results of batches {start.batch + 1} to "
            f"{end.batch}",
            hint=f"others went to another sink, or somebody removed them; {_AGAIN}",
        )
    return found


def _refuse_other_sink(store: Store, start: Position, end: Position, sink: Sink) -> None:
    here = f"{sink.kind}:{sink.place.where}"
    for position in (start, end):
        if position.batch >= 0 and position.sink != here:
            raise SinkError(
                f"the results of {store.root} went to {position.sink} up to batch "
                f"{position.batch}, and go to {here} now",
                hint=_AGAIN,
            )


def _pieces(store: Store, sink: Sink, start: Position, end: Position) -> Iterable[Piece]:
    if sink.kind == "jsonl":
        return _line_ranges(sink.place, start.length, end.length)
    return _grouped(_part_files(sink.place, mark_of(store), start.batch, end.batch))


def _part_files(folder: Place, mark: str, after: int, upto: int) -> Iterator[PartFiles]:
    """The files of some batches, each with its rows, in the order of batches."""
    names = [(name, info) for name, info in folder.files() if mark_of_part(name) == mark]
    for name, info in sorted(names, key=lambda each: (batch_of_part(each[0]), each[0])):
        if after < batch_of_part(name) <= upto:
            with folder.filesystem.open_input_file((folder / name).path) as file:
                rows = pq.read_metadata(file).num_rows
            yield PartFiles(folder, (name,), info.size or 0, rows)


def _grouped(files: Iterable[PartFiles]) -> Iterator[PartFiles]:
    """Neighbours together, as long as they are small."""
    held: PartFiles | None = None
    for file in files:
        if held is None:
            held = file
        elif held.size + file.size <= _PIECE_BYTES:
            names = (*held.names, *file.names)
            held = PartFiles(held.folder, names, held.size + file.size, held.rows + file.rows)
        else:
            yield held
            held = file
    if held is not None:
        yield held


def _line_ranges(file: Place, first: int, end: int) -> Iterator[LineRange]:
    """The lines between two bytes, which are ends of lines."""
    if first >= end:
        return
    with _opened(file) as stream:
        if stream.size() < end:
            raise SinkError(
                f"{file} is shorter than its query left it",
                hint=f"somebody has written to it or put another in its place; {_AGAIN}",
            )
        while first < end:
            size = _whole_lines(stream, first, end)
            rows = stream.read_at(size, first).count(_NEWLINE)
            yield LineRange(file, first, size, rows)
            first += size


def _whole_lines(stream: pa.NativeFile, first: int, end: int) -> int:
    """How many bytes from `first` on a piece has: a line end is its last."""
    size = _PIECE_BYTES
    while first + size < end:
        last = stream.read_at(size, first).rfind(_NEWLINE)
        if last >= 0:
            return int(last) + 1
        size *= 2
    return end - first


def _opened(file: Place) -> pa.NativeFile:
    try:
        return file.filesystem.open_input_file(file.path)
    except FileNotFoundError:
        raise SinkError(
            f"{file}, which has the results, is not there any more", hint=_AGAIN
        ) from None

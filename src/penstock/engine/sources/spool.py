"""The spool: rows that come through Spark, as numbered files of the checkpoint.

Spark gives the rows of a batch in no fixed order, and perhaps in another one the next time. So a
batch begins by writing them to files; once these are listed, each row has its place for good.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache, partial

import pyarrow as pa

from penstock.engine.expressions.arrow_types import arrow_type
from penstock.engine.expressions.member_names import with_declared_names
from penstock.engine.places.file_names import unique_name
from penstock.engine.places.place import Place
from penstock.engine.sources.member_rows import with_members
from penstock.engine.sources.parquet_rows import fitted, locate
from penstock.engine.sources.parsed import Parsed, filled, requested
from penstock.engine.sources.read import Block, blocks_of
from penstock.engine.sources.slices import Slice
from penstock.engine.state.store import RESTORE, Store
from penstock.engine.wire.facts import SpooledRows
from penstock.errors import CheckpointError, StateError
from penstock.query.members import whole_columns
from penstock.query.source import Source

FOLDER = "spool"
FILE_ROWS = 1 << 18
"""Rows after which a task begins another file: about as many as one reads at a time."""
_LEAST_ROWS = 1 << 13
"""Rows of a slice below which another task costs more than it helps."""
_TABLES = f"{FOLDER}/tables.json"


def spool_rows(
    root: Place, source: Source, batches: Iterable[pa.RecordBatch]
) -> Iterator[SpooledRows]:
    """Write the rows that a task gets of a source to files of a checkpoint, and tell of each."""
    held: list[pa.RecordBatch] = []
    for batch in batches:
        if len(batch):
            held.append(_as_declared(source, batch))
        if sum(map(len, held)) >= FILE_ROWS:
            yield _written(root, source, held)
            held = []
    if held:
        yield _written(root, source, held)


def _as_declared(source: Source, batch: pa.RecordBatch) -> pa.RecordBatch:
    """Rows as Spark gives them, in the types that we hold: zones of times are its session's."""
    columns = [
        column.view(with_declared_names(column.type, field.type)).cast(arrow_type(field.type))
        for field, column in zip(source.whole_fields, batch.columns, strict=True)
    ]
    return pa.record_batch(columns, names=[field.name for field in source.whole_fields])


def _written(root: Place, source: Source, held: Sequence[pa.RecordBatch]) -> SpooledRows:
    rows = held[0] if len(held) == 1 else pa.concat_batches(held)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, rows.schema) as writer:
        writer.write_batch(rows)
    data, name = sink.getvalue(), f"{FOLDER}/{unique_name('.arrow')}"
    Store(root).write(name, data)
    return SpooledRows(source.name, name, len(rows), zlib.crc32(data))


def read_spooled(
    root: Place, source: Source, columns: Collection[str], piece: Slice, hints: Collection[str]
) -> Iterator[Block]:
    """The rows of a slice of a spooled file; the position of each is its arrival number.

    `hints` are columns whose faults do not matter.
    """
    assert piece.path is not None, "it is of a spooled file"
    assert piece.checksum is not None, "which is listed with it"
    whole = opened(root, piece.path, piece.checksum)
    rows = whole.slice(piece.number, piece.last - piece.first)
    fields, faults = requested(source, {*columns, *hints}), dict[int, str]()
    whole_fields = whole_columns(source, fields)
    found = {
        field.name: fitted(field, rows.column(field.name), {} if field.name in hints else faults)
        for field in whole_fields
    }
    parsed = Parsed(
        filled(whole_fields, found, len(rows)), faults, partial(locate, rows, piece.first)
    )
    parsed = with_members(fields, parsed, hints)
    where = f"the DataFrame of {source.name}"
    yield from blocks_of(source, where, parsed, piece.first, piece.latest)


@lru_cache(maxsize=2)
def opened(root: Place, name: str, checksum: int) -> pa.RecordBatch:
    """The rows of a file that tasks have written; missing or damaged is an error, never empty."""
    store = Store(root)
    try:
        data = store.read(name)
    except (OSError, pa.ArrowInvalid) as error:
        what = f"spooled rows cannot be read: {store.path(name)}: {error}"
        raise StateError(what, hint=RESTORE) from None
    if zlib.crc32(data) != checksum:
        raise StateError(f"spooled rows are damaged: {store.path(name)}", hint=RESTORE)
    return pa.ipc.open_file(data).get_batch(0)


@dataclass(frozen=True)
class Spool:
    """The lists of spooled files in a checkpoint, one for each batch that is not done yet."""

    store: Store

    def listed(self, number: int) -> tuple[SpooledRows, ...] | None:
        """The files of a batch; None if they have not been listed yet."""
        return self._files(_list_name(number))

    def tables(self) -> tuple[SpooledRows, ...]:
        """The files of tables that were spooled before the first batch."""
        return self._files(_TABLES) or ()

    def _files(self, name: str) -> tuple[SpooledRows, ...] | None:
        if not self.store.exists(name):
            return None
        try:
            return tuple(SpooledRows(**each) for each in json.loads(bytes(self.store.read(name))))
        except (ValueError, TypeError) as error:
            what = f"the list {self.store.path(name)} is damaged: {error}"
            raise CheckpointError(what, hint=RESTORE) from None

    def enter(self, number: int, files: Sequence[SpooledRows]) -> None:
        """List the files of a batch: from now on it reads these, however often it is run."""
        self.store.publish(_list_name(number), _encoded(files))

    def enter_tables(self, files: Sequence[SpooledRows]) -> None:
        """List the files of tables, for the first batch."""
        self.store.replace(_TABLES, _encoded(files))

    def sweep(self, done: int) -> None:
        """Delete what no batch after `done` reads; no other task may be spooling meanwhile."""
        files = self.listed(done + 1) or ()
        kept = {_list_name(done + 1), *(each.name for each in files)}
        if done < 0:
            kept |= {_TABLES, *(each.name for each in self.tables())}
        self.store.remove([name for name in self.store.names(FOLDER) if name not in kept])


def slices_of(
    files: Sequence[SpooledRows], done: Mapping[str, int], tasks: int
) -> tuple[list[Slice], dict[str, int]]:
    """The slices of a batch's files for so many tasks, and how many rows have come by then.

    `done` says how many had come before: arrival numbers go on from there.
    """
    after = {each.source: done.get(each.source, 0) for each in files}
    slices: list[Slice] = []
    for name in after:
        rows = sum(each.rows for each in files if each.source == name)
        most = max(_LEAST_ROWS, -(-rows // tasks))
        for file in (each for each in files if each.source == name):
            first, after[name] = after[name], after[name] + file.rows
            whole = Slice(name, file.name, 0, first, after[name], checksum=file.checksum)
            slices += whole.split(most)
    return slices, after


def _encoded(files: Sequence[SpooledRows]) -> bytes:
    return json.dumps([asdict(each) for each in files]).encode()


def _list_name(number: int) -> str:
    return f"{FOLDER}/{number:012d}.json"

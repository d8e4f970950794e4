"""Reading a slice: its tuples as they come from the source, whatever that is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.places.copied import Copied
from penstock.engine.places.place import Place
from penstock.engine.rows.lifetimes import FOREVER
from penstock.engine.sources.derived_rows import read_derived
from penstock.engine.sources.made.made import made_of
from penstock.engine.sources.read import Block, event_micros, read_file
from penstock.engine.sources.slices import Slice
from penstock.engine.sources.spool import read_spooled
from penstock.query.source import MADE_FORMATS, Source

Int64s = NDArray[np.int64]


@dataclass(frozen=True)
class Arrivals:
    """Tuples as they come from a source: declared columns, event times and arrival numbers.

    `malformed`, `kept` and `unreadable` tell of what did not come, as in a `Block`; `part` is the
    partition of the source that they come from, if it has such.
    """

    rows: pa.RecordBatch
    times: Int64s
    numbers: Int64s
    malformed: int = 0
    kept: bytes = b""
    unreadable: str | None = None
    part: str | None = None

    def at(self, mask: NDArray[np.bool_]) -> Arrivals:
        """Those where the mask is true."""
        rows = self.rows.filter(pa.array(mask))
        return replace(self, rows=rows, times=self.times[mask], numbers=self.numbers[mask])


def read_slice(
    source: Source,
    columns: tuple[str, ...],
    piece: Slice,
    hints: tuple[str, ...] = (),
    root: Place | None = None,
) -> Iterator[Arrivals]:
    """The tuples of a slice, in the order in which they arrived; `hints` as in `read_file`, `root`
    the checkpoint's folder, which spooled rows and those of other queries are in."""
    both = tuple(dict.fromkeys((*columns, *hints)))
    if source.format in MADE_FORMATS:
        for rows, numbers in made_of(source).generate(piece.first, piece.last, both):
            yield Arrivals(rows, event_micros(source, rows), numbers)
        return
    if source.format == "derived":
        assert root is not None, "there is a checkpoint where queries read each other"
        rows, numbers = read_derived(root, both, piece)
        yield Arrivals(rows, event_micros(source, rows), numbers)
        return
    if source.format == "kafka":
        yield from _of_topic(source, columns, piece, hints)
        return
    if piece.checksum is not None:
        assert root is not None, "there is a checkpoint where rows are spooled"
        for block in read_spooled(root, source, columns, piece, hints):
            yield _arrived(source, block, _places(block))
        return
    assert piece.path is not None
    path = piece.path if piece.copy_of is None else Copied.of_file(piece.path, piece.copy_of)
    for block in read_file(source, path, columns, hints, piece.latest, piece.span):
        yield _arrived(source, block, piece.arrival(_places(block)))


def _arrived(source: Source, block: Block, numbers: Int64s) -> Arrivals:
    return Arrivals(
        block.batch,
        _times(source, block.batch),
        numbers,
        block.malformed,
        block.kept,
        block.unreadable,
    )


def _places(block: Block) -> Int64s:
    """The positions of a block's rows."""
    if block.rows is not None:
        places: Int64s = block.rows.to_numpy()
        return places
    return np.arange(block.first_row, block.first_row + len(block.batch))


def _of_topic(
    source: Source, columns: tuple[str, ...], piece: Slice, hints: tuple[str, ...]
) -> Iterator[Arrivals]:
    # Only now: without Kafka its client need not be installed.
    from penstock.engine.sources.kafka.records import read_records

    for records in read_records(source, columns, piece, hints):
        block = records.block
        yield Arrivals(
            block.batch,
            event_micros(source, block.batch),
            piece.of_records(records.offsets),
            block.malformed,
            block.kept,
            part=piece.part,
        )


def _times(source: Source, rows: pa.RecordBatch) -> Int64s:
    """Event times; the rows of a table have been there for ever."""
    return np.full(len(rows), -FOREVER) if source.is_table else event_micros(source, rows)

"""Strips: the stretches of a large source that a sample is taken from, spread over all of it.

The tuples of a strip follow each other, so that rates and keys that drift can be told from it.
Where a strip begins is drawn by a seed; what is read for it is bounded by rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow.parquet as pq

from penstock.duration import MICROS
from penstock.engine.places.place import Place
from penstock.engine.sources.files import FileInfo, list_files
from penstock.engine.sources.made.made import made_of
from penstock.engine.sources.slices import Slice
from penstock.query import Source
from penstock.query.source import MADE_FORMATS

STRIPS = 8
"""Enough to see what changes with time; each of an eighth of the sample still joins with itself."""

REACH = 10
"""How many times the sample's rows may be passed over in one file to get to a strip."""

_SEED = 1

# Lines are counted in so many bytes of a text file.
_STRETCH = 1 << 20

# Records of a partition that are read before those of the next one.
_RECORDS = 1_000

# More blocks than any sample reads.
_ENDLESS = 1 << 40


@dataclass(frozen=True)
class Strip:
    """Slices to read one after another, of which the first so many rows are passed over."""

    slices: tuple[Slice, ...]
    skip: int = 0


def whole(source: Source) -> Strip:
    """All of a source, from its beginning."""
    if source.format in MADE_FORMATS:
        return Strip((Slice(source.name, last=made_of(source).blocks or _ENDLESS),))
    if source.format == "kafka":
        return Strip(tuple(_in_topic(source)))
    return Strip(_slices(source, _files(source)))


def strips_of(source: Source, rows: int) -> list[Strip]:
    """Where strips of a source begin that has more than so many rows, the first at its beginning.

    Of a stream without end the beginning is all there is.
    """
    if source.format in MADE_FORMATS:
        return list(_in_blocks(source, rows))
    if source.format == "kafka":
        return [whole(source)]
    return list(_in_files(source, _files(source), rows))


def starts(rows: int, total: float) -> Iterator[float]:
    """Rows of `total` at which strips of a sample of `rows` begin: one in each eighth.

    They are the same parts of all sources, so that strips of streams are from the same time.
    """
    random = np.random.default_rng(_SEED)
    begin = 0.0
    for strip in range(STRIPS):
        place = (strip + float(random.random()) / 2) / STRIPS if strip else 0.0
        begin = max(begin, place * total)
        yield min(begin, max(0.0, total - 1.0))
        begin += rows / STRIPS


def _in_blocks(source: Source, rows: int) -> Iterator[Strip]:
    made = made_of(source)
    if made.blocks is None:
        yield whole(source)
        return
    total = float(made.blocks * made.block_micros * made.rate) / MICROS
    for start in starts(rows, max(total, 1.0)):
        first = min(int(start / max(total, 1.0) * made.blocks), made.blocks - 1)
        yield Strip((Slice(source.name, first=first, last=made.blocks),))


def _in_files(source: Source, files: Sequence[FileInfo], rows: int) -> Iterator[Strip]:
    """Strips by the rows that the files have by their sizes, of each those within reach."""
    size = _row_bytes(source, files)
    ends = np.cumsum([min(max(1.0, file.size / size), REACH * rows) for file in files])
    slices = _slices(source, files)
    for start in starts(rows, float(ends[-1])):
        number = int(np.searchsorted(ends, start, "right"))
        before = float(ends[number - 1]) if number else 0.0
        # Small files are read from their beginning: they are no larger than a strip.
        is_large = ends[number] - before > rows / STRIPS
        yield Strip(slices[number:], int(start - before) if is_large else 0)


def _in_topic(source: Source) -> Iterator[Slice]:
    """All that a topic has, a little of each partition by turns, as they would be read."""
    from penstock.engine.sources.kafka.offsets import begins_of, ends_of, partitions_of

    partitions = partitions_of(source)
    begins, ends = begins_of(source, partitions), ends_of(source, partitions)
    longest = max((ends[part] - begins[part] for part in partitions), default=0)
    for start in range(0, longest, _RECORDS):
        for part in partitions:
            first = begins[part] + start
            last = min(first + _RECORDS, ends[part])
            if first < last:
                yield Slice(source.name, number=part, first=first, last=last, is_of_topic=True)


def _files(source: Source) -> list[FileInfo]:
    assert source.path is not None, "the parser has checked that there is one"
    return list_files(source.path, source.places.get("path"))


def _slices(source: Source, files: Sequence[FileInfo]) -> tuple[Slice, ...]:
    return tuple(Slice(source.name, file.path, number) for number, file in enumerate(files))


def _row_bytes(source: Source, files: Sequence[FileInfo]) -> float:
    """The bytes of a row, by the largest file; 1 where that cannot be told."""
    file = max(files, key=lambda each: (each.size, each.path))
    place = Place.of(file.path)
    try:
        with place.filesystem.open_input_file(place.path) as opened:
            if source.format == "parquet":
                return file.size / max(1, int(pq.read_metadata(opened).num_rows))
            start = bytes(opened.read(_STRETCH))
    except (OSError, ValueError):
        return 1.0
    return len(start) / max(1, start.count(b"\n"))

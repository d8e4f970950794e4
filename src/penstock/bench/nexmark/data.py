"""The events as files: parquet, CSV cut the same way, and CSV as Flink reads it fastest."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as csv
import pyarrow.parquet as pq

from penstock.bench.data import ensure_folder
from penstock.cql import parse
from penstock.duration import MICROS
from penstock.engine.sources.made.made import made_of
from penstock.query.made.nexmark import STREAMS, StreamKind

READERS = 2
"""Files of a stream that are read side by side: those of a batch, or Flink's, which have every
other event each."""
_FIRST_MTIME = 1_000_000_000


@dataclass(frozen=True)
class Events:
    """How many events there are: seconds of event time at a rate, and those of a file."""

    rate: int
    seconds: int
    step: int

    @property
    def count(self) -> int:
        return self.rate * self.seconds

    @property
    def files(self) -> int:
        return self.seconds // self.step

    @property
    def last_block_ms(self) -> int:
        """When the last block of ten seconds ends that an event comes after, milliseconds.

        Rivals that wait for such an event do not tell of the one after it.
        """
        return (self.seconds * 1000 - 1) // 10_000 * 10_000

    def script(self, kind: StreamKind) -> str:
        """The stream as it is made."""
        options = f"rate = {self.rate}, duration = '{self.seconds} seconds', seed = 1"
        return f"CREATE STREAM {kind} WITH (format = 'nexmark', {options});"


def ensure_events(events: Events, root: Path) -> Path:
    """The folder of the files below `root`; they are made where they are missing."""
    name = f"nexmark-{events.rate}-{events.seconds}s-by-{events.step}s"
    return ensure_folder(root / name, lambda draft: _write(events, draft))


def tables(events: Events, kind: StreamKind) -> Iterator[pa.Table]:
    """The tuples of a stream, file by file, times in whole milliseconds."""
    source = parse(f"{events.script(kind)} SELECT * FROM {kind} [NOW]").inputs[0].source
    made, names = made_of(source), [field.name for field in source.fields]
    blocks = events.step * MICROS // made.block_micros
    for number in range(events.files):
        first = number * blocks
        batches = [batch for batch, _ in made.generate(first, first + blocks, names)]
        yield _in_millis(pa.Table.from_batches(batches))


def _in_millis(rows: pa.Table) -> pa.Table:
    """Cut off what Flink's event times do not hold, so that all rivals have the same times.

    What comes on a whole second is put a millisecond later: windows end there, and of rivals some
    have the end in them and others have not.
    """
    for at, field in enumerate(rows.schema):
        if pa.types.is_timestamp(field.type):
            millis = pc.cast(rows[field.name], pa.timestamp("ms", "UTC"), safe=False)
            if field.name == "dateTime":
                millis = _off_seconds(millis.cast(pa.int64())).cast(millis.type)
            rows = rows.set_column(at, field.name, millis.cast(pa.timestamp("us", "UTC")))
    return rows


def _off_seconds(millis: pa.ChunkedArray) -> pa.ChunkedArray:
    whole = pc.equal(pc.multiply(pc.divide(millis, 1000), 1000), millis)
    return pc.add(millis, pc.cast(whole, pa.int64()))


def _write(events: Events, folder: Path) -> None:
    for kind in STREAMS:
        for form in ("parquet", "csv", "flink"):
            (folder / form / kind).mkdir(parents=True)
        writers = [_Lines(folder / "flink" / kind / f"{n}.csv") for n in range(READERS)]
        for number, rows in zip(count(), tables(events, kind), strict=False):
            pq.write_table(rows, folder / "parquet" / kind / f"{number:06d}.parquet")
            lines = as_text(rows)
            csv.write_csv(lines, folder / "csv" / kind / f"{number:06d}.csv")
            for n, writer in enumerate(writers):
                writer.write(lines.take(pa.array(range(n, len(lines), READERS))))
        for writer in writers:
            writer.close()
        for form in ("parquet", "csv"):
            _set_times(folder / form / kind)


class _Lines:
    """A file of lines without a heading."""

    def __init__(self, path: Path):
        self._path = path
        self._writer: csv.CSVWriter | None = None

    def write(self, lines: pa.Table) -> None:
        if self._writer is None:
            options = csv.WriteOptions(include_header=False, quoting_style="none")
            self._writer = csv.CSVWriter(self._path, lines.schema, write_options=options)
        self._writer.write_table(lines)

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()


def as_text(rows: pa.Table) -> pa.Table:
    """Times as `2026-01-01 00:00:00.000`, which all rivals read."""
    columns = [
        c.cast(pa.timestamp("ms")).cast(pa.string()) if pa.types.is_timestamp(c.type) else c
        for c in rows.columns
    ]
    return pa.table(columns, rows.column_names)


def _set_times(folder: Path) -> None:
    """Readers take files in the order of their times; these are long past and a second apart."""
    for number, path in enumerate(sorted(folder.iterdir())):
        os.utime(path, (_FIRST_MTIME + number, _FIRST_MTIME + number))

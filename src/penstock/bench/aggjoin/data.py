"""The data of aggjoin, and what its queries must answer to it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from penstock.bench.aggjoin.workload import EVERY, NUMBERS, WINDOW, AggJoin, Kind
from penstock.bench.data import ensure_folder, stream_files, write_file
from penstock.duration import MICROS

_SEED = 4
_LARGEST = 100
"""Numbers that are summed are below this, so that no sum comes near the end of BIGINT."""
_CLOSING = 999_999
"""The number of the file after all others; its one tuple closes the windows of any prefix."""


@dataclass(frozen=True)
class Answer:
    """All rows that a view has told, but deletions, summed up: their counts and their totals."""

    count: int
    total: int


def ensure_streams(workload: AggJoin, root: Path) -> Path:
    """The folder of a workload's files below `root`; they are made where they are missing."""
    w = workload
    name = f"agg{''.join(w.streams)}{w.keys}-groups{w.groups}-rate{w.rate}-{w.seconds}s"
    return ensure_folder(root / name, lambda draft: _write(workload, draft))


def link_seconds(workload: AggJoin, folder: Path, target: Path) -> Path:
    """The files of a shorter workload, as the very same files under another folder."""
    for alias in workload.streams:
        (target / alias).mkdir(parents=True)
        *seconds, closing = stream_files(folder, alias)
        for path in (*seconds[: workload.seconds], closing):
            os.link(path, target / alias / path.name)
    return target


def expected(workload: AggJoin, folder: Path, kind: Kind) -> Answer:
    """The answer that the query must give, counted key by key at every evaluation."""
    streams = [_Stream.read(folder, alias, workload.keys) for alias in workload.streams]
    counts, totals = zip(*_views(streams, _windows(workload, kind)), strict=True)
    return Answer(sum(counts), sum(totals))


@dataclass(frozen=True)
class _Stream:
    """The tuples of a stream in the order of time, without the closing one."""

    times: npt.NDArray[np.int64]
    keys: npt.NDArray[np.int64]
    numbers: npt.NDArray[np.int64]
    distinct: int

    @classmethod
    def read(cls, folder: Path, alias: str, distinct: int) -> _Stream:
        rows = pa.concat_tables(map(pq.read_table, stream_files(folder, alias)[:-1]))
        times = rows["ts"].cast(pa.int64()).to_numpy()
        return cls(times, rows["k"].to_numpy(), rows["x"].to_numpy(), distinct)

    def within(self, first: int, last: int) -> slice:
        """The tuples from one time to another, both included."""
        return slice(*np.searchsorted(self.times, [first, last + 1]))

    def counts(self, window: slice) -> npt.NDArray[np.int64]:
        """By key."""
        return np.bincount(self.keys[window], minlength=self.distinct)

    def sums(self, window: slice) -> npt.NDArray[np.int64]:
        """By key; exact, for doubles hold such integers exactly."""
        weighted = np.bincount(self.keys[window], self.numbers[window], self.distinct)
        return weighted.astype(np.int64)


def _windows(workload: AggJoin, kind: Kind) -> Iterator[tuple[int, int]]:
    """First and last time that each evaluation sees that has something new to tell."""
    width = WINDOW * MICROS
    if kind == "tumbling":
        blocks = -(-workload.seconds // WINDOW)
        yield from ((b * width, (b + 1) * width - 1) for b in range(blocks))
    else:
        for tick in range(0, workload.seconds + WINDOW + EVERY, EVERY):
            # From the last tuple to the end of the first one's life nothing comes and nothing goes.
            if not workload.seconds < tick <= WINDOW:
                yield tick * MICROS - width, tick * MICROS


def _views(streams: list[_Stream], windows: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    for window in windows:
        inside = [stream.within(*window) for stream in streams]
        counts = np.array([s.counts(each) for s, each in zip(streams, inside, strict=True)])
        sums = counts[0] * streams[1].sums(inside[1]) * counts[2:].prod(axis=0)
        yield int(counts.prod(axis=0).sum()), int(sums.sum())


def _write(workload: AggJoin, folder: Path) -> None:
    for stream, alias in enumerate(workload.streams):
        (folder / alias).mkdir(parents=True)
        for second in range(workload.seconds):
            write_file(_tuples(workload, stream, second), folder / alias, second)
        # A key of its own, so that it joins nothing.
        after = (workload.seconds + 2 * WINDOW) * MICROS
        closing = _table(*(np.array([value]) for value in (after, -1 - stream, 0, 0)))
        write_file(closing, folder / alias, _CLOSING)


def _tuples(workload: AggJoin, stream: int, second: int) -> pa.Table:
    """A second of a stream, ordered by time, as it would arrive."""
    rng = np.random.default_rng([_SEED, stream, second])
    first, count = second * MICROS, workload.rate
    times = np.sort(rng.integers(first, first + MICROS, count))
    limits = (workload.keys, workload.groups, _LARGEST)
    return _table(times, *(rng.integers(0, limit, count) for limit in limits))


def _table(times: npt.NDArray[np.int64], *numbers: npt.NDArray[np.int64]) -> pa.Table:
    stamps = pa.array(times, pa.timestamp("us", tz="UTC"))
    return pa.table([stamps, *map(pa.array, numbers)], names=["ts", *NUMBERS])

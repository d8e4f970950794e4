"""The data of a workload as parquet files: the same tuples on every machine and in every run."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from penstock.atomic import draft_of
from penstock.bench.workload import ALIASES, Workload
from penstock.errors import SinkError

_SEED = 1
# Readers take the files in the order of their times; these are long past and a second apart.
_FIRST_MTIME = 1_000_000_000


def ensure_data(workload: Workload, root: Path) -> Path:
    """The folder of a workload's files below `root`; they are made where they are missing."""
    return ensure_folder(root / _folder_name(workload), lambda draft: _write(workload, draft))


def ensure_folder(folder: Path, write: Callable[[Path], None]) -> Path:
    """The folder, written where it is missing: all of it, or nothing."""
    if folder.is_dir():
        return folder
    try:
        with draft_of(folder) as draft:
            write(draft)
    except OSError as error:
        what = f"cannot write the data to {folder}: {error.strerror}"
        raise SinkError(what, hint="give --data a writable directory with room") from error
    return folder


def tuples_of(workload: Workload, stream: int, number: int) -> pa.Table:
    """File `number` of a stream; ordered by time, as it would arrive."""
    rng = np.random.default_rng([_SEED, stream, number])
    first, count = number * workload.step, workload.tuples_per_file
    times = np.sort(rng.integers(first, first + workload.step, count))
    keys = {name: rng.integers(0, workload.distinct, count) for name in workload.keys}
    return pa.table(
        {"ts": pa.array(times, pa.timestamp("us", tz="UTC")), **keys, "x": rng.random(count)}
    )


def link_prefix(folder: Path, files: int, target: Path) -> Path:
    """The first files of every stream, as the very same files under another folder."""
    for alias in ALIASES:
        (target / alias).mkdir(parents=True)
        for path in stream_files(folder, alias)[:files]:
            os.link(path, target / alias / path.name)
    return target


def rechunk(folder: Path, sizes: list[int], target: Path) -> Path:
    """The same tuples, with so many of the old files to each new one."""
    for alias in ALIASES:
        (target / alias).mkdir(parents=True)
        paths = iter(stream_files(folder, alias))
        for number, size in enumerate(sizes):
            tables = [pq.read_table(next(paths)) for _ in range(size)]
            write_file(pa.concat_tables(tables), target / alias, number)
    return target


def stream_files(folder: Path, alias: str) -> list[Path]:
    """The files of a stream, in the order in which they are read."""
    return sorted((folder / alias).glob("*.parquet"))


def read_stream(folder: Path, alias: str) -> Iterator[pa.Table]:
    """The tuples of a stream, file by file."""
    return (pq.read_table(path) for path in stream_files(folder, alias))


def write_file(tuples: pa.Table, folder: Path, number: int) -> None:
    """Write file `number` of a stream, which readers take after those of lower numbers."""
    path = folder / f"{number:06d}.parquet"
    pq.write_table(tuples, path)
    mtime = _FIRST_MTIME + number
    os.utime(path, (mtime, mtime))


def _folder_name(workload: Workload) -> str:
    """A name of all that the tuples depend on, so that data kept from another size is not taken."""
    w = workload
    keys = "".join(w.keys)
    return f"{keys}{w.distinct}-rate{w.rate}-step{w.step}-{w.seconds}s"


def _write(workload: Workload, folder: Path) -> None:
    for stream, alias in enumerate(ALIASES):
        (folder / alias).mkdir(parents=True)
        for number in range(workload.files):
            write_file(tuples_of(workload, stream, number), folder / alias, number)

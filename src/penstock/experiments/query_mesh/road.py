"""Real streams: reports of road sensors, parted by place as QM parts those of its Lab data set.

Each stream is of sensors near each other; the join finds places where cars go at the same speed.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pcsv
import pyarrow.parquet as pq

from penstock.bench.workload import quoted
from penstock.cql import parse
from penstock.duration import MICROS
from penstock.experiments.query_mesh.ten_way import Contest, prepared
from penstock.query import Query

FILE = "road/speed.csv.gz"
_NAMES = ("South", "Middle", "City", "North")
_MINUTES = 10
"""The length of a window."""
_SPACING = 60 * MICROS // 20
"""Microseconds between the reports of a minute, which are of 19 lanes."""


def road_contest(path: Path) -> Contest:
    """The rivals on the reports of speed in a file."""
    reports = pcsv.read_csv(path)
    with tempfile.TemporaryDirectory(prefix="penstock-lab-") as folder:
        for name, rows in parted(reports).items():
            pq.write_table(rows, Path(folder, f"{name}.parquet"))
        return prepared(_query(Path(folder)))


def parted(reports: pa.Table) -> dict[str, pa.Table]:
    """The reports of each stream: sensors in the order of their latitude, in four parts."""
    latitudes = reports["lat"].to_numpy()
    places = np.unique(latitudes)
    part = np.searchsorted(places, latitudes) * len(_NAMES) // len(places)
    rows = pa.table(
        {
            "ts": pa.array(_times(reports), pa.timestamp("us", tz="UTC")),
            "pace": pc.cast(pc.round(reports["speed"]), pa.int64()),
            "lane": reports["lane"],
            "lat": reports["lat"],
        }
    )
    return {name: rows.filter(pa.array(part == i)) for i, name in enumerate(_NAMES)}


def _times(reports: pa.Table) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Times of reports, those of one minute one after another: they do not come all at once."""
    stamps = pc.cast(reports["ts"], pa.timestamp("us")).cast(pa.int64()).to_numpy()
    starts = np.flatnonzero(np.concatenate([[True], stamps[1:] != stamps[:-1]]))
    place = np.arange(len(stamps)) - np.repeat(starts, np.diff([*starts, len(stamps)]))
    return np.asarray(stamps + place * _SPACING, np.int64)


def _query(folder: Path) -> Query:
    streams = [
        f"CREATE STREAM {name} (ts TIMESTAMP, pace BIGINT, lane STRING, lat DOUBLE) WITH "
        f"(format = 'parquet', path = {quoted(folder / f'{name}.parquet')}, timestamp = 'ts');"
        for name in _NAMES
    ]
    first, *others = _NAMES
    windows = ", ".join(f"{name} [RANGE {_MINUTES} MINUTES]" for name in _NAMES)
    where = " AND ".join(f"{first}.pace = {name}.pace" for name in others)
    return parse("\n".join([*streams, f"SELECT {first}.pace FROM {windows} WHERE {where};"]))

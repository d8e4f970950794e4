"""The streams of the mesh benchmark's join: ten of them, joined on one key.

Every tuple is of one of three sectors, and the keys of a sector are its own. In the skewed data
each stream has one sector that is rare in it, in turn, and two that are frequent: a tuple's best
order begins with the windows in which its sector is rare, and those of the three sectors have no
window in common. On average over the sectors all windows look alike. In the uniform data they are.
Tuples have six attributes (QM Table 1), of which one tells the sector and three tell nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from penstock.bench.workload import quoted
from penstock.cql import parse
from penstock.duration import MICROS
from penstock.query import Query

STREAMS = tuple(f"S{number}" for number in range(10))
SECTORS = 3
_SEED = 11


@dataclass(frozen=True)
class JoinData:
    """`matches` are the tuples that a tuple finds in a full window: of the stream whose number is
    its sector's, of the next stream, and of the one after; further streams take turns. `rate` is
    tuples/s of each stream, `seconds` and `window` are of event time."""

    name: str
    matches: tuple[float, float, float]
    rate: int
    window: int
    seconds: int

    @property
    def tuples(self) -> int:
        """Tuples of all streams together."""
        return len(STREAMS) * self.rate * self.seconds

    def shares(self, stream: int) -> tuple[float, ...]:
        """The part of a stream's tuples that each sector has."""
        found = [self.matches[(stream - sector) % SECTORS] for sector in range(SECTORS)]
        return tuple(each / sum(found) for each in found)

    @property
    def keys(self) -> int:
        """Keys of each sector, so that a window of all its tuples has the wanted matches."""
        return round(self.rate * self.window / sum(self.matches))

    def write(self, folder: Path) -> None:
        """A file of each stream."""
        for number, name in enumerate(STREAMS):
            pq.write_table(self._tuples(number), folder / f"{name}.parquet")

    def query(self, folder: Path) -> Query:
        """The join of the files in a folder."""
        columns = "ts TIMESTAMP, k BIGINT, sector INT, x DOUBLE, y BIGINT, z DOUBLE"
        streams = [
            f"CREATE STREAM {name} ({columns}) WITH (format = 'parquet', "
            f"path = {quoted(folder / f'{name}.parquet')}, timestamp = 'ts');"
            for name in STREAMS
        ]
        windows = ", ".join(f"{name} [RANGE {self.window} SECONDS]" for name in STREAMS)
        where = " AND ".join(f"{STREAMS[0]}.k = {name}.k" for name in STREAMS[1:])
        values = ", ".join(f"{name}.x AS {name}_x" for name in STREAMS)
        return parse("\n".join([*streams, f"SELECT {values} FROM {windows} WHERE {where};"]))

    def _tuples(self, stream: int) -> pa.Table:
        rng, count = np.random.default_rng([_SEED, stream]), self.rate * self.seconds
        sectors = rng.choice(SECTORS, count, p=self.shares(stream))
        times = np.sort(rng.integers(0, self.seconds * MICROS, count))
        return pa.table(
            {
                "ts": pa.array(times, pa.timestamp("us", tz="UTC")),
                # The keys of the sectors take turns: the size of a key tells nothing.
                "k": SECTORS * rng.integers(0, self.keys, count) + sectors,
                "sector": pa.array(sectors, pa.int32()),
                "x": rng.random(count),
                "y": rng.integers(0, 1_000, count),
                "z": rng.normal(size=count),
            }
        )


def skewed(rate: int, window: int, seconds: int) -> JoinData:
    """Each sector is rare in three or four of the windows."""
    return JoinData("skewed", (0.35, 2.5, 2.5), rate, window, seconds)


def uniform(rate: int, window: int, seconds: int) -> JoinData:
    """All sectors are as frequent in all windows; there are about as many results."""
    return JoinData("uniform", (1.25, 1.25, 1.25), rate, window, seconds)

"""Streams in files, a file of each a batch, whose rates and keys may change between them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from reference import Batches, Row
from support.streams.cases import arrival

SECOND = 1_000_000

Size = Callable[[int, str], int]
"""A figure of a stream in a batch."""


@dataclass(frozen=True)
class Drifting:
    """Streams of a star (all equal on k) or a chain (j of one equals k of the next)."""

    names: str
    tuples: Size
    keys: Size
    """Different values of k, and of the j of the stream before it in a chain."""

    batches: int = 24
    is_chain: bool = False
    window: int = 4

    def write(self, folder: Path, seed: int = 1) -> None:
        """The files of all batches, each of a second."""
        rng = np.random.default_rng(seed)
        for name in self.names:
            (folder / name).mkdir(parents=True, exist_ok=True)
        for batch in range(self.batches):
            for place, name in enumerate(self.names):
                rows = self.tuples(batch, name)
                after = self.names[min(place + 1, len(self.names) - 1)]
                columns = {
                    "ts": np.sort(rng.integers(batch * SECOND, (batch + 1) * SECOND, rows)),
                    "k": rng.integers(0, self.keys(batch, name), rows),
                    "j": rng.integers(0, self.keys(batch, after), rows),
                }
                pq.write_table(pa.table(columns), folder / name / f"{batch:04d}.parquet")

    def batches_of(self, folder: Path) -> Batches:
        """The tuples that were written, by stream and batch, as the reference takes them."""
        return {name: [_rows(f) for f in sorted((folder / name).iterdir())] for name in self.names}

    def script(self, folder: Path) -> str:
        """The query over all of them."""
        streams = "".join(
            f"CREATE STREAM {name} (ts BIGINT, k BIGINT, j BIGINT) WITH (format='parquet', "
            f"path='{folder / name}', timestamp='ts', unit='us', max_files=1);\n"
            for name in self.names
        )
        pairs = zip(self.names, self.names[1:], strict=False)
        column = "j" if self.is_chain else "k"
        where = " AND ".join(f"{one}.{column} = {other}.k" for one, other in pairs)
        windows = ", ".join(f"{name} [RANGE {self.window} SECONDS]" for name in self.names)
        outputs = ", ".join(f"{name}.ts AS t{name}, {name}.k AS k{name}" for name in self.names)
        return f"{streams}SELECT {outputs} FROM {windows} WHERE {where}"


def _rows(file: Path) -> list[Row]:
    number = int(file.stem)
    columns = pq.read_table(file).to_pylist()
    return [Row(row["ts"], arrival(number, place), row) for place, row in enumerate(columns)]


def steady(figures: Mapping[str, int]) -> Size:
    """A figure of each stream that stays as it is."""
    return lambda batch, name: figures[name]


def step(at: int, before: Mapping[str, int], after: Mapping[str, int]) -> Size:
    """A figure of each stream that changes once."""
    return lambda batch, name: (before if batch < at else after)[name]

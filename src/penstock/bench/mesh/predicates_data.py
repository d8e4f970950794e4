"""The data of the mesh benchmark's predicates: three partitions that want opposite orders."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from penstock.bench.data import ensure_folder, stream_files, write_file
from penstock.bench.mesh.checks import CHECKS, hide, tell
from penstock.bench.workload import quoted
from penstock.cql import parse
from penstock.query import Query

SEED = 5
_STEP = 1_000
"""Microseconds from one tuple to the next."""
_DEVICES = 1_000

PASS = np.array(
    [
        [0.95, 0.95, 0.95, 0.05, 0.20, 0.95],
        [0.20, 0.95, 0.95, 0.95, 0.95, 0.05],
        [0.95, 0.05, 0.20, 0.95, 0.95, 0.95],
    ]
)
"""The part of the tuples of each partition that pass each check."""


@dataclass(frozen=True)
class Mixture:
    """The mixture that tuples are drawn from: `parts[kind][hour]` is the partition of a tuple.

    `number` makes the seed. All kinds and all hours are equally frequent. Without parts, tuples
    pass each check as often as those of the three partitions do together.
    """

    name: str
    number: int
    parts: tuple[tuple[int, ...], ...] | None


KINDS, HOURS = 2, 3
SKEWED = Mixture("skewed", 0, ((0, 0, 1), (1, 2, 2)))
"""Each partition is a third. To tell them apart takes both attributes, as a tree's leaves have."""
UNIFORM = Mixture("uniform", 1, None)
ONE_ATTRIBUTE = Mixture("one_attribute", 2, ((0, 1, 2), (0, 1, 2)))
"""As skewed, but the hour alone tells the partition, so that a router may look at it alone."""


@dataclass(frozen=True)
class Answer:
    """The results of a query: how many tuples, and the sum of their numbers."""

    count: int
    total: int


@dataclass(frozen=True)
class Checked:
    """The stream S through six checks; `files` of `rows` tuples each, `batch` of them at a time."""

    mixture: Mixture
    rows: int
    files: int
    batch: int

    @property
    def tuples(self) -> int:
        return self.rows * self.files

    def query(self, folder: Path) -> Query:
        """The query over the files in a folder."""
        columns = (
            "ts TIMESTAMP, id BIGINT, kind INT, hour INT, device BIGINT, size DOUBLE, x BIGINT"
        )
        text = (
            f"CREATE STREAM S ({columns}) WITH (format = 'parquet', "
            f"path = {quoted(folder)}, timestamp = 'ts', max_files = {self.batch});\n"
            f"SELECT S.id FROM S [NOW] WHERE "
            + " AND ".join(f"{check.name}(S.x)" for check in CHECKS)
        )
        return parse(text, functions=[check.function for check in CHECKS])


def ensure_tuples(checked: Checked, root: Path) -> Path:
    """The folder of the files below `root`; they are made where they are missing."""
    name = f"mesh-{checked.mixture.name}-{checked.files}x{checked.rows}"
    return ensure_folder(root / name, lambda draft: _write(checked, draft))


def expected(folder: Path) -> Answer:
    """The answer that the query must give."""
    rows = pa.concat_tables(map(pq.read_table, stream_files(folder, ".")))
    numbers = rows["x"].combine_chunks()
    passing = reduce(pc.and_, (tell(check.place, 0, numbers) for check in CHECKS))
    return answer_of(rows.filter(passing))


def answer_of(results: pa.Table) -> Answer:
    """The answer that results come to."""
    return Answer(len(results), pc.sum(results["id"], min_count=0).as_py())


def tuples_of(checked: Checked, number: int) -> pa.Table:
    """File `number` of the stream; ordered by time, as it would arrive."""
    mixture = checked.mixture
    rng = np.random.default_rng([SEED, mixture.number, number])
    ids = np.arange(number * checked.rows, (number + 1) * checked.rows)
    kinds = rng.integers(0, KINDS, checked.rows)
    hours = rng.integers(0, HOURS, checked.rows)
    passed = rng.random((checked.rows, len(CHECKS))) < _pass_rates(mixture, kinds, hours)
    noise = rng.integers(0, 1 << 64, checked.rows, np.uint64)
    return pa.table(
        {
            "ts": pa.array(ids * _STEP, pa.timestamp("us", tz="UTC")),
            "id": ids,
            "kind": kinds.astype(np.int32),
            "hour": hours.astype(np.int32),
            "device": rng.integers(0, _DEVICES, checked.rows),
            "size": rng.random(checked.rows),
            "x": hide(passed, noise),
        }
    )


def _pass_rates(
    mixture: Mixture, kinds: NDArray[np.int64], hours: NDArray[np.int64]
) -> NDArray[np.float64]:
    """How likely each tuple (a row) passes each check (a column)."""
    if mixture.parts is None:
        return np.tile(PASS.mean(axis=0), (len(kinds), 1))
    rates: NDArray[np.float64] = PASS[np.array(mixture.parts)[kinds, hours]]
    return rates


def _write(checked: Checked, folder: Path) -> None:
    folder.mkdir(parents=True)
    for number in range(checked.files):
        write_file(tuples_of(checked, number), folder, number)

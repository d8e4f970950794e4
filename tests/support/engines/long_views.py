"""Views over many batches, and views of one stream."""

from __future__ import annotations

import math
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import ArrayLike

from penstock.cql import parse
from penstock.query import Query
from reference import Row
from support.streams.cases import Case

KEYS, GROUPS = 3, 4
COMMON, CHAIN = "b.k = c.k", "b.j = c.j"
LONG = """
CREATE STREAM a (ts BIGINT, id BIGINT, k INT, j INT, x DOUBLE)
  WITH (format='parquet', path='{folder}/a', timestamp='ts', unit='s', max_files=1);
CREATE STREAM b (ts BIGINT, id BIGINT, k INT, j INT, x DOUBLE)
  WITH (format='parquet', path='{folder}/b', timestamp='ts', unit='s', max_files=1);
CREATE STREAM c (ts BIGINT, id BIGINT, k INT, j INT, x DOUBLE)
  WITH (format='parquet', path='{folder}/c', timestamp='ts', unit='s', max_files=1);
SELECT a.j, COUNT(*) AS n, SUM(b.id) AS ids, MAX(c.x) AS top, AVG(b.x * c.x) AS mean
FROM a [{0}], b [{1}], c [{2}] WHERE a.k = b.k AND {where} GROUP BY a.j {every}
"""


SLIDING = ("RANGE 20 SECONDS", "RANGE 8 SECONDS SLIDE 4 SECONDS", "RANGE 9 SECONDS")


def long_case(
    folder: Path,
    windows: tuple[str, ...],
    where: str = COMMON,
    every: str = "EVERY 4 SECONDS",
    batches: int = 24,
) -> Case:
    """Three streams that bring a few tuples in each of many batches."""
    rng = Random(11)
    brought: dict[str, list[list[Row]]] = {}
    for name in "abc":
        (folder / name).mkdir(parents=True)
        brought[name] = []
        for number in range(batches):
            rows: list[dict[str, Any]] = [
                {
                    "ts": 3 * number + rng.randrange(3),
                    "id": 10 * number + place,
                    "k": rng.randrange(KEYS),
                    "j": rng.randrange(GROUPS),
                    "x": rng.choice((*[rng.random()] * 18, math.nan, None)),
                }
                for place in range(rng.randrange(6))
            ]
            brought[name].append(
                [Row(1_000_000 * r["ts"], (number << 36) + n, r) for n, r in enumerate(rows)]
            )
            path = folder / name / f"{number:04}.parquet"
            pq.write_table(pa.Table.from_pylist(rows, SCHEMA), path)
    query = parse(LONG.format(*windows, folder=folder, where=where, every=every))
    return Case(query, brought)


SCHEMA = pa.schema(
    {"ts": pa.int64(), "id": pa.int64(), "k": pa.int32(), "j": pa.int32(), "x": pa.float64()}
)


def one_stream(folder: Path, batches: list[pa.Table], select: str) -> Query:
    (folder / "a").mkdir(parents=True)
    for number, rows in enumerate(batches):
        pq.write_table(rows, folder / "a" / f"{number:04}.parquet")
    return parse(
        "CREATE STREAM a (ts BIGINT, v BIGINT, x DOUBLE) WITH (format='parquet', "
        f"path='{folder}/a', timestamp='ts', unit='s', max_files=1); {select}"
    )


def table_of(ts: ArrayLike, v: ArrayLike, x: ArrayLike) -> pa.Table:
    columns = {"ts": pa.array(ts, pa.int64()), "v": pa.array(v, pa.int64()), "x": pa.array(x)}
    return pa.table(columns)


ROWS = ("ROWS 6", "RANGE 8 SECONDS", "PARTITION BY k ROWS 3")

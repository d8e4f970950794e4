"""Queries with inner results, and what is kept of them."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq

from penstock.cql import parse
from penstock.engine.state.manifest import newest
from penstock.query import Query
from support.engines.runs import (
    Place,
)


def assert_only_what_counts_is_there(place: Place) -> None:
    """Nothing of inner state that was rebuilt, merged or given up is left behind, but for what a
    run needs that goes back by a batch, as none does that was drained."""
    kept = newest(place.store, 1 if place.manifest.is_closed else 2)
    listed = {chunk.name for made in kept for chunk in made.chunks()}
    assert sorted(listed) == place.store.names("state")


LONG = """
CREATE STREAM a (ts BIGINT, id BIGINT, k INT, j INT)
  WITH (format='parquet', path='{folder}/a', timestamp='ts', unit='s', max_files=1);
CREATE STREAM b (ts BIGINT, id BIGINT, k INT, j INT)
  WITH (format='parquet', path='{folder}/b', timestamp='ts', unit='s', max_files=1);
CREATE STREAM c (ts BIGINT, id BIGINT, k INT, j INT)
  WITH (format='parquet', path='{folder}/c', timestamp='ts', unit='s', max_files=1);
CREATE STREAM d (ts BIGINT, id BIGINT, k INT, j INT)
  WITH (format='parquet', path='{folder}/d', timestamp='ts', unit='s', max_files=1);
SELECT a.id AS a, b.id AS b, c.id AS c, d.id AS d
FROM a [{windows[0]}], b [{windows[1]}], c [{windows[2]}], d [{windows[3]}]
WHERE {where}
"""


TIMES = (
    "RANGE 20 SECONDS",
    "RANGE 8 SECONDS SLIDE 4 SECONDS",
    "TUMBLE 12 SECONDS",
    "RANGE 9 SECONDS",
)


CHAIN = "a.k = b.k AND b.j = c.j AND c.k = d.k"


COMMON = "a.k = b.k AND b.k = c.k AND c.k = d.k"


def long_query(
    folder: Path,
    windows: tuple[str, ...],
    where: str,
    batches: int,
    *,
    seed: int = 11,
    jitter: int = 0,
) -> Query:
    """Four streams that bring a few tuples in each of many batches.

    Tuples may be up to `jitter` seconds older than their batch.
    """
    rng = Random(seed)
    for name in "abcd":
        (folder / name).mkdir(parents=True)
        for number in range(batches):
            rows = rng.randrange(4)
            columns = {
                "ts": pa.array(
                    [3 * number + rng.randrange(-jitter, 3) for _ in range(rows)], pa.int64()
                ),
                "id": pa.array([10 * number + place for place in range(rows)], pa.int64()),
                "k": pa.array([rng.randrange(4) for _ in range(rows)], pa.int32()),
                "j": pa.array([rng.randrange(3) for _ in range(rows)], pa.int32()),
            }
            pq.write_table(pa.table(columns), folder / name / f"{number:04}.parquet")
    return parse(LONG.format(folder=folder, windows=windows, where=where))

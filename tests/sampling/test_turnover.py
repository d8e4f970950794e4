"""How many values keys have in windows that are longer than the sample, where a key is unique."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray

from penstock.cql import parse
from penstock.optimize.model.flow import DEFAULT_HORIZON
from penstock.query import Query
from penstock.sampling.analyze import analyze
from penstock.stats.statistics import StreamFigures

SECONDS = 10
ROWS = SECONDS * 1_000


def write(folder: Path, name: str, keys: NDArray[np.int64]) -> None:
    """A stream of a tuple a millisecond."""
    pq.write_table(pa.table({"ts": np.arange(len(keys)), "k": keys}), folder / f"{name}.parquet")


def query_of(folder: Path, window: str) -> Query:
    streams = "".join(
        f"CREATE STREAM {name} (ts BIGINT, k BIGINT) WITH (format='parquet', "
        f"path='{folder}/{name}.parquet', timestamp='ts', unit='ms');\n"
        for name in "ab"
    )
    return parse(
        f"{streams}SELECT b.k, COUNT(*) AS n FROM a [{window}], b [{window}] "
        "WHERE a.k = b.k GROUP BY b.k EVERY 1 SECOND"
    )


def figures(folder: Path, ids: NDArray[np.int64], window: str, rows: int = ROWS) -> StreamFigures:
    """Those of b: ten tuples for each tenth of a, at the same time."""
    write(folder, "a", ids)
    write(folder, "b", np.arange(len(ids)) // 10 * 10)
    return analyze(query_of(folder, window), rows=rows).streams["b"]


def test_what_meets_unique_keys_has_ever_new_ones(tmp_path: Path) -> None:
    found = figures(tmp_path, np.arange(ROWS), "UNBOUNDED")
    in_an_hour = ROWS / 10 * DEFAULT_HORIZON / SECONDS
    assert found.distinct["k"].value == pytest.approx(in_an_hour, rel=0.02)
    assert found.cells is not None
    assert found.cells.value == pytest.approx(in_an_hour, rel=0.02)
    assert found.cells.origin == "sampled"


def test_so_it_is_by_stretches_of_a_stream(tmp_path: Path) -> None:
    found = figures(tmp_path, np.arange(4 * ROWS), "UNBOUNDED")
    in_an_hour = ROWS / 10 * DEFAULT_HORIZON / SECONDS
    assert found.distinct["k"].value == pytest.approx(in_an_hour, rel=0.3)


def test_a_window_that_is_shorter_than_the_sample_has_what_was_seen(tmp_path: Path) -> None:
    assert figures(tmp_path, np.arange(ROWS), "RANGE 5 SECONDS").distinct["k"].value == ROWS / 10


def test_where_no_key_is_unique_they_may_come_again(tmp_path: Path) -> None:
    ids = np.arange(ROWS)
    ids[-1] = 0
    found = figures(tmp_path, ids, "UNBOUNDED")
    assert found.distinct["k"].value == pytest.approx(ROWS / 10, rel=0.02)

"""Keys that `analyze` calls unique: those that never come twice where the sample can tell."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray

from penstock.cql import parse
from penstock.query import Query
from penstock.query.keys import key_classes
from penstock.sampling.analyze import analyze
from penstock.sampling.unique import ENOUGH
from penstock.stats.files.dump import dump
from penstock.stats.files.load import loads
from penstock.stats.statistics import Unique

ID = {("k",): "sampled"}
BOTH = {("k", "m"): "sampled"}


Int64s = NDArray[np.int64]


def write(folder: Path, name: str, k: Int64s, m: Int64s | None = None, files: int = 1) -> None:
    """A stream of a tuple a millisecond with the given keys, in so many files; −1 is NULL."""
    (folder / name).mkdir()
    keys = {"k": k, "m": np.zeros_like(k) if m is None else m}
    columns = {n: pa.array(values, mask=values < 0) for n, values in keys.items()}
    table = pa.table({"ts": np.arange(len(k)) * 1_000, **columns})
    for number, rows in enumerate(np.array_split(np.arange(len(k)), files)):
        pq.write_table(table.take(pa.array(rows)), folder / name / f"{number:03}.parquet")


def query_of(folder: Path, where: str = "a.k = b.k", kind: str = "STREAM") -> Query:
    options = "" if kind == "TABLE" else ", timestamp='ts', unit='us'"
    window = "" if kind == "TABLE" else " [UNBOUNDED]"
    return parse(
        f"CREATE {kind} a (ts BIGINT, k BIGINT, m BIGINT) "
        f"WITH (format='parquet', path='{folder}/a'{options});\n"
        f"CREATE STREAM b (ts BIGINT, k BIGINT, m BIGINT) "
        f"WITH (format='parquet', path='{folder}/b', timestamp='ts', unit='us');\n"
        f"SELECT a.k FROM a{window}, b [UNBOUNDED] WHERE {where}"
    )


def unique(query: Query, rows: int = 100_000) -> Unique:
    """What is said of the keys of a; those of b come twice."""
    found = analyze(query, rows=rows)
    assert loads(dump(found), query) == found
    assert not found.streams["b"].unique
    return found.streams["a"].unique


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A stream b whose keys come again."""
    write(tmp_path, "b", np.arange(4_000) // 4)
    return tmp_path


@pytest.mark.parametrize(("rows", "told"), [(ENOUGH - 1, {}), (ENOUGH, ID)])
def test_few_tuples_do_not_tell(rows: int, told: Unique, folder: Path) -> None:
    write(folder, "a", np.arange(rows))
    assert unique(query_of(folder)) == told


def test_one_key_that_comes_again_is_enough(folder: Path) -> None:
    keys = np.arange(5_000)
    keys[-1] = keys[0]
    write(folder, "a", keys)
    assert unique(query_of(folder)) == {}


@pytest.mark.parametrize(("keys", "told"), [(ENOUGH - 1, {}), (ENOUGH, ID)])
def test_nulls_are_no_keys(keys: int, told: Unique, folder: Path) -> None:
    write(folder, "a", np.concatenate([np.arange(keys), np.full(500, -1)]))
    assert unique(query_of(folder)) == told


def test_columns_may_be_unique_together(folder: Path) -> None:
    at = np.arange(4_000)
    write(folder, "a", at // 50, at % 50)
    where = "a.k = b.k AND a.m = b.m"
    assert unique(query_of(folder)) == {}
    assert unique(query_of(folder, where)) == BOTH


def test_beside_a_unique_column_no_other_is_told(folder: Path) -> None:
    at = np.arange(4_000)
    write(folder, "a", at, at % 50)
    assert unique(query_of(folder, "a.k = b.k AND a.m = b.m")) == ID


def test_with_a_null_in_a_part_it_is_no_key(folder: Path) -> None:
    at = np.arange(4_000)
    parts = np.where(at < 100, -1, at % 50)
    write(folder, "a", np.where(at < 100, 7, at // 50), parts)
    assert unique(query_of(folder, "a.k = b.k AND a.m = b.m")) == BOTH


def test_what_filters_leave_may_be_unique_but_the_stream_is_not(folder: Path) -> None:
    at = np.arange(4_000)
    write(folder, "a", at // 2, at % 2)
    assert unique(query_of(folder, "a.k = b.k AND a.m = 0")) == {}


@pytest.mark.parametrize("files", [1, 7, 60])
def test_stretches_of_a_stream_that_have_tuples_in_common_tell(files: int, folder: Path) -> None:
    write(folder, "a", np.arange(24_000), files=files)
    assert unique(query_of(folder), rows=20_000) == ID
    assert unique(query_of(folder), rows=9_000) == ID


def test_keys_that_come_again_later_are_seen_in_another_stretch(folder: Path) -> None:
    write(folder, "a", np.arange(80_000) % 10_000, files=8)
    assert unique(query_of(folder), rows=8_000) == {}


@pytest.mark.parametrize(("keys", "told"), [([1, 2, 3], ID), ([1, 2, 2], {})])
def test_a_table_that_is_read_whole_tells_however_small(
    keys: list[int], told: Unique, folder: Path
) -> None:
    write(folder, "a", np.array(keys))
    assert unique(query_of(folder, kind="TABLE")) == told


def test_the_beginning_of_an_endless_stream_does_not_tell() -> None:
    streams = "".join(
        f"CREATE STREAM {name} (ts TIMESTAMP, k BIGINT) WITH (format='synthetic', "
        f"timestamp='ts', rate=1000, values='k: sequence()');\n"
        for name in "ab"
    )
    query = parse(f"{streams}SELECT a.k FROM a [UNBOUNDED], b [NOW] WHERE a.k = b.k")
    assert len(key_classes(query)) == 1
    assert analyze(query, rows=5_000).streams["a"].unique == {}


def test_what_is_computed_of_a_key_is_none(folder: Path) -> None:
    write(folder, "a", np.arange(4_000))
    assert unique(query_of(folder, "a.k % 10 = b.k")) == {}

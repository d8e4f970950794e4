"""Hot keys: those of which the state holds the most, as a count of all its tuples says."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import penstock as ps
from penstock.engine.results.kept_query import kept_query
from penstock.engine.results.kept_state import state_rows
from penstock.engine.results.key_values import value_text
from penstock.kernels.hashing import hash_column, unmixed
from penstock.query.types import DataType, decimal
from penstock.watch.hot_keys import MOST_BYTES, HotKeys, hot_keys
from penstock.watch.log_reader import read_log
from support.watch.watched_runs import HOSTILE, scripted

_STREAM = """CREATE STREAM {name} (ts BIGINT, k {type}, t STRING) WITH (
  format='json', path='{folder}/{name}', timestamp='ts', unit='s', max_files=1);
"""


def skewed(folder: Path, where: str, type_: str = "BIGINT", select: str = "a.k, a.t, b.ts") -> Path:
    """The checkpoint of a join in which three of four tuples have one key; others are even."""
    text = ""
    for name in "ab":
        (folder / name).mkdir(parents=True)
        for number in range(4):
            keys = [7 if n % 4 else n + 100 * number for n in range(40)]
            rows = [{"ts": number, "k": k, "t": f"{HOSTILE}{k % 3}"} for k in keys]
            lines = "".join(json.dumps(row) + "\n" for row in rows)
            (folder / name / f"{number}.json").write_text(lines)
        text += _STREAM.format(name=name, folder=folder, type=type_)
    query = f"{text}SELECT {select} FROM a [RANGE 9 SECONDS], b [RANGE 9 SECONDS] WHERE {where}"
    with ps.sql(query, engine="local").local(
        sink="noop", checkpoint=folder / "checkpoint", available_now=True, partitions=3
    ) as run:
        run.await_termination()
    return folder / "checkpoint"


def looked(checkpoint: Path, most: int = MOST_BYTES) -> HotKeys:
    return hot_keys(read_log(str(checkpoint)), most=most)


def kept_by(checkpoint: Path, column: str) -> dict[str, Counter[str]]:
    """How often each value of a column is among the tuples of each module, by their own rows."""
    found: dict[str, Counter[str]] = {}
    for rows in state_rows(kept_query(str(checkpoint))):
        for row in rows.to_pylist():
            value = json.loads(row["tuple"])[f"{row['module'][0]}.{column}"]
            found.setdefault(row["module"], Counter())[str(value)] += 1
    return found


def test_numbers_are_counted_in_all_partitions(tmp_path: Path) -> None:
    checkpoint = skewed(tmp_path, "a.k = b.k", select="a.k, b.k AS other")
    found, wanted = looked(checkpoint), kept_by(checkpoint, "k")
    assert {each.module for each in found.modules} == set(wanted) == {"a@0", "b@0"}
    for each in found.modules:
        counts = wanted[each.module]
        assert (each.rows, each.looked_at, each.keys) == (160, 160, len(counts))
        assert each.by == "a.k = b.k"
        assert [line.rows for line in each.hottest] == [n for _, n in counts.most_common(8)]
        assert {line.key: line.rows for line in each.hottest}.items() <= counts.items()
        hottest = each.hottest[0]
        assert (hottest.key, hottest.rows, hottest.part) == ("7", 120, 0.75)
        assert hottest.times_mean == pytest.approx(0.75 * len(counts))


def test_a_number_that_no_result_needs_is_read_from_its_hash(tmp_path: Path) -> None:
    """The state keeps no column for it."""
    checkpoint = skewed(tmp_path, "a.k = b.k", select="a.ts")
    assert [each.hottest[0].key for each in looked(checkpoint).modules] == ["7", "7"]


def test_texts_and_keys_of_several_parts_are_read_from_their_tuples(tmp_path: Path) -> None:
    checkpoint = skewed(tmp_path, "a.t = b.t AND a.k = b.k")
    (line, *_) = looked(checkpoint).modules[0].hottest
    assert line.key == f"{HOSTILE}1, 7"
    assert line.rows == 120


def test_a_look_reads_no_more_than_it_may_and_says_so(tmp_path: Path) -> None:
    checkpoint = skewed(tmp_path, "a.k = b.k")
    for each in looked(checkpoint, most=1).modules:
        assert 0 < each.looked_at < each.rows
        assert sum(line.rows for line in each.hottest) <= each.looked_at


def test_of_a_script_one_query_is_looked_at(tmp_path: Path) -> None:
    log = read_log(str(scripted(tmp_path)))
    assert "choose one" in (hot_keys(log).missing or "")
    found = hot_keys(log.of_query("pairs"))
    assert found.missing is None
    assert {line.key for each in found.modules for line in each.hottest} == {"1"}


def test_tuples_without_a_key_are_told_as_such(tmp_path: Path) -> None:
    """A left join keeps them; they have the hash of 0."""
    text = ""
    for name in "ab":
        (tmp_path / name).mkdir()
        lines = [json.dumps({"ts": n, "k": None if n % 2 else n, "t": ""}) for n in range(9)]
        (tmp_path / name / "1.json").write_text("\n".join(lines) + "\n")
        text += _STREAM.format(name=name, folder=tmp_path, type="BIGINT")
    select = "SELECT a.ts FROM a [RANGE 99 SECONDS] LEFT JOIN b [RANGE 99 SECONDS] ON a.k = b.k"
    with ps.sql(text + select, engine="local").local(
        sink="noop", checkpoint=tmp_path / "checkpoint", available_now=True
    ) as run:
        run.await_termination()
    hottest = {each.module: each.hottest[0] for each in looked(tmp_path / "checkpoint").modules}
    assert (hottest["a@0"].key, hottest["a@0"].rows) == ("NULL or 0", 5)
    assert {line.rows for line in (hottest["b@0"],)} == {1}


def test_what_cannot_be_looked_at_is_said(tmp_path: Path) -> None:
    checkpoint = skewed(tmp_path, "a.k < b.k")
    assert "no equality" in (looked(checkpoint).missing or "")
    log = read_log(str(checkpoint))
    shutil.rmtree(checkpoint / "manifests")
    assert hot_keys(log).missing == "no batch yet"


@pytest.mark.parametrize(
    ("type_", "values", "texts"),
    [
        (DataType.BIGINT, pa.array([0, -1, 2**63 - 1, -(2**63)]), None),
        (DataType.DOUBLE, pa.array([0.5, -1e300, float("inf")]), None),
        (DataType.BOOLEAN, pa.array([True, False]), ["true", "false"]),
        (DataType.DATE, pa.array([0, -1]).cast(pa.int32()).cast(pa.date32()), None),
        (
            DataType.TIMESTAMP,
            pa.array([1_500_000], pa.timestamp("us", "UTC")),
            ["1970-01-01 00:00:01.5"],
        ),
        (decimal(12, 2), pa.array([Decimal("-150")], pa.decimal128(12, 2)), ["-150.00"]),
    ],
    ids=str,
)
def test_values_are_read_back_from_hashes(
    type_: DataType, values: pa.Array, texts: list[str] | None
) -> None:
    wanted = texts or [str(value) for value in values.to_pylist()]
    assert [value_text(type_, int(each)) for each in hash_column(values)] == wanted


def test_hashes_of_numbers_are_read_back_whatever_they_are() -> None:
    numbers = np.random.default_rng(3).integers(-(2**63), 2**63 - 1, 500)
    back = [unmixed(int(each)) for each in hash_column(pa.array(numbers))]
    assert [each - (1 << 64) if each >> 63 else each for each in back] == numbers.tolist()

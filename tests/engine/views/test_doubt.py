"""Doubt: an interval is a single point only where the value is the true one, at every tick, though
no kept tuple tells that others were shed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from penstock.cql import parse
from penstock.plan.drops import NO_DROPS, DropBoxes
from penstock.plan.plan import Plan
from penstock.query import Query
from support.engines.runs import Place, Runner, first_files_only, planned, random_tree, run_local
from support.engines.runs import run_spark as on_spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STREAM = """
CREATE STREAM {name} (ts BIGINT, k INT, g INT, x DOUBLE)
  WITH (format='parquet', path='{folder}/{name}', timestamp='ts', unit='s', max_files=1);
"""
FILES, BLOCK = 9, 10
SHED = DropBoxes((("a", 0.2), ("b", 0.3)), 7)
PHASES = [NO_DROPS] * 2 + [SHED] * 2 + [NO_DROPS] * 3 + [SHED] + [NO_DROPS]
"""The drop boxes of each file: on, off until all that was shed has left the windows, on again."""
SELECTS = {
    "groups": (
        "SELECT a.g, COUNT(*) AS n, SUM(b.x) AS s, AVG(a.x) AS m "
        "FROM a [RANGE 15 SECONDS], b [RANGE 12 SECONDS SLIDE 4 SECONDS] "
        "WHERE a.k = b.k GROUP BY a.g EVERY 2 SECONDS"
    ),
    "a total": (
        "SELECT COUNT(*) AS n, SUM(b.x) AS s, AVG(a.x) AS m "
        "FROM a [RANGE 15 SECONDS], b [RANGE 8 SECONDS] WHERE a.k = b.k AND a.g > 4 EVERY 1 SECOND"
    ),
    "one stream": (
        "SELECT g, COUNT(*) AS n, SUM(x) AS s, AVG(x) AS m "
        "FROM a [RANGE 6 SECONDS] GROUP BY g EVERY 1 SECOND"
    ),
    "blocks": (
        "SELECT a.g, COUNT(*) AS n, SUM(b.x) AS s, AVG(a.x) AS m "
        "FROM a [TUMBLE 5 SECONDS], b [TUMBLE 5 SECONDS] WHERE a.k = b.k GROUP BY a.g"
    ),
    "rows": (
        "SELECT a.g, COUNT(*) AS n, SUM(b.x) AS s, AVG(a.x) AS m "
        "FROM a [RANGE 15 SECONDS], b [ROWS 30] WHERE a.k = b.k GROUP BY a.g EVERY 2 SECONDS"
    ),
}


def write_streams(folder: Path, seed: int) -> str:
    rng = np.random.default_rng(seed)
    for name in "ab":
        (folder / name).mkdir(parents=True)
        for number in range(FILES):
            size = int(rng.integers(5, 40))
            times = BLOCK * number + np.sort(rng.integers(0, BLOCK, size))
            small = {"k": rng.integers(0, 5, size), "g": rng.integers(0, 6, size)}
            table = pa.table({"ts": times, **small, "x": rng.random(size)})
            pq.write_table(table, folder / name / f"{number:04}.parquet")
    return "".join(STREAM.format(name=name, folder=folder) for name in "ab")


def shown_at(place: Place, ticks: Iterable[int]) -> dict[int, dict[Any, dict[str, Any]]]:
    """The rows of the view at each tick, by their group."""
    paths = sorted(Path(place.sink.place).glob("*.parquet"))
    changes = [row for path in paths for row in pq.read_table(path).to_pylist()]
    changes.sort(key=lambda row: row["_time"])
    found, now, told = {}, dict[Any, dict[str, Any]](), iter(changes)
    row = next(told, None)
    for tick in ticks:
        while row is not None and row["_time"] <= datetime.fromtimestamp(tick, UTC):
            if row["_change"] == "upsert":
                now[row.get("g")] = row
            else:
                now.pop(row.get("g"))
            row = next(told, None)
        found[tick] = dict(now)
    return found


def some_plan(query: Query, rng: Random) -> Plan:
    """A multi-way join or a tree, with or without early aggregation or recomputation."""
    early = query.aliases if rng.random() < 0.4 else ()
    if len(query.aliases) > 1 and rng.random() < 0.3:
        return replace(random_tree(query, rng), early=early)
    may_recompute = len(query.aliases) > 1 and not query.is_sequenced and rng.random() < 0.4
    return replace(planned(query), early=early, recompute="a" if may_recompute else None)


def boxes_for(query: Query, drops: DropBoxes) -> DropBoxes:
    """Drop boxes of the inputs that weights make up for."""
    names = {item.alias for item in query.inputs if not (query.is_sequenced and item.alias == "b")}
    return replace(drops, kept=tuple(each for each in drops.kept if each[0] in names))


def assert_points_are_true(select: str, seed: int, folder: Path, run: Runner) -> None:
    rng = Random(f"{select} {seed}")
    query = parse(write_streams(folder / "in", seed) + SELECTS[select])
    exact, place = Place(folder / "exact"), Place(folder / "shed")
    run_local(query, exact)
    for number, drops in enumerate(PHASES, start=1):
        plan = replace(some_plan(query, rng), drops=boxes_for(query, drops))
        with first_files_only(query, number):
            run(query, place, plan=plan, drain=False, partitions=2)
    ticks = range(0, BLOCK * FILES - 1)
    wanted, found = shown_at(exact, ticks), shown_at(place, ticks)
    points = doubted = 0
    for tick in ticks:
        for group, row in found[tick].items():
            if "n_low" not in row:
                continue
            for name in "nsm":
                low, high = row[f"{name}_low"], row[f"{name}_high"]
                if low is not None and low == high:
                    true = wanted[tick].get(group, {}).get(name)
                    assert row[name] == low == pytest.approx(true, rel=1e-12), (tick, group, name)
                    points += 1
                doubted += low is None and row[name] is not None
    assert points > 20
    assert doubted > 3
    # What was shed first is gone: there is doubt no more.
    last = found[BLOCK * 7 - 1]
    assert all(row["n_low"] == row["n_high"] == row["n"] for row in last.values())


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("select", SELECTS)
def test_a_single_point_is_the_truth(select: str, seed: int, tmp_path: Path) -> None:
    assert_points_are_true(select, seed, tmp_path, run_local)


@pytest.mark.spark
def test_a_single_point_is_the_truth_on_spark(spark: SparkSession, tmp_path: Path) -> None:
    assert_points_are_true("groups", 0, tmp_path, partial(on_spark, spark))


def test_a_total_of_which_nothing_was_kept_is_not_known(tmp_path: Path) -> None:
    query = parse(write_streams(tmp_path / "in", 1) + SELECTS["a total"])
    place = Place(tmp_path / "shed")
    drops = DropBoxes((("a", 0.0005), ("b", 0.5)), 1)
    run_local(query, place, plan=replace(planned(query), drops=drops))
    rows = [row for rows in shown_at(place, range(5, 80)).values() for row in rows.values()]
    nothing = [row for row in rows if row["n"] == 0]
    assert nothing
    assert all(row["n_low"] is row["n_high"] is None for row in nothing)

"""Drop boxes: as many tuples are kept as planned, the same after a replay, and all are counted."""

from __future__ import annotations

import signal
from collections import Counter
from dataclasses import replace
from math import sqrt
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from penstock.cql import parse
from penstock.engine.local import open_run
from penstock.engine.reports.report import Report
from penstock.engine.run.options import RunOptions
from penstock.engine.sinks.sink import Sink
from penstock.kernels.drop import keeps
from penstock.plan.drops import DropBoxes
from penstock.query import Query
from reference import Row, all_alive, combinations, frontier, in_time, result
from support.engines.crashes import Crash, Run, exit_code
from support.engines.runs import Place, planned, random_plan, random_tree, run_local, run_spark
from support.engines.soak import results, script, write_input
from support.streams.cases import Case, canonical, random_case, write_case

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def random_drops(query: Query, rng: Random) -> DropBoxes:
    """Boxes on some of the streams, and on tables, where they do nothing."""
    fractions = [(alias, rng.choice((0.0, 0.3, 0.6, 0.9))) for alias in query.aliases]
    return DropBoxes(tuple(f for f in fractions if rng.random() < 0.7), seed=rng.randrange(100))


def kept(query: Query, drops: DropBoxes, alias: str, rows: list[Row]) -> list[Row]:
    """The rows that the box of an input lets through."""
    if query.input(alias).is_table:
        return rows
    arrivals = np.array([row.arrival for row in rows], np.int64)
    mask = keeps(drops.seed, alias, arrivals, drops.fraction(alias))
    return [row for row, keep in zip(rows, mask, strict=True) if keep]


def expected(
    case: Case, query: Query, drops: DropBoxes, drain: bool
) -> Counter[tuple[object, ...]]:
    """What the reference says of the kept tuples; those that are shed still move the frontier."""
    windows = {
        item.alias: kept(query, drops, item.alias, in_time(item, case.batches[item.alias]))
        for item in query.inputs
    }
    if query.is_sequenced and not drain:
        end = frontier(query, case.batches)
        for item in query.streams:
            windows[item.alias] = [row for row in windows[item.alias] if row.ts < end]
    found = combinations(query, windows)
    return canonical(result(query, c) for c in found if all_alive(query, windows, c))


def shed(case: Case, query: Query, drops: DropBoxes) -> dict[str, int]:
    """How many tuples each box sheds."""
    counts = {}
    for alias, _ in drops.kept:
        rows = in_time(query.input(alias), case.batches[alias])
        counts[alias] = len(rows) - len(kept(query, drops, alias, rows))
    return counts


@pytest.mark.parametrize("seed", range(8000, 8080))
def test_results_are_those_of_the_kept_tuples(seed: int, tmp_path: Path) -> None:
    rng = Random(f"drops {seed}")
    case = random_case(seed)
    query = write_case(case, tmp_path / "in")
    drops, drain = random_drops(query, rng), rng.random() < 0.5
    plan = random_tree(query, rng) if seed % 2 else planned(query, random_plan(query, rng))
    place = Place(tmp_path)
    plan = replace(plan, drops=drops)
    reports = run_local(query, place, plan=plan, drain=drain, partitions=rng.randint(1, 3))
    assert canonical(place.results(query)) == expected(case, query, drops, drain)
    assert place.manifest.total_shed == shed(case, query, drops)
    assert reports[-1].total_shed == place.manifest.total_shed
    for alias, total in reports[-1].total_shed.items():
        assert total == sum(report.shed[alias] for report in reports)


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("seed", [8001, 8002, 8005])
def test_spark_sheds_the_same(seed: int, spark: SparkSession, tmp_path: Path) -> None:
    rng = Random(f"drops {seed}")
    case = random_case(seed)
    query = write_case(case, tmp_path / "in")
    drops = random_drops(query, rng)
    place = Place(tmp_path)
    run_spark(spark, query, place, plan=replace(random_tree(query, rng), drops=drops))
    assert canonical(place.results(query)) == expected(case, query, drops, True)
    assert place.manifest.total_shed == shed(case, query, drops)


PAIR = """
CREATE STREAM a (ts BIGINT, k INT)
  WITH (format='parquet', path='{folder}/a', timestamp='ts', unit='ms', max_files=1);
CREATE STREAM b (ts BIGINT, k INT)
  WITH (format='parquet', path='{folder}/b', timestamp='ts', unit='ms', max_files=1);
SELECT a.ts AS a, b.ts AS b FROM a [RANGE 1 SECOND], b [RANGE 1 SECOND] WHERE a.k = b.k
"""
ROWS = 3000
FRACTIONS = {"a": 0.37, "b": 0.8}
BOXES = DropBoxes(tuple(FRACTIONS.items()), seed=5)


def pair(folder: Path) -> Query:
    rng = Random(3)
    for name in FRACTIONS:
        (folder / name).mkdir(parents=True)
        for number in range(2):
            times = sorted(rng.randrange(5000 * number, 5000 * (number + 1)) for _ in range(ROWS))
            keys = pa.array([rng.randrange(300) for _ in times], pa.int32())
            table = pa.table({"ts": pa.array(times), "k": keys})
            pq.write_table(table, folder / name / f"{number}.parquet")
    return parse(PAIR.format(folder=folder))


def test_as_many_are_kept_as_planned_and_results_are_a_subset(tmp_path: Path) -> None:
    query = pair(tmp_path / "in")
    exact, less = Place(tmp_path / "exact"), Place(tmp_path / "less")
    run_local(query, exact)
    reports = run_local(query, less, plan=replace(planned(query), drops=BOXES), partitions=2)
    for alias, fraction in FRACTIONS.items():
        error = sqrt(fraction * (1 - fraction) / (2 * ROWS))
        assert abs(1 - reports[-1].total_shed[alias] / (2 * ROWS) - fraction) < 4 * error
    everything, some = canonical(exact.results(query)), canonical(less.results(query))
    assert not some - everything
    # Streams are shed independently of each other, so pairs survive by the product.
    left = FRACTIONS["a"] * FRACTIONS["b"]
    assert some.total() == pytest.approx(everything.total() * left, rel=0.1)


def test_boxes_may_change_while_running(tmp_path: Path) -> None:
    query = pair(tmp_path / "in")
    place = Place(tmp_path)
    reports: list[Report] = []
    plans = [planned(query), replace(planned(query), drops=BOXES)]

    def follow(report: Report) -> None:
        reports.append(report)
        run.replan(plans[1])

    run = open_run(
        plans[0],
        RunOptions(
            sink=place.sink,
            checkpoint=str(place.checkpoint),
            report=follow,
        ),
    )
    run.available_now()
    assert reports[0].shed == {}
    assert 0 < reports[1].shed["a"] == reports[1].total_shed["a"] < ROWS


def test_a_killed_run_sheds_the_same(tmp_path: Path) -> None:
    write_input(tmp_path / "in", 4, Random(5))
    text = script("chain", tmp_path / "in")
    boxes = DropBoxes((("a", 0.7), ("b", 0.8)), seed=2)
    runs = [
        Run(text, str(tmp_path / name), f"jsonl:{tmp_path / name}.jsonl", drops=boxes)
        for name in ("whole", "killed")
    ]
    assert exit_code(runs[0]) == 0
    for call in (1, 4):
        crashing = replace(runs[1], crash=Crash("after a chunk", call))
        assert exit_code(crashing) == -signal.SIGKILL
    assert exit_code(runs[1]) == 0
    whole, killed = (results(Sink.named(run.sink)) for run in runs)
    assert whole == killed
    assert whole.total() > 100

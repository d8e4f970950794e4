"""Killed at any moment and started again, a run leaves each result in its sink once."""

from __future__ import annotations

import signal
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from penstock.api import sql
from penstock.engine.places.place import Place
from penstock.engine.sinks.sink import Sink, jsonl
from penstock.engine.state.manifest import latest, newest
from penstock.engine.state.store import Store
from support.engines.crashes import POINTS, Crash, Run, exit_code, survived
from support.engines.soak import Siege, expected, results, script, write_input
from support.waiting import wait_until

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Counter[Any]]]:
    """Input of a few batches, and what each query makes of it."""
    folder = tmp_path_factory.mktemp("input")
    write_input(folder, 4, Random(5))
    return folder, {query: expected(script(query, folder)) for query in ("common", "chain")}


def crashes(kind: str) -> list[tuple[str, str, bool]]:
    foreign = {"jsonl": "in publishing files", "parquet": "in publishing lines"}[kind]
    every = [p for p in POINTS if p != foreign and "rebuild" not in p and "malformed" not in p]
    # The drain is the last batch: no other comes after it to finish what it has left undone.
    late = every[every.index("in the commit, before the name") :]
    return [(kind, p, False) for p in every] + [(kind, p, True) for p in late]


@pytest.mark.parametrize(("kind", "point", "in_drain"), [*crashes("jsonl"), *crashes("parquet")])
def test_a_crash_at_every_boundary_is_survived(
    kind: str,
    point: str,
    in_drain: bool,
    prepared: tuple[Path, dict[str, Counter[Any]]],
    tmp_path: Path,
) -> None:
    folder, wanted = prepared
    query = "chain" if in_drain or kind == "parquet" else "common"
    sink = Sink.named(f"{kind}:{tmp_path / 'results'}")
    run = Run(script(query, folder), str(tmp_path / "checkpoint"), sink.name)
    # Each attempt comes further than the one before: they die in different batches.
    codes = survived(run, point, (0, 2, 9, 60), in_drain=in_drain)
    assert codes[-1] == 0
    assert set(codes[:-1]) == {-signal.SIGKILL}
    assert results(sink) == wanted[query]
    assert wanted[query].total() > 1_000
    assert_all_is_tidy(tmp_path)


SHAPES = (("a", ("b", "c")), (("a", "b"), "c"), None, (("c", "a"), "b"))


@pytest.mark.parametrize(
    ("query", "point"),
    [
        ("chain", "before a rebuild"),
        ("common", "in a rebuild"),
        ("chain", "in a rebuild"),
        ("chain", "after a rebuild"),
        ("common", "in a chunk"),
        ("chain", "after a chunk"),
        ("common", "before the commit"),
        ("chain", "in the sweep"),
    ],
)
def test_a_crash_between_trees_is_survived(
    query: str, point: str, prepared: tuple[Path, dict[str, Counter[Any]]], tmp_path: Path
) -> None:
    folder, wanted = prepared
    sink = jsonl(tmp_path / "results")
    run = Run(script(query, folder), str(tmp_path / "checkpoint"), sink.name, shapes=SHAPES)
    codes = survived(run, point, (0, 1, 14, 400))
    assert codes[-1] == 0
    assert len(codes) > 2
    assert set(codes[:-1]) == {-signal.SIGKILL}
    assert results(sink) == wanted[query]
    assert_all_is_tidy(tmp_path)


def assert_all_is_tidy(folder: Path) -> None:
    """No attempt has left anything behind that later runs would carry along."""
    store = Store(Place.of(folder / "checkpoint"))
    made = latest(store)
    assert made is not None
    assert made.is_closed
    listed = {chunk.name for chunk in made.chunks()}
    assert listed <= set(store.names("state"))


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_after_a_crash_only_what_counts_is_kept(
    kind: str, prepared: tuple[Path, dict[str, Counter[Any]]], tmp_path: Path
) -> None:
    folder, wanted = prepared
    sink = Sink.named(f"{kind}:{tmp_path / 'results'}")
    run = Run(script("common", folder), str(tmp_path / "checkpoint"), sink.name)
    for point in ("in a chunk", "after the results are staged", "in the commit, before the name"):
        assert exit_code(replace(run, crash=Crash(point, 2))) == -signal.SIGKILL
    sql(run.text).local(sink=sink, checkpoint=run.checkpoint).available_now()
    store = Store(Place.of(run.checkpoint))
    made = latest(store)
    assert made is not None
    listed = {chunk.name for each in newest(store, 2) for chunk in each.chunks()}
    assert sorted(listed) == store.names("state")
    assert len([name for name in store.names("manifests") if "/." not in name]) <= 2
    assert not [path for path in tmp_path.rglob("*staging*") if any(path.iterdir())]
    assert results(sink) == wanted["common"]


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize(
    ("victim", "planned", "switching", "kills"),
    [
        ("driver", ("chain", "view"), ("filtered", "sums"), 2),
        ("worker", ("common", "chain"), ("filtered", "view"), 5),
    ],
)
def test_killed_on_spark_queries_lose_nothing(
    victim: str, planned: tuple[str, ...], switching: tuple[str, ...], kills: int, tmp_path: Path
) -> None:
    """Queries that keep their plans, of which a view aggregates before the join, beside those that
    have another one in each batch."""
    assert sql(script("view", tmp_path)).plan.early
    siege = Siege(
        tmp_path,
        Random(victim),
        master="local[2]",
        files=5,
        queries=planned + switching,
        seed=f"switch {victim}",
        planned=planned,
    )
    siege.run([victim] * kills)
    assert siege.wrong() == []
    assert siege.kills[victim] >= (2 if victim == "driver" else 3)


@pytest.mark.spark
def test_stopped_runs_lose_nothing(spark: SparkSession, tmp_path: Path) -> None:
    write_input(tmp_path / "in", 12, Random(2))
    text = script("chain", tmp_path / "in")
    rng = Random("stop")
    sink = jsonl(tmp_path / "results")
    checkpoint = str(tmp_path / "checkpoint")
    for _ in range(3):
        stop_after(rng.randint(1, 3), spark, text, sink, checkpoint)
    sql(text).start(
        spark, sink=sink, checkpoint=checkpoint, available_now=True, drain=True
    ).await_termination()
    assert results(sink) == expected(text)


def stop_after(count: int, spark: SparkSession, text: str, sink: Sink, checkpoint: str) -> None:
    """Start a query and stop it in the midst of what comes after so many batches."""
    batches: list[int] = []
    started = sql(text).start(
        spark,
        sink=sink,
        checkpoint=checkpoint,
        trigger="0 seconds",
        report=lambda report: batches.append(report.batch),
    )
    wait_until(lambda: len(batches) >= count or not started.is_active)
    started.stop()

"""The mesh benchmark's predicates on Spark: the mesh beside the best single plan."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from pyspark.sql import SparkSession

from penstock.bench.contest import MASTER, apart
from penstock.bench.mesh.figures import Half
from penstock.bench.mesh.predicates import (
    Contest,
    Finish,
    Progress,
    Size,
    answer_in,
    contest_of,
    half_of,
)
from penstock.bench.mesh.predicates_data import SKEWED, UNIFORM
from penstock.engine.run.options import RunOptions
from penstock.engine.sinks.sink import parquet
from penstock.engine.spark.start import start
from penstock.plan.plan import Plan

ON_SPARK = Size(rows=12_500, files=16, batch=8, mixtures=(SKEWED, UNIFORM))
"""Starting a batch takes Spark some tenths of a second, whatever the plan: batches are larger."""
QUICK_ON_SPARK = Size(
    rows=6_000, files=4, batch=4, repeat=3, sampling=4.0, mixtures=(SKEWED, UNIFORM)
)

Turns = dict[str, dict[str, list[Finish]]]


def run_on_spark(size: Size, data: Path, progress: Progress) -> Half:
    """Run both plans `repeat` times on both kinds of data, taking turns in one session."""
    contests = [contest_of(size, mixture, data, "spark", progress) for mixture in size.mixtures]
    progress(f"predicates on Spark, {size.repeat} rounds")
    finishes = apart("the mesh on Spark", {}, partial(take_turns, contests, size.repeat))
    half = half_of(size, contests, finishes)
    return Half(half.skewed, half.uniform, {**half.setting, "master": MASTER})


def take_turns(
    contests: Sequence[Contest], repeat: int, spark: SparkSession, scratch: str
) -> Turns:
    """All runs; one more of each plan comes first, in which workers start and code is compiled."""
    finishes: Turns = {c.name: {rival: [] for rival in c.plans} for c in contests}
    for rival, plan in contests[0].plans.items():
        _run(plan, spark, f"{scratch}/warm-up-{rival}")
    for number in range(repeat):
        for contest in contests:
            for rival, plan in contest.in_turn(number):
                place = f"{scratch}/{number}-{contest.name}-{rival}"
                finishes[contest.name][rival].append(_run(plan, spark, place))
    return finishes


def _run(plan: Plan, spark: SparkSession, place: str) -> Finish:
    """One run over all there is, in seconds of wall time on all cores."""
    sink = parquet(f"{place}/results")
    started = time.perf_counter()
    run = start(plan, spark, RunOptions(sink=sink, checkpoint=f"{place}/state", available_now=True))
    run.await_termination()
    return Finish(time.perf_counter() - started, answer_in(sink.place.path))

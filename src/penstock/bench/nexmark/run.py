"""Nexmark run after run: every rival in a process of its own, on all queries one after another."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from penstock.bench.contest import apart
from penstock.bench.joins.flink import ABSENT, FlinkError, find_flink
from penstock.bench.native import STATE_FORMATS
from penstock.bench.nexmark.data import Events, ensure_events
from penstock.bench.nexmark.flink import run_flink
from penstock.bench.nexmark.native import run_spark
from penstock.bench.nexmark.ours import run_ours
from penstock.bench.nexmark.process_tree import TreeMeter, Usage
from penstock.bench.nexmark.queries import QUERIES
from penstock.bench.nexmark.rival import Data, Finish, Task
from penstock.errors import PenstockError

Progress = Callable[[str], None]
Contender = Callable[[Task], list[Finish]]

LITTLE = Events(rate=500, seconds=40, step=10)
"""Events over which the rows of all rivals are compared."""
EVENTS = Events(rate=100_000, seconds=30, step=2)
QUICK_EVENTS = Events(rate=20_000, seconds=30, step=5)


@dataclass(frozen=True)
class Size:
    """How much is run, how often, and with which of the state formats of Spark's own joins."""

    events: Events = EVENTS
    repeat: int = 3
    formats: tuple[str, ...] = tuple(STATE_FORMATS)
    queries: tuple[str, ...] = tuple(QUERIES)


QUICK = Size(QUICK_EVENTS, repeat=1, formats=("hdfs-v2",))


@dataclass(frozen=True)
class Run:
    """A measured run of a query, and what the processes of the rival used meanwhile."""

    finish: Finish
    usage: Usage


@dataclass(frozen=True)
class Outcome:
    """The runs of each rival (Spark's by state format) by query, or why there are none."""

    size: Size
    runs: Mapping[str, Mapping[str, Sequence[Run]]]
    absent: Mapping[str, str] = field(default_factory=dict)


def run_nexmark(size: Size, data: Path, progress: Progress) -> Outcome:
    """Run every rival `repeat` times, taking turns, so that a slow hour of the machine hits all."""
    _check(size)
    progress(f"making {size.events.count:,} events")
    little, whole = (Data(each, ensure_events(each, data)) for each in (LITTLE, size.events))
    task = Task(tuple(QUERIES[name] for name in size.queries), little, whole)
    runs: dict[str, dict[str, list[Run]]] = {}
    absent: dict[str, str] = {}
    rivals = contenders(size, absent)
    for number in range(1, size.repeat + 1):
        for name, contender in rivals.items():
            if name in absent:
                continue
            progress(f"{name}, run {number} of {size.repeat}")
            try:
                found = _metered(contender, task)
            except FlinkError as error:
                absent[name] = f"it failed: {error}"
                continue
            for run in found:
                runs.setdefault(name, {}).setdefault(run.finish.query, []).append(run)
    return Outcome(size, runs, absent)


def contenders(size: Size, absent: dict[str, str]) -> dict[str, Contender]:
    """The rivals by name, each a function of a task; who cannot run is told in `absent`."""
    rivals: dict[str, Contender] = {
        "penstock": partial(_on_spark, "penstock", {}, partial(run_ours, "parquet")),
        "penstock_csv": partial(_on_spark, "penstock_csv", {}, partial(run_ours, "csv")),
    }
    for name in size.formats:
        rivals[name] = partial(_on_spark, name, STATE_FORMATS[name], run_spark)
    python = find_flink()
    if python is None:
        absent["flink"] = ABSENT
    else:
        rivals["flink"] = partial(run_flink, python)
    return rivals


def _on_spark(
    name: str, settings: Mapping[str, str], run: Callable[..., list[Finish]], task: Task
) -> list[Finish]:
    return apart(name, settings, partial(run, task))


def _metered(contender: Contender, task: Task) -> list[Run]:
    with TreeMeter() as meter:
        finishes = contender(task)
    return [Run(each, meter.between(each.began, each.ended)) for each in finishes]


def _check(size: Size) -> None:
    for name in size.queries:
        if name not in QUERIES:
            hint = f"the queries are {', '.join(QUERIES)}"
            raise PenstockError(f"the benchmark has no query {name}", hint=hint)

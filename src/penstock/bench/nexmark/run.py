"""Nexmark run after run: every rival in a process of its own, on all queries one after another."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from statistics import median

from penstock.bench.contest import apart
from penstock.bench.joins.flink import ABSENT, FlinkError, find_flink
from penstock.bench.native import STATE_FORMATS
from penstock.bench.nexmark.data import Events, ensure_events
from penstock.bench.nexmark.flink import run_flink
from penstock.bench.nexmark.native import run_spark
from penstock.bench.nexmark.ours import run_ours
from penstock.bench.nexmark.process_tree import TreeMeter, Usage
from penstock.bench.nexmark.queries import QUERIES
from penstock.bench.nexmark.rival import Data, Ended, Failure, Finish, Task
from penstock.errors import PenstockError

Progress = Callable[[str], None]
Contender = Callable[[Task], list[Ended]]

LITTLE = Events(rate=500, seconds=40, step=5)
"""Events over which the rows of all rivals are compared."""
BACKENDS: Mapping[str, str] = {"flink-heap": "hashmap", "flink-rocksdb": "rocksdb"}
"""Where Flink has its state, by the name of the rival."""
EVENTS = Events(rate=100_000, seconds=20, step=5)
QUICK_EVENTS = Events(rate=20_000, seconds=30, step=5)


@dataclass(frozen=True)
class Size:
    """How much is run, how often, and with which of the formats that rivals have for state."""

    events: Events = EVENTS
    repeat: int = 3
    formats: tuple[str, ...] = tuple(STATE_FORMATS)
    backends: tuple[str, ...] = tuple(BACKENDS)
    queries: tuple[str, ...] = tuple(QUERIES)


QUICK = Size(QUICK_EVENTS, repeat=1, formats=("hdfs-v2",), backends=("flink-heap",))


@dataclass(frozen=True)
class Run:
    """A measured run of a query, and what the processes of the rival used meanwhile."""

    finish: Finish
    usage: Usage


@dataclass(frozen=True)
class Outcome:
    """The runs of each rival (Spark's and Flink's by where state is) by query. `absent` has why
    a rival, or one on some query, has none."""

    size: Size
    runs: Mapping[str, Mapping[str, Sequence[Run]]]
    absent: Mapping[str, str] = field(default_factory=dict)


def run_nexmark(size: Size, data: Path, progress: Progress) -> Outcome:
    """Run every rival `repeat` times, taking turns, so that a slow hour of the machine hits all."""
    _check(size)
    progress(f"making {size.events.count:,} events")
    little, whole = (Data(each, ensure_events(each, data)) for each in (LITTLE, size.events))
    task = Task(tuple(QUERIES[name] for name in size.queries), little, whole)
    race = _Race(size, task, progress)
    for number in range(1, size.repeat + 1):
        race.round(number)
    return Outcome(size, race.runs, race.absent)


class _Race:
    """The runs so far. Of a rival's formats of state all run once, then the faster, by query."""

    def __init__(self, size: Size, task: Task, progress: Progress):
        self.runs: dict[str, dict[str, list[Run]]] = {}
        self.absent: dict[str, str] = {}
        self._size, self._task, self._progress = size, task, progress
        self._rivals = contenders(size, self.absent)

    def round(self, number: int) -> None:
        """Have every rival run what is left to it."""
        for name, contender in self._rivals.items():
            queries = tuple(q for q in self._task.queries if self._has_part(name, q.name, number))
            if queries:
                self._keep(name, number, contender, replace(self._task, queries=queries))

    def _has_part(self, name: str, query: str, number: int) -> bool:
        if name in self.absent or f"{name} {query}" in self.absent:
            return False
        groups = (self._size.formats, self._size.backends)
        others = next((each for each in groups if name in each), (name,))
        return number == 1 or fastest(self.runs, query, others) == name

    def _keep(self, name: str, number: int, contender: Contender, task: Task) -> None:
        try:
            ended = _metered(contender, task)
        except FlinkError as error:
            self.absent[name] = f"it failed: {error}"
            self._progress(f"{name}: {self.absent[name]}")
            return
        for each in ended:
            self._progress(f"{name}, run {number} of {self._size.repeat}: {self._told(each)}")
            if isinstance(each, Failure):
                self.absent[f"{name} {each.query}"] = each.why
            else:
                self.runs.setdefault(name, {}).setdefault(each.finish.query, []).append(each)

    def _told(self, ended: Run | Failure) -> str:
        if isinstance(ended, Failure):
            return f"{ended.query} failed: {ended.why}"
        seconds = ended.finish.seconds
        rate = f"{self._size.events.count / seconds:,.0f} events/s in {seconds:.1f} s"
        return f"{ended.finish.query} {rate}, {ended.usage.cpu_s:.1f} s of CPU"


def fastest(
    runs: Mapping[str, Mapping[str, Sequence[Run]]], query: str, names: Sequence[str]
) -> str | None:
    """The one of some rivals that took the least time for a query; None if none did run."""
    taken = {
        name: median(run.finish.seconds for run in runs[name][query])
        for name in names
        if query in runs.get(name, {})
    }
    return min(taken, key=lambda name: taken[name], default=None)


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
        return rivals
    for name in size.backends:
        rivals[name] = partial(run_flink, python, backend=BACKENDS[name])
    return rivals


def _on_spark(
    name: str, settings: Mapping[str, str], run: Callable[..., list[Ended]], task: Task
) -> list[Ended]:
    return apart(name, settings, partial(run, task))


def _metered(contender: Contender, task: Task) -> list[Run | Failure]:
    with TreeMeter() as meter:
        ended = contender(task)
    return [
        each if isinstance(each, Failure) else Run(each, meter.between(each.began, each.ended))
        for each in ended
    ]


def _check(size: Size) -> None:
    for name in size.queries:
        if name not in QUERIES:
            hint = f"the queries are {', '.join(QUERIES)}"
            raise PenstockError(f"the benchmark has no query {name}", hint=hint)

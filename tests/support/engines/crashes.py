"""Runs in one process that kill themselves at a chosen point, as `kill -9` there would.

The points are made here by wrapping functions of the engine; the engine knows nothing of them.
"""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from random import Random
from typing import Any, NoReturn

import obstore

from penstock.adapt.training import reservoir, training_keeper, training_log
from penstock.cql import parse
from penstock.engine.join import pack, rebuild
from penstock.engine.local import open_run
from penstock.engine.places import creating
from penstock.engine.places.place import Place
from penstock.engine.run import commit, pipeline, turn
from penstock.engine.run.options import REBUILT_AT_ONCE, RunOptions
from penstock.engine.sinks import publish, publisher, sink
from penstock.engine.sinks.kafka.topic_writer import TopicWriter
from penstock.engine.sinks.sink import Sink
from penstock.engine.sources import spool, table_versions
from penstock.engine.sources.kafka import records, topic_log
from penstock.engine.sources.listing import file_log
from penstock.engine.state import manifest, store
from penstock.errors import CheckpointError
from penstock.plan.default_plan import default_plan
from penstock.plan.drops import NO_DROPS, DropBoxes
from penstock.plan.plan import Plan
from penstock.query import Query
from support import fresh_process
from support.engines.retrained import Retrained
from support.engines.runs import tree
from support.plans.every_kind import any_kind


@dataclass(frozen=True)
class Crash:
    """Die at the given call of a point, counted from 0; of those in the drain if `in_drain`."""

    point: str
    call: int
    in_drain: bool = False


@dataclass(frozen=True)
class Run:
    """What a process is to do. `shapes` are the trees that its batches take turns in, if any.

    Every second batch of a view aggregates the `early` inputs before the join. Multi-way plans
    recompute it where `recompute` names a stream. With a `seed` each batch has a plan of any kind.
    One that `trains` does so after each batch, and follows the mesh that this makes.
    """

    text: str
    checkpoint: str
    sink: str
    crash: Crash | None = None
    shapes: tuple[Any, ...] = ()
    drops: DropBoxes = NO_DROPS
    early: tuple[str, ...] = ()
    recompute: str | None = None
    seed: str | None = None
    rebuilt_at_once: int = REBUILT_AT_ONCE
    trains: bool = False

    def plan(self, batch: int) -> Plan:
        """The plan of a batch; None among the shapes stands for the multi-way plan."""
        query = parse(self.text)
        if self.seed is not None:
            return any_kind(query, Random(f"{self.seed} {batch}"))
        shape = self.shapes[batch % len(self.shapes)] if self.shapes else None
        plan = _flat(query, self.recompute) if shape is None else tree(query, shape)
        return replace(plan, drops=self.drops, early=self.early if batch % 2 else ())


def _flat(query: Query, recompute: str | None) -> Plan:
    plan = default_plan(query)
    return plan if recompute is None else replace(plan, recompute=recompute)


def exit_code(run: Run, killed_after: float | None = None) -> int | None:
    """How a fresh process that does the run ends: 0, or minus the signal that killed it.

    After so many seconds, if given, it is killed wherever it is.
    """
    return fresh_process.exit_code(perform, run, killed_after=killed_after)


def survived(run: Run, point: str, calls: Sequence[int], *, in_drain: bool = False) -> list[int]:
    """How runs ended that died at ever later calls of a point, until one came to its end."""
    codes = []
    for call in calls:
        codes.append(exit_code(replace(run, crash=Crash(point, call, in_drain))) or 0)
        if codes[-1] == 0:
            break
    return codes


def perform(run: Run) -> None:
    """Run over all there is and drain; nothing is left to do on a closed checkpoint."""
    if run.crash is not None:
        _arm_later(run.crash) if run.crash.in_drain else arm(run.crash)
    options = RunOptions(
        sink=Sink.named(run.sink),
        checkpoint=run.checkpoint,
        report=None if run.trains else lambda report: started.replan(run.plan(report.batch + 1)),
        rebuilt_at_once=run.rebuilt_at_once,
        supervisor=_trained(run) if run.trains else None,
    )
    try:
        started = open_run(run.plan(0), options)
    except CheckpointError as error:
        if "is closed" not in error.message:
            raise
        return
    if not run.trains:
        started.replan(run.plan(started.pipeline.manifest.batch + 1))
    started.available_now(drain=True)


def _trained(run: Run) -> Retrained:
    return Retrained(run.plan(0), parse(run.text), store.Store(Place.of(run.checkpoint)))


def _arm_later(crash: Crash) -> None:
    drain = pipeline.Pipeline.drain

    def armed(*arguments: Any) -> None:
        arm(crash)
        drain(*arguments)

    pipeline.Pipeline.drain = armed  # type: ignore[method-assign, assignment]


def arm(crash: Crash) -> None:
    """Have this process die at a point."""
    points = POINTS | TOPIC_POINTS | SINK_POINTS | TRAINING_POINTS | SPOOL_POINTS | TABLE_POINTS
    points |= STORE_POINTS | MORE_POINTS
    wrap, owner, name = points[crash.point]
    calls = count()
    function = getattr(owner, name)
    deadly = wrap(function)

    def counted(*arguments: Any, **named: Any) -> Any:
        chosen = deadly if next(calls) == crash.call else function
        return chosen(*arguments, **named)

    setattr(owner, name, counted)


def _die() -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("unreachable")


Function = Callable[..., Any]


def before(function: Function) -> Function:
    """In the place of a function."""

    def deadly(*arguments: Any, **named: Any) -> NoReturn:
        _die()

    return deadly


def after(function: Function) -> Function:
    """As soon as a function is done."""

    def deadly(*arguments: Any, **named: Any) -> NoReturn:
        function(*arguments, **named)
        _die()

    return deadly


def _after_all(function: Function) -> Function:
    """After a function that gives its results one by one."""

    def deadly(*arguments: Any, **named: Any) -> NoReturn:
        list(function(*arguments, **named))
        _die()

    return deadly


def _half_written(function: Function) -> Function:
    """Leave half of a file's bytes."""

    def deadly(self: store.Store, name: str, rows: Any) -> NoReturn:
        os.truncate(self.path(name), function(self, name, rows).size // 2)
        _die()

    return deadly


def _half_copied(function: Function) -> Function:
    """Copy half of what was staged to the end of a jsonl file."""

    def deadly(staged: Any, file: Any) -> NoReturn:
        data = staged.read()
        file.write(data[: len(data) // 2])
        file.flush()
        _die()

    return deadly


def _sent(function: Function) -> Function:
    """Have all records of a transaction at the brokers."""

    def deadly(self: TopicWriter, *arguments: Any) -> NoReturn:
        function(self, *arguments)
        assert self._producer is not None
        self._producer.flush(30)
        _die()

    return deadly


Wrap = Callable[[Function], Function]

POINTS: dict[str, tuple[Wrap, Any, str]] = {
    "before the file log": (before, file_log.FileLog, "_write"),
    "after the file log": (after, file_log.FileLog, "_write"),
    "before a rebuild": (before, rebuild.Rebuild, "call"),
    "in a rebuild": (_after_all, rebuild.Rebuild, "send"),
    "after a rebuild": (after, turn, "with_inner_state"),
    "before a chunk": (before, store.Store, "write_chunk"),
    "in a chunk": (_half_written, store.Store, "write_rows"),
    "after a chunk": (after, store.Store, "write_chunk"),
    "before the results are staged": (before, sink.PartWriter, "write"),
    "after the results are staged": (_after_all, sink.PartWriter, "close"),
    "before the commit": (before, manifest, "commit"),
    "in the commit, before the name": (before, os, "link"),
    "in the commit, after the name": (after, os, "link"),
    "after the commit": (after, manifest, "commit"),
    "in publishing files": (after, publish, "_move"),
    "in publishing lines": (_half_copied, shutil, "copyfileobj"),
    "after malformed rows are staged": (after, pack, "stage_kept"),
    "before malformed rows are kept": (before, commit, "publish_kept"),
    "after malformed rows are kept": (after, commit, "publish_kept"),
    "after publishing": (after, publisher, "publish"),
    "in the sweep": (before, manifest, "forget"),
    "after the sweep": (after, commit.Committer, "sweep"),
}
TOPIC_POINTS: dict[str, tuple[Wrap, Any, str]] = {
    "before the topic's log": (before, topic_log.TopicLog, "_add"),
    "after the topic's log": (after, topic_log.TopicLog, "_add"),
    "in forgetting a topic's log": (before, topic_log.TopicLog, "_forget"),
    "after records are read": (after, records, "fetched"),
}
"""Points of runs that read from Kafka."""
SINK_POINTS: dict[str, tuple[Wrap, Any, str]] = {
    "before the transaction": (before, TopicWriter, "_transact"),
    "after a record": (after, TopicWriter, "_send"),
    "before the transaction's end": (_sent, TopicWriter, "_send_all"),
    "after the transaction's end": (after, TopicWriter, "_commit"),
    "after the tail is read": (after, TopicWriter, "_is_found"),
}
"""Points of runs that write to Kafka."""
SPOOL_POINTS: dict[str, tuple[Wrap, Any, str]] = {
    "before the spool's list": (before, spool.Spool, "enter"),
    "after the spool's list": (after, spool.Spool, "enter"),
    "before the spool is swept": (before, spool.Spool, "sweep"),
}
"""Points of runs that read DataFrames."""
TRAINING_POINTS: dict[str, tuple[Wrap, Any, str]] = {
    "before training": (before, reservoir.Reservoir, "training"),
    "after training": (after, reservoir.Reservoir, "training"),
    "before training is kept": (before, training_keeper, "save_training"),
    "in keeping training": (before, training_log, "_number"),
    "after training is kept": (after, training_keeper, "save_training"),
}
"""Points of runs that train; their training is kept in a thread of its own."""
TABLE_POINTS: dict[str, tuple[Wrap, Any, str]] = {
    "before a table is copied": (before, table_versions.TableVersions, "_copied"),
    "after a table is copied": (after, table_versions.TableVersions, "_copied"),
    "before a version is forgotten": (before, table_versions.TableVersions, "passed"),
}
"""Points of runs over tables that change."""
STORE_POINTS: dict[str, tuple[Wrap, Any, str]] = {
    "in creating what must not be there": (after, creating, "create_object"),
    "between a copy and its original's end": (after, obstore, "copy"),
    "before objects are deleted": (before, obstore, "delete"),
}
"""Points of runs on object stores."""
MORE_POINTS: dict[str, tuple[Wrap, Any, str]] = {}
"""Points of others, who enter them here."""

"""`penstock run`: run a query on Spark or in this process."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from threading import Event
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.durations import positive_duration
from penstock.cli.laboratory import run_in_laboratory
from penstock.cli.plan_options import (
    Capacity,
    ExactOfKept,
    Functions,
    GoalText,
    Kinds,
    Off,
    Planning,
    PlanText,
    Shed,
    Stats,
    planned_query,
)
from penstock.cli.signals import Signals
from penstock.engines import BatchEngine
from penstock.errors import SinkError

if TYPE_CHECKING:
    from penstock.api import ContinuousQuery
    from penstock.cli.show.progress import Progress
    from penstock.duration import Duration
    from penstock.engine.sinks.sink import Sink


# What shells and typer give for Ctrl-C.
_INTERRUPTED = 130


def run(
    file: Annotated[str, typer.Argument(help="The query; - for stdin.")],
    engine: Annotated[BatchEngine, typer.Option(help="Where to run.")] = "spark",
    sink: Annotated[
        str, typer.Option(help="console, table (of a view), jsonl:PATH, parquet:DIR or noop.")
    ] = "console",
    checkpoint: Annotated[
        str | None, typer.Option(help="Folder or URI of the state; a later run goes on from it.")
    ] = None,
    trigger: Annotated[
        str | None, typer.Option(help="Look for new data this often, until Ctrl-C; e.g. 1s.")
    ] = None,
    available_now: Annotated[
        bool, typer.Option("--available-now", help="Read all there is, then end.")
    ] = False,
    drain: Annotated[
        bool,
        typer.Option("--drain", help="The streams end here: answer what waits, close the state."),
    ] = False,
    stats: Stats = None,
    goal: GoalText = "steady",
    capacity: Capacity = None,
    plan: PlanText = None,
    kinds: Kinds = "tree,multiway,mesh",
    off: Off = None,
    shed: Shed = False,
    exact_of_kept: ExactOfKept = False,
    functions: Functions = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace results that Penstock left in the sink.")
    ] = False,
    partitions: Annotated[
        int | None, typer.Option(min=1, help="Partitions of the state; default: the cores.")
    ] = None,
    eager: Annotated[
        bool, typer.Option("--eager", help="Laboratory: join tuple by tuple (engine local).")
    ] = False,
    every: Annotated[
        str | None, typer.Option(help="Laboratory: join every so often, e.g. 5s (engine local).")
    ] = None,
    expire: Annotated[
        str | None, typer.Option(help="Laboratory: clean windows this often; default: planned.")
    ] = None,
    cost: Annotated[
        list[str] | None,
        typer.Option(help="Laboratory: simulated clock; e.g. compares=1e-7; may be repeated."),
    ] = None,
    master: Annotated[str, typer.Option(help="Spark master.")] = "local[*]",
    conf: Annotated[
        list[str] | None, typer.Option(help="A Spark setting, key=value; may be repeated.")
    ] = None,
) -> None:
    """Run a query: every result once, in the sink; progress on stderr."""
    if drain and not available_now:
        raise typer.BadParameter("--drain goes with --available-now", param_hint="--drain")
    if trigger is not None and available_now:
        raise typer.BadParameter("either --trigger or --available-now", param_hint="--trigger")
    order = _Order(
        sink=_sink(sink),
        trigger=positive_duration(trigger or "1s", "--trigger"),
        available_now=available_now,
        drain=drain,
        partitions=partitions,
        overwrite=overwrite,
    )
    session = _Session(master, dict(_setting(text) for text in conf or []))
    is_laboratory = eager or every is not None
    wanted = Planning(stats, goal, capacity, plan, kinds, off, shed, exact_of_kept, functions)
    query = planned_query(file, wanted, "laboratory" if is_laboratory else engine)
    if sink == "table":
        from penstock.cli.show.live_table import check_table

        check_table(query.query)
    if is_laboratory:
        if engine != "local" or checkpoint is not None or trigger is not None:
            hint = "the laboratory needs --engine local, and takes no --checkpoint or --trigger"
            raise typer.BadParameter(hint, param_hint="--eager" if eager else "--every")
        run_in_laboratory(query, order.sink, None if eager else every, expire, cost, overwrite)
        return
    for note in _notes(query, order.sink, sink, checkpoint):
        print(f"note: {note}", file=sys.stderr)
    shown = _progress(query, is_live=sink == "table" and sys.stdout.isatty())
    try:
        with Signals() as signals, _folder(checkpoint) as place, shown as progress:
            if engine == "local":
                _run_here(query, order, place, progress, signals)
            else:
                _run_on_spark(query, order, place, progress, signals, session)
    except KeyboardInterrupt:
        print("stopped at once", file=sys.stderr)
        raise typer.Exit(_INTERRUPTED) from None


@dataclass(frozen=True)
class _Order:
    """Where results go, and when the run looks for data and ends."""

    sink: Sink
    trigger: Duration
    available_now: bool
    drain: bool
    partitions: int | None
    overwrite: bool


@dataclass(frozen=True)
class _Session:
    """The Spark session of the run, by its master and its settings."""

    master: str
    settings: dict[str, str]


def _folder(checkpoint: str | None) -> AbstractContextManager[str]:
    """The checkpoint, or one that is gone after the run."""
    from penstock.api import TemporaryCheckpoint

    return TemporaryCheckpoint() if checkpoint is None else nullcontext(checkpoint)


def _progress(query: ContinuousQuery, *, is_live: bool) -> AbstractContextManager[Progress]:
    """The progress of a run on stderr, or with the view above it on the terminal."""
    from penstock.cli.show.live_table import live_table
    from penstock.cli.show.progress import Progress

    return live_table(query.query) if is_live else Progress()


def _run_here(
    query: ContinuousQuery, order: _Order, checkpoint: str, progress: Progress, signals: Signals
) -> None:
    with query.local(
        sink=order.sink,
        checkpoint=checkpoint,
        trigger=order.trigger,
        available_now=order.available_now,
        drain=order.drain,
        partitions=order.partitions,
        overwrite=order.overwrite,
        report=progress,
    ) as run:
        signals.stop_with(run.stop)
        run.await_termination()


def _run_on_spark(
    query: ContinuousQuery,
    order: _Order,
    checkpoint: str,
    progress: Progress,
    signals: Signals,
    session: _Session,
) -> None:
    query.check(
        sink=order.sink,
        checkpoint=checkpoint,
        available_now=order.available_now,
        partitions=order.partitions,
        overwrite=order.overwrite,
    )
    from penstock.engine.spark.session import own_session

    print("starting Spark …", file=sys.stderr)
    with own_session(session.master, session.settings) as spark:
        run = query.start(
            spark,
            sink=order.sink,
            checkpoint=checkpoint,
            trigger=order.trigger,
            available_now=order.available_now,
            drain=order.drain,
            partitions=order.partitions,
            overwrite=order.overwrite,
            report=progress,
        )
        # An exception in the middle of a call to the JVM would spoil the connection.
        stopping = Event()
        signals.stop_with(stopping.set)
        while not stopping.is_set() and not run.await_termination(0.2):
            pass
        if stopping.is_set():
            run.stop()
            print("stopped", file=sys.stderr)


def _notes(
    query: ContinuousQuery, sink: Sink, written: str, checkpoint: str | None
) -> Iterator[str]:
    """The things to know before a query runs, a sentence each."""
    from penstock.optimize.shedding.feasible import doubts
    from penstock.plan.explain.notes import cross_notes, sample_notes

    if sink.kind == "console":
        yield f"{written}: a batch that is run again is shown again"
    if sink.is_exact and checkpoint is None:
        what = "join" if query.query.view is None else "view"
        yield f"without --checkpoint this {what} cannot go on later: its state is not kept"
    yield from query.known.notes
    yield from doubts(query.decision)
    yield from cross_notes(query.query)
    yield from sample_notes(query.plan)


def _sink(text: str) -> Sink:
    from penstock.engine.sinks.sink_text import sink_of

    try:
        return sink_of("console" if text == "table" else text)
    except SinkError as error:
        what = f"{error.message}; {error.hint}, or table (of a view)"
        raise typer.BadParameter(what, param_hint="--sink") from None


def _setting(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise typer.BadParameter(f"{text!r} is not key=value", param_hint="--conf")
    return key, value

"""`penstock run`: run a query on Spark or in this process."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from enum import StrEnum
from threading import Event
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.durations import micros_of
from penstock.cli.laboratory import run_in_laboratory
from penstock.cli.planning import (
    Capacity,
    ExactOfKept,
    Functions,
    GoalText,
    Kinds,
    Off,
    PlanText,
    Shed,
    Stats,
    planned_query,
)
from penstock.cli.signals import Signals
from penstock.errors import SinkError

if TYPE_CHECKING:
    from penstock.api import ContinuousQuery
    from penstock.cli.show.progress import Progress
    from penstock.engine.sinks.sink import Sink


# What shells and typer give for Ctrl-C.
_INTERRUPTED = 130


class Engine(StrEnum):
    """Where a query runs."""

    SPARK = "spark"
    LOCAL = "local"


def run(
    file: Annotated[str, typer.Argument(help="The query; - for stdin.")],
    engine: Annotated[Engine, typer.Option(help="Where to run.")] = Engine.SPARK,
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
    seconds = micros_of(trigger or "1s", "--trigger") / 1e6
    target = _sink(sink)
    settings = dict(_setting(text) for text in conf or [])
    is_laboratory = eager or every is not None
    query = planned_query(
        file,
        stats=stats,
        goal=goal,
        capacity=capacity,
        plan=plan,
        kinds=kinds,
        off=off,
        shed=shed,
        exact_of_kept=exact_of_kept,
        functions=functions,
        engine="laboratory" if is_laboratory else engine.value,
    )
    from penstock.api import TemporaryCheckpoint
    from penstock.cli.show.live_table import check_table, live_table
    from penstock.cli.show.progress import Progress

    if sink == "table":
        check_table(query.query)
    if is_laboratory:
        if engine is not Engine.LOCAL or checkpoint is not None or trigger is not None:
            hint = "the laboratory needs --engine local, and takes no --checkpoint or --trigger"
            raise typer.BadParameter(hint, param_hint="--eager" if eager else "--every")
        run_in_laboratory(query, target, None if eager else every, expire, cost, overwrite)
        return
    for note in _notes(query, target, sink, checkpoint):
        print(f"note: {note}", file=sys.stderr)
    is_live = sink == "table" and sys.stdout.isatty()
    folder = TemporaryCheckpoint() if checkpoint is None else nullcontext(checkpoint)
    progress = live_table(query.query) if is_live else Progress()
    try:
        with Signals() as signals, folder as place, progress as shown:
            order = _Order(query, target, place, partitions, overwrite, shown, signals)
            if engine is Engine.LOCAL:
                _run_here(order, None if available_now else seconds, drain)
            else:
                _run_on_spark(order, None if available_now else seconds, drain, master, settings)
    except KeyboardInterrupt:
        print("stopped at once", file=sys.stderr)
        raise typer.Exit(_INTERRUPTED) from None


@dataclass(frozen=True)
class _Order:
    """What to run, and where its state and results go."""

    query: ContinuousQuery
    sink: Sink
    checkpoint: str
    partitions: int | None
    overwrite: bool
    progress: Progress
    signals: Signals


def _run_here(order: _Order, every: float | None, drain: bool) -> None:
    run = order.query.local(
        sink=order.sink,
        checkpoint=order.checkpoint,
        partitions=order.partitions,
        overwrite=order.overwrite,
        report=order.progress,
    )
    order.signals.stop_with(run.stop)
    if every is None:
        run.available_now(drain=drain)
    else:
        run.every(every)


def _run_on_spark(
    order: _Order, every: float | None, drain: bool, master: str, settings: dict[str, str]
) -> None:
    order.query.check(
        sink=order.sink,
        checkpoint=order.checkpoint,
        available_now=every is None,
        partitions=order.partitions,
        overwrite=order.overwrite,
    )
    from penstock.engine.spark.session import own_session

    print("starting Spark …", file=sys.stderr)
    with own_session(master, settings) as spark:
        run = order.query.start(
            spark,
            sink=order.sink,
            checkpoint=order.checkpoint,
            trigger=every or 1.0,
            available_now=every is None,
            drain=drain,
            partitions=order.partitions,
            overwrite=order.overwrite,
            report=order.progress,
        )
        # An exception in the middle of a call to the JVM would spoil the connection.
        stopping = Event()
        order.signals.stop_with(stopping.set)
        while not stopping.is_set() and not run.await_termination(0.2):
            pass
        if stopping.is_set():
            run.stop()
            print("stopped", file=sys.stderr)


def _notes(
    query: ContinuousQuery, sink: Sink, written: str, checkpoint: str | None
) -> Iterator[str]:
    """What somebody who starts a query should know before it runs."""
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

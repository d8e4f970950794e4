"""`penstock run` in batches: on Spark, or in this process."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, nullcontext
from dataclasses import dataclass, replace
from threading import Event
from typing import TYPE_CHECKING, Any

import typer

from penstock.cli.durations import duration
from penstock.cli.running.signals import Signals
from penstock.cli.show.stopping import INTERRUPTED
from penstock.cli.show.voice import LogFormat, Voice
from penstock.engines import BatchEngine
from penstock.errors import SinkError
from penstock.light_start import loading

if TYPE_CHECKING:
    from penstock.api import ContinuousQuery
    from penstock.cli.show.json_progress import JsonProgress
    from penstock.cli.show.progress import Progress
    from penstock.engine.reports.report import Report
    from penstock.engine.run.options import RunOptions
    from penstock.engine.sinks.sink import Sink
    from penstock.query.source import Source

_PINNED = "it follows the plan that was pinned, {}; --replan on plans again"
# The checkpoint of a run that keeps none, until it begins and has a folder.
_TEMPORARY = "temporary"


@dataclass(frozen=True)
class Session:
    """The Spark session of a run, by its master, its settings, and what its tasks will run."""

    master: str
    settings: dict[str, str]
    has_functions: bool

    def opened(self, sources: Iterable[Source]) -> AbstractContextManager[Any]:
        """The session for queries over these sources, which is still warming up."""
        from penstock.engine.spark.session import own_session

        reads = reads_by_spark(sources)
        return own_session(
            self.master,
            self.settings,
            registers=reads,
            is_light=not reads and not self.has_functions,
            waits=False,
        )


@dataclass(frozen=True)
class Batches:
    """The options of a run as they were written."""

    sink: str
    checkpoint: str | None
    trigger: str | None
    available_now: bool
    drain: bool
    overwrite: bool
    partitions: int | None
    replan: str | None = None
    delay: str | None = None
    change: bool = False
    metrics: str | None = None
    log: LogFormat = "text"

    @property
    def voice(self) -> Voice:
        """What says on stderr how far the run has come."""
        return Voice(self.log)

    def stopped(self, how: str) -> str:
        """The last line of a run that a signal has ended: whether it can go on."""
        if self.checkpoint is None:
            return f"{how}; without --checkpoint nothing of it can go on"
        return f"{how}; the same command goes on from there"

    def options(self) -> RunOptions:
        """The same, checked; a usage error for what cannot be."""
        from penstock.engine.run.options import RunOptions

        if self.drain and not self.available_now:
            raise typer.BadParameter("--drain goes with --available-now", param_hint="--drain")
        if self.trigger is not None and self.available_now:
            raise typer.BadParameter("either --trigger or --available-now", param_hint="--trigger")
        return RunOptions.of(
            sink=sink_of_text(self.sink),
            checkpoint=_TEMPORARY if self.checkpoint is None else self.checkpoint,
            trigger=duration(self.trigger or "1s", "--trigger"),
            available_now=self.available_now,
            drain=self.drain,
            partitions=self.partitions,
            overwrite=self.overwrite,
            change=self.change,
            delay=None if self.delay is None else duration(self.delay, "--delay"),
        )

    def check_table(self, query: ContinuousQuery) -> None:
        """Refuse a table of results that are none."""
        from penstock.cli.show.live_table import check_table

        if self.sink == "table":
            check_table(query.query)


def run_in_batches(
    query: ContinuousQuery,
    engine: BatchEngine,
    batches: Batches,
    options: RunOptions,
    session: Session,
) -> None:
    """Run a query until it ends or is interrupted, with its progress on stderr."""
    from penstock.cli.show.live_table import live_table
    from penstock.optimize.shedding.feasible import refuse_infeasible

    voice = batches.voice
    for note in _notes(query, options.sink, batches):
        voice.note(note)
    is_live = batches.sink == "table" and sys.stdout.isatty() and not voice.is_json
    shown = live_table(query.query) if is_live else progress_of(voice)
    try:
        with Signals() as signals, folder_of(batches) as place, told(batches, shown) as report:
            refuse_infeasible(query.decision)
            options = replace(options, checkpoint=place, report=report)
            query, options = query.followed(options, batches.replan)
            if options.pin is not None:
                voice.note(_PINNED.format(options.pin))
            if engine == "local":
                _run_here(query, options, signals)
            else:
                _run_on_spark(query, options, signals, session, voice)
    except KeyboardInterrupt:
        voice.say(batches.stopped("stopped at once"))
        raise typer.Exit(INTERRUPTED) from None
    if signals.has_stopped:
        voice.say(batches.stopped("stopped"))


def folder_of(batches: Batches) -> AbstractContextManager[str]:
    """The checkpoint, or one that is gone after the run."""
    from penstock.api import temporary_checkpoint

    given = batches.checkpoint
    return temporary_checkpoint() if given is None else nullcontext(given)


def progress_of(voice: Voice) -> AbstractContextManager[Progress | JsonProgress]:
    """The progress of a run on stderr."""
    from penstock.cli.show.json_progress import JsonProgress
    from penstock.cli.show.progress import Progress

    return JsonProgress() if voice.is_json else Progress()


@contextmanager
def told(
    batches: Batches, shown: AbstractContextManager[Progress | JsonProgress]
) -> Iterator[Callable[[Report], None]]:
    """What takes the reports of a run: its progress, and metrics where they are wanted."""
    if batches.metrics is None:
        with shown as progress:
            yield progress
        return
    from penstock.cli.metrics.serving import address_of, serving

    with serving(address_of(batches.metrics), batches.voice.say) as meters, shown as progress:

        def both(report: Report) -> None:
            meters(report)
            progress(report)

        yield both


def _run_here(query: ContinuousQuery, options: RunOptions, signals: Signals) -> None:
    with loading():
        from penstock.engine.local import open_run

    with open_run(query.plan, options) as run:
        signals.stop_with(run.stop)
        run.await_termination()


def _run_on_spark(
    query: ContinuousQuery,
    options: RunOptions,
    signals: Signals,
    session: Session,
    voice: Voice,
) -> None:
    with loading():
        from penstock.engine.places.access import settings_of_spark, take_settings
        from penstock.engine.reports.announce import announced
        from penstock.engine.run.handle import head_of
        from penstock.engine.run.preflight import check_start
        from penstock.engine.state.hold import Hold

    take_settings(settings_of_spark(session.settings))
    check_start(query.query, options, "spark")
    with loading():
        from penstock.engine.spark.start import start

    with ExitStack() as stack:
        # Spark takes seconds to start: the run is known, and may be told something, before that.
        hold = stack.enter_context(closing(Hold(options.checkpoint)))
        stack.enter_context(announced(hold.store, head_of(query.query, options, "spark")))
        voice.say("starting Spark …")
        spark = stack.enter_context(session.opened(query.query.sources.values()))
        # An exception in the middle of a call to the JVM would spoil the connection.
        stopping = Event()
        with start(query.plan, spark, options, hold) as run:
            signals.stop_with(stopping.set)
            while not stopping.is_set() and not run.await_termination(0.2):
                pass


def reads_by_spark(sources: Iterable[Source]) -> bool:
    """Whether one of the sources is read by Spark, perhaps by a format of ours."""
    return any(source.format == "spark" for source in sources)


def _notes(query: ContinuousQuery, sink: Sink, batches: Batches) -> Iterator[str]:
    """The things to know before a query runs, a sentence each."""
    from penstock.optimize.shedding.feasible import doubts
    from penstock.plan.explain.notes import cross_notes, sample_notes

    if sink.kind == "console":
        yield f"{batches.sink}: a batch that is run again is shown again"
    if sink.is_exact and batches.checkpoint is None:
        joined = "join" if len(query.query.inputs) > 1 else "query"
        what = joined if query.query.view is None else "view"
        yield f"without --checkpoint this {what} cannot go on later: its state is not kept"
    yield from query.known.notes
    yield from doubts(query.decision)
    yield from cross_notes(query.query)
    yield from sample_notes(query.plan)


def sink_of_text(text: str) -> Sink:
    """The sink that was written; a usage error for what is none."""
    from penstock.engine.sinks.sink_text import sink_of

    try:
        return sink_of("console" if text == "table" else text)
    except SinkError as error:
        what = f"{error.message}; {error.hint}, or table (of a view)"
        raise typer.BadParameter(what, param_hint="--sink") from None


def setting(text: str) -> tuple[str, str]:
    """A Spark setting that was written key=value."""
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise typer.BadParameter(f"{text!r} is not key=value", param_hint="--conf")
    return key, value

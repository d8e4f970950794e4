"""`penstock run` of a script that asks several queries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from shlex import quote
from threading import Event
from typing import TYPE_CHECKING

import typer

from penstock.cli.running.batches import (
    Batches,
    Session,
    folder_of,
    progress_of,
    sink_of_text,
    told,
)
from penstock.cli.running.signals import Signals
from penstock.cli.show.stopping import INTERRUPTED
from penstock.cli.show.voice import Voice
from penstock.engines import BatchEngine

if TYPE_CHECKING:
    from penstock.continuous_script import ContinuousScript
    from penstock.engine.run.options import RunOptions
    from penstock.engine.sinks.sink import Sink
    from penstock.plan.script import PlannedScript

_SHARED = ("console", "noop")
"""Sinks that several queries may have in common."""


def run_script(
    script: ContinuousScript,
    engine: BatchEngine,
    batches: Batches,
    sinks: Sequence[str],
    session: Session,
) -> None:
    """Run all queries until they end or are interrupted, with their progress on stderr."""
    from penstock.continuous_script import sinks_by_name
    from penstock.optimize.script import refuse_infeasible_script

    given = {name: _sink(text) for name, text in _by_name(script, sinks).items()}
    by_name = sinks_by_name(script.script, given)
    options = replace(batches, sink="noop").options()
    voice = batches.voice
    for note in _notes(by_name, batches):
        voice.note(note)
    shown = progress_of(voice)
    try:
        with Signals() as signals, folder_of(batches) as place, told(batches, shown) as report:
            refuse_infeasible_script(script.planned_on(place))
            options = replace(options, checkpoint=place, report=report)
            planned, options = script.followed(options, batches.replan)
            if engine == "local":
                _run_here(planned, by_name, options, signals)
            else:
                _run_on_spark(planned, by_name, options, signals, session, voice)
    except KeyboardInterrupt:
        voice.say(batches.stopped("stopped at once"))
        raise typer.Exit(INTERRUPTED) from None
    if signals.has_stopped:
        voice.say(batches.stopped("stopped"))


def _by_name(script: ContinuousScript, texts: Sequence[str]) -> dict[str, str]:
    """The sinks by the queries that they are of; one alone needs no name."""
    shown = [member.name for member in script.script.shown]
    if len(texts) == 1 and "=" not in texts[0].partition(":")[0]:
        if texts[0] not in _SHARED and len(shown) > 1:
            raise _unclear(f"{texts[0]} cannot be the sink of {len(shown)} queries", shown)
        return dict.fromkeys(shown, texts[0])
    pairs = [text.partition("=") for text in texts]
    for name, equals, _ in pairs:
        if not equals:
            raise _unclear(f"{name!r} is of no query", shown)
    names = [name.lower() for name, _, _ in pairs]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise typer.BadParameter(f"{twice} has two sinks", param_hint="--sink")
    return {name: text for name, _, text in pairs}


def _unclear(what: str, shown: Sequence[str]) -> typer.BadParameter:
    example = " ".join(f"--sink {quote(each)}=jsonl:{quote(each)}.jsonl" for each in shown)
    return typer.BadParameter(f"{what}: write {example}", param_hint="--sink")


def _sink(text: str) -> Sink:
    if text == "table":
        raise typer.BadParameter("table is for scripts of one query", param_hint="--sink")
    return sink_of_text(text)


def _notes(sinks: dict[str, Sink], batches: Batches) -> Iterator[str]:
    """The things to know before a script runs, a sentence each."""
    if any(sink.kind == "console" for sink in sinks.values()):
        yield "console: a batch that is run again is shown again"
    if any(sink.is_exact for sink in sinks.values()) and batches.checkpoint is None:
        yield "without --checkpoint this script cannot go on later: its state is not kept"


def _run_here(
    planned: PlannedScript, sinks: dict[str, Sink], options: RunOptions, signals: Signals
) -> None:
    from penstock.engine.local import open_script

    with open_script(planned.script, planned.plans, sinks, options) as run:
        signals.stop_with(run.stop)
        run.await_termination()


def _run_on_spark(
    planned: PlannedScript,
    sinks: dict[str, Sink],
    options: RunOptions,
    signals: Signals,
    session: Session,
    voice: Voice,
) -> None:
    from penstock.engine.places.access import settings_of_spark, take_settings
    from penstock.engine.script.script_start import check_script_start
    from penstock.engine.state.hold import Hold

    take_settings(settings_of_spark(session.settings))
    check_script_start(planned.script, sinks, options, "spark")
    from penstock.engine.spark.start import start_script

    with ExitStack() as stack:
        hold = stack.enter_context(closing(Hold(options.checkpoint)))
        voice.say("starting Spark …")
        sources = [s for m in planned.script.members for s in m.query.sources.values()]
        spark = stack.enter_context(session.opened(sources))
        # An exception in the middle of a call to the JVM would spoil the connection.
        stopping = Event()
        with start_script(planned.script, planned.plans, sinks, spark, options, hold) as run:
            signals.stop_with(stopping.set)
            while not stopping.is_set() and not run.await_termination(0.2):
                pass

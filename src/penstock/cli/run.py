"""`penstock run`: run a query on Spark or in this process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

import typer

from penstock.cli.grouped_help import LABORATORY, SAFETY, SPARK, HelpAll
from penstock.cli.metrics.serving import address_of
from penstock.cli.plan_options import (
    ALL_KINDS,
    Capacity,
    EstimatorText,
    ExactOfKept,
    Functions,
    GoalText,
    Kinds,
    MeshText,
    Off,
    Planning,
    PlanText,
    ServersText,
    Shed,
    Stats,
    planned_query,
)
from penstock.cli.running.batches import Batches, Session, run_in_batches, setting
from penstock.cli.running.laboratory import Laboratory, run_in_laboratory
from penstock.cli.running.safety import safe_roots
from penstock.cli.running.scripts import run_script
from penstock.cli.show.voice import LogFormat
from penstock.engines import BatchEngine
from penstock.light_start import loading, start_light

_STRUCTURED = "spark.log.structuredLogging.enabled"
"""Spark's setting by which its own log is JSON, too."""


def run(
    file: Annotated[str, typer.Argument(help="The query; - for stdin.")],
    engine: Annotated[BatchEngine, typer.Option(help="Where to run.")] = "spark",
    sink: Annotated[
        list[str] | None,
        typer.Option(
            help="console (default), table, jsonl:PATH, parquet:DIR, kafka:SERVERS/TOPIC, noop; "
            "of several queries name=parquet:DIR, once for each."
        ),
    ] = None,
    checkpoint: Annotated[
        str | None, typer.Option(help="Folder or URI of the state, to go on later.")
    ] = None,
    trigger: Annotated[
        str | None, typer.Option(help="Look for new data this often, such as 1s.")
    ] = None,
    available_now: Annotated[
        bool, typer.Option("--available-now", help="Read all there is, then end.")
    ] = False,
    drain: Annotated[
        bool,
        typer.Option("--drain", help="The streams end here: answer all, close the state."),
    ] = False,
    stats: Stats = None,
    goal: GoalText = "steady",
    capacity: Capacity = None,
    plan: PlanText = None,
    kinds: Kinds = ALL_KINDS,
    off: Off = None,
    shed: Shed = False,
    delay: Annotated[
        str | None,
        typer.Option(help="With --shed: the delay of results; default 5s."),
    ] = None,
    exact_of_kept: ExactOfKept = False,
    functions: Functions = None,
    servers: ServersText = None,
    estimator: EstimatorText = "rates",
    mesh: MeshText = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace results that Penstock left in the sink.")
    ] = False,
    change: Annotated[
        bool,
        typer.Option("--change", help="Go on with the state although the query changed."),
    ] = False,
    partitions: Annotated[
        int | None,
        typer.Option(
            min=1, help="Partitions of the state; default: the cores.", rich_help_panel=SPARK
        ),
    ] = None,
    replan: Annotated[
        Literal["on", "advise", "off"] | None,
        typer.Option(help="Plan anew on drift; default on, off with --plan."),
    ] = None,
    eager: Annotated[
        bool,
        typer.Option("--eager", help="Join tuple by tuple.", rich_help_panel=LABORATORY),
    ] = False,
    every: Annotated[
        str | None,
        typer.Option(help="Join every so often, e.g. 5s.", rich_help_panel=LABORATORY),
    ] = None,
    expire: Annotated[
        str | None,
        typer.Option(
            help="Clean windows this often; default: planned.", rich_help_panel=LABORATORY
        ),
    ] = None,
    buckets: Annotated[
        list[str] | None,
        typer.Option(
            help="Buckets of a window, A=16; may be repeated.", rich_help_panel=LABORATORY
        ),
    ] = None,
    sweep: Annotated[
        Literal["windows", "buckets"] | None,
        typer.Option(help="What cleaning looks at; default windows.", rich_help_panel=LABORATORY),
    ] = None,
    cost: Annotated[
        list[str] | None,
        typer.Option(
            help="Simulated clock, as known or compares=1e-7; repeatable.",
            rich_help_panel=LABORATORY,
        ),
    ] = None,
    metrics: Annotated[
        str | None,
        typer.Option(metavar="<port>", help="Serve figures for Prometheus; or HOST:PORT."),
    ] = None,
    log: Annotated[LogFormat, typer.Option(help="Progress as text or JSON lines.")] = "text",
    safe: Annotated[
        bool,
        typer.Option(
            "--safe",
            help="Let it read and write nothing elsewhere, and call no functions.",
            rich_help_panel=SAFETY,
        ),
    ] = False,
    root: Annotated[
        list[str] | None,
        typer.Option(
            help="With --safe: a folder that it may touch; default: this one.",
            rich_help_panel=SAFETY,
        ),
    ] = None,
    master: Annotated[str, typer.Option(help="Spark master.", rich_help_panel=SPARK)] = "local[*]",
    conf: Annotated[
        list[str] | None,
        typer.Option(help="A Spark setting, key=value; may be repeated.", rich_help_panel=SPARK),
    ] = None,
    help_all: HelpAll = False,
) -> None:
    """Run a query: every result once, in the sink; progress on stderr.

    Example: penstock run query.cql --engine local --available-now
    """
    is_laboratory = eager or every is not None
    if eager and every is not None:
        raise typer.BadParameter("is every tuple: leave out --every", param_hint="--eager")
    if not is_laboratory:
        is_over_time = goal != "steady"
        _refuse_in_batches(
            {
                "--expire": expire is not None,
                "--buckets": bool(buckets),
                "--sweep": sweep is not None,
                "--cost": bool(cost),
                "--servers": servers is not None and not is_over_time,
            }
        )
    sinks = tuple(sink or ("console",))
    roots = safe_roots(safe, root, functions, (*sinks, checkpoint or ""))
    batches = Batches(
        *(sinks[-1], checkpoint, trigger, available_now, drain, overwrite, partitions),
        replan,
        delay,
        change,
        metrics,
        log,
    )
    if metrics is not None:
        address_of(metrics)
    with loading():
        if functions is None and not is_laboratory:
            start_light()
        from penstock.api import ContinuousQuery
        from penstock.engine.state.checkpoint import is_of_script
    logged = {_STRUCTURED: "true"} if log == "json" else {}
    settings = logged | dict(map(setting, conf or []))
    session = Session(master, settings, has_functions=functions is not None)
    laboratory = Laboratory(every, expire, cost, servers, tuple(buckets or ()), sweep == "buckets")
    wanted = Planning(
        *(stats, goal, capacity, plan, kinds, off, shed, exact_of_kept, functions),
        servers=servers or "shared",
        estimator=estimator,
        mesh=mesh,
        roots=roots,
    )
    if len(sinks) == 1 and "=" not in sinks[0]:
        batches.options()
    with batches.voice.errors():
        # Of a script that asked several queries one may be left.
        several = not is_laboratory and checkpoint is not None and is_of_script(checkpoint)
        planned_for = "laboratory" if is_laboratory else engine
        with loading():
            query = planned_query(file, wanted, planned_for, several=several)
        if not isinstance(query, ContinuousQuery):
            run_script(query, engine, batches, sinks, session)
            return
        if len(sinks) > 1:
            raise typer.BadParameter("the script asks one query: give one", param_hint="--sink")
        options = batches.options()
        batches.check_table(query)
        if is_laboratory:
            _refuse_in_laboratory(engine, batches, "--eager" if eager else "--every")
            run_in_laboratory(query, laboratory, options.sink, overwrite=overwrite)
        else:
            run_in_batches(query, engine, batches, options, session)


def _refuse_in_batches(given: Mapping[str, bool]) -> None:
    """Refuse options that nothing but the laboratory obeys."""
    for option, is_given in given.items():
        if is_given:
            more = ", or a --goal over time" if option == "--servers" else ""
            hint = f"is for the laboratory: add --engine local and --eager or --every{more}"
            raise typer.BadParameter(hint, param_hint=option)


def _refuse_in_laboratory(engine: BatchEngine, batches: Batches, option: str) -> None:
    if engine != "local" or batches.checkpoint is not None or batches.trigger is not None:
        hint = "the laboratory needs --engine local, and takes no --checkpoint or --trigger"
        raise typer.BadParameter(hint, param_hint=option)
    for name, is_given in (
        ("--metrics", batches.metrics is not None),
        ("--log json", batches.voice.is_json),
    ):
        if is_given:
            raise typer.BadParameter("the laboratory runs in no batches", param_hint=name)

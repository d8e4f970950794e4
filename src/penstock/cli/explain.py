"""`penstock explain`: the plan of a query, without Java and without touching the data."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.durations import positive_duration
from penstock.cli.grouped_help import HelpAll
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
from penstock.engines import EngineName
from penstock.errors import SinkError
from penstock.plan.explain import Format

if TYPE_CHECKING:
    from penstock.api import ContinuousQuery
    from penstock.continuous_script import ContinuousScript


def explain(
    file: Annotated[str, typer.Argument(help="The query; - for stdin.")],
    stats: Stats = None,
    goal: GoalText = "steady",
    capacity: Capacity = None,
    alternatives: Annotated[
        bool, typer.Option("--alternatives", help="Show the other plans too, best first.")
    ] = False,
    format: Annotated[Format, typer.Option(help="How to show the plan.")] = Format.TEXT,
    plan: PlanText = None,
    kinds: Kinds = ALL_KINDS,
    off: Off = None,
    shed: Shed = False,
    exact_of_kept: ExactOfKept = False,
    functions: Functions = None,
    servers: ServersText = None,
    estimator: EstimatorText = "rates",
    mesh: MeshText = None,
    engine: Annotated[
        EngineName, typer.Option(help="Whose measured costs to reckon with.")
    ] = "spark",
    every: Annotated[
        str | None, typer.Option(help="Plan for joins every so often, e.g. 5s (laboratory).")
    ] = None,
    output: Annotated[
        Path | None, typer.Option(help="Write to this file instead of stdout.")
    ] = None,
    help_all: HelpAll = False,
) -> None:
    """Show the plan of a query, its rates, work and state; needs no Java, no data.

    Example: penstock explain query.cql --alternatives
    """
    wanted = Planning(
        *(stats, goal, capacity, plan, kinds, off, shed, exact_of_kept, functions),
        servers=servers or "shared",
        estimator=estimator,
        mesh=mesh,
    )
    query = planned_query(file, wanted, engine)
    if every is not None:
        query = _joined_every(query, every)
    text = query.explain(format, alternatives)
    if output is None:
        sys.stdout.write(text)
    else:
        _write(output, text)


def _joined_every(
    query: ContinuousQuery | ContinuousScript, every: str
) -> ContinuousQuery | ContinuousScript:
    if query.options.engine != "laboratory":
        raise typer.BadParameter("only --engine laboratory joins so", param_hint="--every")
    interval = positive_duration(every, "--every")
    return replace(query, options=replace(query.options, interval=interval.seconds))


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        hint = "give --output a file in a directory that exists and is writable"
        raise SinkError(f"cannot write {path}: {error.strerror}", hint=hint) from error
    print(f"wrote {path}", file=sys.stderr)

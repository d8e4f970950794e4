"""The options that `explain` and `run` share: what is known of a query and wanted of its plan."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, cast

import typer

from penstock.cli.script import read_query

if TYPE_CHECKING:
    from penstock.api import ContinuousQuery
    from penstock.stats.calibration import Engine


class Target(StrEnum):
    """The engines whose costs a plan can be reckoned with."""

    SPARK = "spark"
    LOCAL = "local"
    LABORATORY = "laboratory"


Stats = Annotated[
    str | None, typer.Option(help="What is known of the streams: a TOML file, as analyze writes.")
]
GoalText = Annotated[str, typer.Option(help="steady, first:N or by:T, such as by:5s.")]
Capacity = Annotated[
    float | None, typer.Option(help="CPU-seconds a second that there are; default 1.")
]
PlanText = Annotated[
    str | None,
    typer.Option(help="Force a plan: '((A B) C)', 'A: B C; B: A C; C: B A', eddy or eddy:100."),
]
Kinds = Annotated[str, typer.Option(help="Kinds of plans to consider: tree,multiway,mesh.")]
Off = Annotated[
    str | None,
    typer.Option(
        help="Optimisations to switch off, such as bushy,products; docs/planner.md lists them."
    ),
]
Shed = Annotated[
    bool, typer.Option("--shed", help="Drop tuples where no plan keeps up; else that is refused.")
]
ExactOfKept = Annotated[
    bool,
    typer.Option(
        "--exact-of-kept", help="Of a view that is shed, the plain values instead of estimates."
    ),
]
Functions = Annotated[
    str | None, typer.Option(help="A Python file with functions that the query calls.")
]


def planned_query(
    file: str,
    *,
    stats: str | None,
    goal: str,
    capacity: float | None,
    plan: str | None,
    kinds: str,
    off: str | None,
    shed: bool,
    exact_of_kept: bool,
    functions: str | None,
    engine: str = "spark",
) -> ContinuousQuery:
    """The query of a script with what is known of it and wanted of its plan."""
    from penstock.api import ContinuousQuery, know, plan_options

    query = read_query(file, functions)
    target = cast("Engine", engine)
    options = plan_options(
        goal, plan, _names(kinds), _names(off or ""), shed, target, exact_of_kept
    )
    known = know(query, stats, capacity, target)
    return ContinuousQuery(query, known, options)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]

"""The options that `explain` and `run` share: what is known of a query and wanted of its plan."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.grouped_help import PLANNING
from penstock.optimize.options import KINDS, Estimator, Servers

if TYPE_CHECKING:
    from penstock.api import ContinuousQuery
    from penstock.continuous_script import ContinuousScript
    from penstock.engines import EngineName

ALL_KINDS = ",".join(KINDS)

Stats = Annotated[
    str | None, typer.Option(help="What is known of streams: a TOML file, by analyze.")
]
GoalText = Annotated[
    str,
    typer.Option(
        help="steady (default), first:N, first:25%, first:all or by:T, as by:5s.",
        show_default=False,
        rich_help_panel=PLANNING,
    ),
]
Capacity = Annotated[
    float | None,
    typer.Option(help="CPU-seconds a second that there are; default 1.", rich_help_panel=PLANNING),
]
PlanText = Annotated[
    str | None,
    typer.Option(help="Force a plan: '((A B) C)', 'A: B; B: A', 'mesh A: …', eddy, eddy:100."),
]
MeshText = Annotated[
    str | None,
    typer.Option(
        help="How meshes are searched for: 'search=sa, ruster=100'; docs/planner.md.",
        rich_help_panel=PLANNING,
    ),
]
Kinds = Annotated[
    str,
    typer.Option(
        help=f"Kinds of plans to consider; default {ALL_KINDS}.",
        show_default=False,
        rich_help_panel=PLANNING,
    ),
]
Off = Annotated[
    str | None,
    typer.Option(
        help="Optimisations to switch off, as bushy,products; docs/planner.md.",
        rich_help_panel=PLANNING,
    ),
]
Shed = Annotated[bool, typer.Option("--shed", help="Drop tuples where no plan keeps up.")]
ExactOfKept = Annotated[
    bool,
    typer.Option(
        "--exact-of-kept",
        help="Of a view that is shed, the plain values instead of estimates.",
        rich_help_panel=PLANNING,
    ),
]
Functions = Annotated[
    str | None, typer.Option(help="A Python file with functions that the query calls.")
]


ServersText = Annotated[
    Servers | None,
    typer.Option(
        help="One server, or one each: goals over time, laboratory.", rich_help_panel=PLANNING
    ),
]
EstimatorText = Annotated[
    Estimator,
    typer.Option(
        metavar="<rates|…>",
        help="Compare plans by rates, or by cardinality as others do.",
        show_default=False,
        rich_help_panel=PLANNING,
    ),
]


@dataclass(frozen=True)
class Planning:
    """The planning options of a command line."""

    stats: str | None = None
    goal: str = "steady"
    capacity: float | None = None
    plan: str | None = None
    kinds: str = ALL_KINDS
    off: str | None = None
    shed: bool = False
    exact_of_kept: bool = False
    functions: str | None = None
    servers: Servers = "shared"
    estimator: Estimator = "rates"
    mesh: str | None = None
    roots: tuple[str, ...] | None = None


def planned_query(
    file: str, wanted: Planning, engine: EngineName = "spark", *, several: bool = False
) -> ContinuousQuery | ContinuousScript:
    """The query of a script's file, `-` being stdin, to be planned as is wanted; or all its queries
    if it asks several, or might have done so."""
    from penstock.api import sql
    from penstock.cql.script_file import decoded

    is_piped = file == "-"
    return sql(
        decoded(sys.stdin.buffer.read, "stdin") if is_piped else Path(file),
        stats=wanted.stats,
        goal=wanted.goal,
        capacity=wanted.capacity,
        plan=wanted.plan,
        kinds=wanted.kinds,
        off=wanted.off or "",
        shed=wanted.shed,
        exact_of_kept=wanted.exact_of_kept,
        functions=wanted.functions or (),
        mesh=wanted.mesh or "",
        engine=engine,
        file="stdin" if is_piped else file,
        servers=wanted.servers,
        estimator=wanted.estimator,
        roots=wanted.roots,
        several=several,
    )

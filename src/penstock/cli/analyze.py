"""`penstock analyze`: sample the sources of a query and write what they tell as a stats file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.control.measured import measured
from penstock.cli.plan_options import Planning, planned_query
from penstock.cli.show.stopping import stoppable
from penstock.errors import SinkError, UsageError

if TYPE_CHECKING:
    from penstock.query import Query
    from penstock.stats.statistics import Statistics


def analyze(
    file: Annotated[
        str | None,
        typer.Argument(
            help="The query; - for stdin. With --from, default: that of the checkpoint."
        ),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="CHECKPOINT",
            help="Sample nothing: write what a run on this checkpoint has measured.",
        ),
    ] = None,
    rows: Annotated[int, typer.Option(min=1, help="Sample so many tuples a source.")] = (100_000),
    seconds: Annotated[
        float, typer.Option(min=0.1, help="Try conditions for about so long.")
    ] = 10.0,
    output: Annotated[
        Path | None,
        typer.Option(help="Write to this file instead of stdout, and training beside it."),
    ] = None,
    functions: Annotated[
        str | None, typer.Option(help="A Python file with functions that the query calls.")
    ] = None,
) -> None:
    """Sample the sources and write a stats file: rates, distinct counts, selectivities, costs.

    Example: penstock analyze query.cql --output query.toml
    """
    from penstock.stats.files.dump import dump

    if file is None and source is None:
        raise typer.BadParameter("give a query, or --from CHECKPOINT", param_hint="FILE")
    query = None if file is None else _query(file, functions)
    if source is not None:
        found = measured(source, query, functions)
    else:
        assert query is not None, "there is one or the other"
        with stoppable("no statistics were written"):
            found = _with_progress(query, rows, seconds)
    if output is None:
        sys.stdout.write(dump(found))
    else:
        _save(found, output)


def _query(file: str, functions: str | None) -> Query:
    """The query of a script, which asks one alone."""
    from penstock.api import ContinuousQuery

    found = planned_query(file, Planning(functions=functions))
    if not isinstance(found, ContinuousQuery):
        message = "the script asks several queries, and analyze samples one"
        raise UsageError(message, hint="give it a script with one of them, over declared streams")
    return found.query


def _with_progress(query: Query, rows: int, seconds: float) -> Statistics:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    from penstock.sampling.analyze import analyze

    console = Console(file=sys.stderr)
    if not console.is_terminal:
        return analyze(query, rows, seconds, _Lines())
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=console) as bars:
        tasks = {name: bars.add_task(name, total=rows) for name in query.sources}
        return analyze(
            query, rows, seconds, lambda name, count: bars.update(tasks[name], completed=count)
        )


class _Lines:
    """Tells how far sampling has come: a line whenever twice as much of a source has been read."""

    def __init__(self) -> None:
        self._told: dict[str, int] = {}

    def __call__(self, name: str, count: int) -> None:
        if count >= 2 * self._told.get(name, 0):
            self._told[name] = max(count, 1)
            print(f"sampling {name}: {count:,} tuples", file=sys.stderr, flush=True)


def _save(statistics: Statistics, path: Path) -> None:
    from penstock.stats.files.save import save

    try:
        for written in save(statistics, path):
            print(f"wrote {written}", file=sys.stderr)
    except OSError as error:
        hint = "give --output a file in a directory that exists and is writable"
        raise SinkError(f"cannot write {path}: {error.strerror}", hint=hint) from error

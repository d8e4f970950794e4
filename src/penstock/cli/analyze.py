"""`penstock analyze`: sample the sources of a query and write what they tell as a stats file."""

from __future__ import annotations

import os
import sys
import uuid
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.script import read_query
from penstock.errors import SinkError

if TYPE_CHECKING:
    from penstock.query import Query
    from penstock.stats.statistics import Statistics


def analyze(
    file: Annotated[str, typer.Argument(help="The query; - for stdin.")],
    rows: Annotated[int, typer.Option(min=1, help="Read at most so many tuples a source.")] = (
        100_000
    ),
    seconds: Annotated[float, typer.Option(min=0.1, help="Take about so long.")] = 10.0,
    output: Annotated[
        Path | None, typer.Option(help="Write to this file instead of stdout.")
    ] = None,
    functions: Annotated[
        str | None, typer.Option(help="A Python file with functions that the query calls.")
    ] = None,
) -> None:
    """Sample the sources and write a stats file: rates, distinct counts, selectivities, costs."""
    from penstock.stats.dump import dump

    text = dump(_with_progress(read_query(file, functions), rows, seconds))
    if output is None:
        sys.stdout.write(text)
    else:
        _write(output, text)
        print(f"wrote {output}", file=sys.stderr)


def _with_progress(query: Query, rows: int, seconds: float) -> Statistics:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    from penstock.monitor.analyze import analyze

    console = Console(file=sys.stderr)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as bars:
        names = dict.fromkeys(item.source.name for item in query.inputs)
        tasks = {name: bars.add_task(name, total=rows) for name in names}
        return analyze(
            query, rows, seconds, lambda name, count: bars.update(tasks[name], completed=count)
        )


def _write(path: Path, text: str) -> None:
    """All of the text, or nothing: what stood there before stays until the new file is whole."""
    part = path.with_name(f".{path.name}.{uuid.uuid4().hex}.part")
    try:
        part.write_text(text, encoding="utf-8")
        os.replace(part, path)
    except OSError as error:
        with suppress(OSError):
            part.unlink()
        hint = "give --output a file in a directory that exists and is writable"
        raise SinkError(f"cannot write {path}: {error.strerror}", hint=hint) from error

"""`penstock explain`: the plan of a query, without Java and without touching the data."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from penstock.cli.script import read_query
from penstock.errors import SinkError
from penstock.plan.choose import default_plan
from penstock.plan.explain import Format
from penstock.plan.explain import explain as explain_plan
from penstock.plan.force import forced_plan


def explain(
    file: Annotated[str, typer.Argument(help="The query; - for stdin.")],
    format: Annotated[Format, typer.Option(help="How to show the plan.")] = Format.TEXT,
    plan: Annotated[
        str | None, typer.Option(help="Force a plan: 'A: B C; B: A/nested C; C: B A'.")
    ] = None,
    alternatives: Annotated[
        bool, typer.Option("--alternatives", help="Show the other plans too.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option(help="Write to this file instead of stdout.")
    ] = None,
) -> None:
    """Show the plan of a query, its windows, rates and state; needs no Java and no data."""
    query = read_query(file)
    chosen = default_plan(query) if plan is None else forced_plan(query, plan)
    text = explain_plan(chosen, format, alternatives)
    if output is None:
        sys.stdout.write(text)
    else:
        _write(output, text)


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        hint = "give --output a file in a directory that exists and is writable"
        raise SinkError(f"cannot write {path}: {error.strerror}", hint=hint) from error
    print(f"wrote {path}", file=sys.stderr)

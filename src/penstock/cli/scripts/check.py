"""`penstock check`: all mistakes of scripts at once, without running them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.cli.scripts.findings import Checked


def check(
    files: Annotated[list[str], typer.Argument(help="The scripts; - for stdin.")],
    format: Annotated[
        Literal["text", "json"], typer.Option(help="How to show what is found.")
    ] = "text",
    functions: Annotated[
        str | None, typer.Option(help="A Python file with functions that the queries call.")
    ] = None,
) -> None:
    """Find all mistakes of scripts at once, each with its place and a hint; nothing is run.

    Files that are not there are warnings. Exits with 1 if there is an error in any script.

    Example: penstock check queries/*.cql
    """
    from penstock.cli.scripts.findings import check_file
    from penstock.cql.declare.function_file import load_functions

    known = () if functions is None else load_functions(functions)
    checked = [
        check_file(sys.stdin.buffer.read, "stdin", known)
        if file == "-"
        else check_file(Path(file).read_bytes, file, known)
        for file in files
    ]
    sys.stdout.write(as_json(checked) if format == "json" else as_text(checked))
    if not all(each.is_right for each in checked):
        raise typer.Exit(1)


def as_text(checked: Sequence[Checked]) -> str:
    """Each finding as errors are shown, and a line of each script."""
    parts = []
    for each in checked:
        parts += [f"{finding.severity}: {finding.error}\n\n" for finding in each.findings]
        parts.append(f"{each.file}: {_summary(each)}\n")
    return "".join(parts)


def _summary(checked: Checked) -> str:
    counts = [(checked.count(kind), kind) for kind in ("error", "warning")]
    said = [f"{count} {kind}{'s' if count > 1 else ''}" for count, kind in counts if count]
    return ", ".join(said) or "ok"


def as_json(checked: Sequence[Checked]) -> str:
    """The findings for programs: version 1."""
    document = {
        "version": 1,
        "ok": all(each.is_right for each in checked),
        "files": [each.as_json() for each in checked],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"

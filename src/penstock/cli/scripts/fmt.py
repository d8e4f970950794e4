"""`penstock fmt`: scripts in one layout."""

from __future__ import annotations

import sys
from difflib import unified_diff
from pathlib import Path
from typing import Annotated

import typer


def fmt(
    files: Annotated[list[str], typer.Argument(help="The scripts; - for stdin, to stdout.")],
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit with 1 if a script would change.")
    ] = False,
    diff: Annotated[
        bool, typer.Option("--diff", help="Write nothing; show what would change.")
    ] = False,
) -> None:
    """Lay scripts out in one way: a clause a line, keywords in capitals, comments kept.

    Only whitespace and the case of keywords change, never what a script means.

    Example: penstock fmt --diff queries/*.cql
    """
    from penstock.atomic import write_text
    from penstock.cql.formatting.format import formatted
    from penstock.cql.script_file import decoded

    changed = 0
    for file in files:
        is_piped = file == "-"
        name = "stdin" if is_piped else file
        text = decoded(sys.stdin.buffer.read if is_piped else Path(file).read_bytes, name)
        made = formatted(text, name)
        changed += made != text
        if diff:
            sys.stdout.write(_difference(text, made, name))
        elif is_piped and not check:
            sys.stdout.write(made)
        elif made != text:
            print(f"{'would change' if check else 'changed'} {name}", file=sys.stderr)
        if made != text and not (check or diff or is_piped):
            path = Path(file).resolve()
            write_text(path, made, path.stat().st_mode)
    if check and changed:
        raise typer.Exit(1)


def _difference(before: str, after: str, name: str) -> str:
    """A unified diff; a last line without its end is told."""
    lines = unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), name, name
    )
    note = "\n\\ No newline at end of file\n"
    return "".join(line if line.endswith("\n") else line + note for line in lines)

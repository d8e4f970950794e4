"""The page of all commands: what each says when it is asked for help."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from typer.main import get_command
from typer.testing import CliRunner

from penstock.cli.main import app

_HEAD = """\
# Commands

What every command says with `--help`, or with `--help-all` if it has that. Data goes to stdout,
all else to stderr; the exit code is 0 if it is done, 1 if it was refused or failed, 2 if it was
called wrongly.
"""
_WIDTH = 100

Words = tuple[str, ...]
"""A command with the groups that it is in, `penstock` first."""


def command_page() -> str:
    """All of it."""
    sections = (f"## {' '.join(path)}\n\n```text\n{_help(path)}\n```" for path in _commands())
    return "\n\n".join([_HEAD, *sections]) + "\n"


def _commands(command: Any = None, path: Words = ("penstock",)) -> Iterator[Words]:
    """The ways to all commands, groups among them."""
    command = get_command(app) if command is None else command
    yield path
    for name, inner in getattr(command, "commands", {}).items():
        yield from _commands(inner, (*path, name))


def _help(path: Words) -> str:
    """All that a command says of itself."""
    brief = _said(path, "--help")
    return _said(path, "--help-all") if "--help-all" in brief else brief


def _said(path: Words, option: str) -> str:
    words = [*path[1:], option]
    asked = CliRunner().invoke(app, words, terminal_width=_WIDTH, prog_name="penstock")
    assert asked.exit_code == 0, asked.output
    return asked.stdout.strip()

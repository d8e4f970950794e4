"""The commands of a page, looked at without running them: what they name must be there."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterator
from typing import Any

from typer.main import get_command

from penstock.cli.main import app
from support.paths import ROOT

_OPTIONAL = re.compile(r"\[(--[^\]]*)\]")
_EITHER = re.compile(r"(?<![\w'\"|])([\w-]+)(?:\|[\w-]+)+")
_EXTRA = re.compile(r"'penstock\[(\w+)\]'")
_SHELL = re.compile(r" (?:\|\| true|&& |> |\| (?:head|tail|grep|sort|python)\b)")
_PROMPT = "$ "
_OURS = ("penstock ", "python ", "make ")


def commands(text: str) -> Iterator[str]:
    """The commands of a block: lines, of which those that end with a backslash go on."""
    for line in text.replace("\\\n", " ").splitlines():
        if line.strip() and not line.startswith("#"):
            yield line.removeprefix(_PROMPT)


def check_command(command: str, made: Collection[str] = ()) -> None:
    """Refuse a command that has an option, a value, a target or a file which there is not.

    Of a synopsis, `[--quick]` and the first of `on|off` are taken. Readers have `made` some files.
    """
    if not command.startswith(_OURS):
        return
    plain = _EITHER.sub(r"\1", _OPTIONAL.sub(r"\1", command))
    words = shlex.split(_SHELL.split(plain)[0], comments=True)
    match words:
        case ["penstock", *rest]:
            _check_penstock(rest)
        case ["python", "-m", "pip", *_]:
            assert _EXTRA.findall(command), command
            assert f"\n{_EXTRA.findall(command)[0]} = [" in (ROOT / "pyproject.toml").read_text()
        case ["python", str(file), *rest] if not file.startswith("-"):
            assert file in made or (ROOT / file).exists(), file
            if rest[:1] == ["penstock"]:
                _check_penstock(rest[1:])
        case ["make", target, *_]:
            assert f"\n{target}:" in (ROOT / "Makefile").read_text(encoding="utf-8"), target


def _check_penstock(words: list[str]) -> None:
    command: Any = get_command(app)
    while hasattr(command, "commands"):
        name, *words = words
        assert name in command.commands, name
        command = command.commands[name]
    command.make_context(command.name, words)

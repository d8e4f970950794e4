"""Somebody who does what a page says: writes its files, types its commands, runs its code.

| block | is |
|---|---|
| with a `title` | a file of that name in the reader's folder |
| `bash` | commands, typed one after the other; what they print is remembered |
| `sh` | commands that need a cluster or do not end: their options are checked, they are not run |
| `text`, `json` | what the last commands have printed; a line `…` stands for any lines |
| `sql` | a query, over the streams that the page has declared so far; it must have a plan |
| `python` | code; names live on from block to block |
| `toml` | a part of a stats file |
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from contextlib import chdir, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

import penstock as ps
from penstock.cli.main import app
from penstock.errors import PenstockError
from support.pages.page_blocks import Block, blocks_of
from support.pages.page_commands import check_command, commands

_SHELL = re.compile(r"[|<>&;$*?]")
_CREATE = re.compile(r"^CREATE (?:STREAM|TABLE|VIEW) (\w+).*?;\n?", re.S | re.M)
_ANY_LINES = "…\n"


class Reader:
    """A reader of one page, in a folder of their own."""

    def __init__(self, page: Path, folder: Path, names: Mapping[str, Any] | None = None) -> None:
        self.blocks = blocks_of(page)
        self.folder = folder
        self.said = ""
        self.names = dict(names or {})
        self.declared: dict[str, str] = {}

    def follow(self) -> None:
        """Do all that the page says."""
        for block in self.blocks:
            self.do(block)

    def do(self, block: Block) -> None:
        """Do what one block says."""
        if block.title:
            path = self.folder / block.title
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")
            return
        match block.kind:
            case "bash":
                self.said = "".join(self._typed(command) for command in commands(block.text))
            case "sh":
                for command in commands(block.text):
                    check_command(command)
            case "text" | "json":
                assert is_shown(block.text, self.said), self.said
            case "sql":
                self._plan(block.text)
            case "python":
                self._execute(block.text)
            case "toml":
                tomllib.loads(block.text)
            case _:
                raise AssertionError(f"nobody knows what to do with a block of {block.kind!r}")

    def _typed(self, command: str) -> str:
        """What a command prints to stdout; it must succeed unless `|| true` says otherwise."""
        command, tolerant, _ = command.partition(" || true")
        words = shlex.split(command, comments=True)
        if words[0] == "cd":
            self.folder = self.folder / words[1]
            return ""
        if words[0] == "penstock" and not _SHELL.search(command.partition("#")[0]):
            code, said, complaint = self._invoked(words[1:])
        else:
            code, said, complaint = self._in_shell(command)
        assert code == 0 or tolerant, f"{command}\n{said}\n{complaint}"
        return said

    def _invoked(self, words: list[str]) -> tuple[int, str, str]:
        """The command in this process, which is faster than in one of its own."""
        with chdir(self.folder):
            done = CliRunner().invoke(app, words)
        if isinstance(done.exception, PenstockError):
            return 1, done.stdout, str(done.exception)
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        return done.exit_code, done.stdout, done.stderr

    def _in_shell(self, command: str) -> tuple[int, str, str]:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            ["bash", "-e", "-c", command],
            cwd=self.folder,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
        )
        return done.returncode, done.stdout, done.stderr

    def _plan(self, text: str) -> None:
        """Parse and plan a query; what the page declared before stands before it."""
        mine = {found[1].lower(): found[0] for found in _CREATE.finditer(text)}
        before = "".join(each for name, each in self.declared.items() if name not in mine)
        self.declared |= mine
        asked = "" if "SELECT" in text else f"SELECT * FROM {next(iter(mine))} [NOW];\n"
        functions = [each for each in self.names.values() if isinstance(each, ps.Function)]
        with chdir(self.folder):
            query = ps.sql(before + text + asked, functions=functions)
        assert query.explain()

    def _execute(self, code: str) -> None:
        out = StringIO()
        with chdir(self.folder), redirect_stdout(out):
            exec(compile(code, "page", "exec", dont_inherit=True), self.names)
        self.said = out.getvalue()


def is_shown(text: str, said: str) -> bool:
    """Whether the parts of a text between lines `…` were printed, one after the other."""
    start = 0
    for part in text.split(_ANY_LINES):
        found = said.find(part, start)
        if found < 0:
            return False
        start = found + len(part)
    return True

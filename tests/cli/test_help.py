"""Help that fits a screen with an example, words that may have been meant, and completion."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from shutil import which
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner, Result

from penstock.cli.main import app
from penstock.cli.suggesting import suggested

MOST_LINES = 40
WIDTHS = (80, 96, 100)
HELPS = ("--help", "--help-all")


def commands(command: Any = None, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The ways to all commands, groups among them."""
    command = get_command(app) if command is None else command
    yield path
    for name, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, (*path, name))


EVERY = pytest.mark.parametrize("path", list(commands()), ids=lambda path: " ".join(path) or "-")


def penstock(*arguments: str, width: int = WIDTHS[-1]) -> Result:
    return CliRunner().invoke(app, list(arguments), terminal_width=width)


def test_all_commands_are_looked_at() -> None:
    found = list(commands())
    assert {("new",), ("init",), ("check",), ("fmt",), ("run",), ("lab", "run")} <= set(found)
    assert len(found) > 15


@EVERY
@pytest.mark.parametrize("width", WIDTHS)
def test_help_fits_a_screen_and_has_an_example(path: tuple[str, ...], width: int) -> None:
    lines = penstock(*path, "--help", width=width).stdout.splitlines()
    assert len(lines) <= MOST_LINES
    assert max(map(len, lines)) <= width
    (example,) = re.findall(r"^ *Example: penstock (.*)$", "\n".join(lines), flags=re.M)
    words = shlex.split(example)
    assert tuple(words[: len(path)]) == path


def test_what_is_seldom_needed_is_named_and_explained_when_asked_for() -> None:
    brief, whole = (" ".join(penstock("run", word).stdout.split()) for word in HELPS)
    assert "Laboratory (engine local) --eager, --every, --expire, --buckets, --sweep" in brief
    assert "Join tuple by tuple." not in brief
    assert "Laboratory (engine local): --eager Join tuple by tuple." in whole
    assert "Example: penstock run" in whole


@pytest.mark.parametrize("name", ["run", "bench", "explain"])
def test_no_option_is_left_out_of_either_help(name: str) -> None:
    command = get_command(app).commands[name]  # type: ignore[attr-defined]
    options = {option for param in command.params for option in param.opts if option[:2] == "--"}
    assert len(options) > 12
    for word in HELPS:
        assert options <= set(re.findall(r"--[a-z-]+", penstock(name, word).stdout))


@EVERY
def test_examples_have_only_options_that_there_are(path: tuple[str, ...]) -> None:
    shown = penstock(*path, "--help").stdout
    (example,) = re.findall(r"Example: penstock (.*)", shown)
    options = [word for word in shlex.split(example) if word.startswith("--")]
    assert [option for option in options if f"  {option}" not in shown] == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["explan"], "Did you mean 'explain'"),
        (["chek", "x"], "Did you mean 'check'?"),
        (["explain", "--alternative", "x"], "--alternatives"),
        (["explain", "--format", "htm", "x"], "did you mean html?"),
        (["check", "--format", "jso", "x"], "did you mean json?"),
        (["run", "--engine", "lcal", "x"], "did you mean local?"),
        (["run", "--sink", "parqet:out", "x"], "did you mean parquet:out?"),
        (["run", "--sink", "consol", "x"], "did you mean console?"),
        (["bench", "jion3"], "did you mean join3?"),
        (["completion", "bsh"], "did you mean bash?"),
    ],
)
def test_what_is_misspelt_is_answered_with_what_may_be_meant(
    arguments: list[str], said: str
) -> None:
    done = penstock(*arguments)
    assert done.exit_code == 2
    assert said in " ".join(done.output.split())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(["--off", "bushi"], "did you mean bushy?"), (["--kinds", "tre"], "did you mean tree?")],
)
def test_names_of_plans_are_suggested_too(arguments: list[str], said: str) -> None:
    text = "CREATE STREAM t WITH (format = 'rate', rate = 1); SELECT value FROM t [NOW]"
    done = CliRunner().invoke(app, ["explain", "-", *arguments], input=text)
    assert said in str(done.exception)


def test_what_is_like_nothing_gets_no_suggestion() -> None:
    assert suggested("'zzz' is not one of 'spark', 'local'.") == "'zzz' is not one of spark, local"
    assert suggested("goes with --calibrate") == "goes with --calibrate"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_a_script_of_the_shell(shell: str) -> None:
    script = penstock("completion", shell).stdout
    assert "_PENSTOCK_COMPLETE" in script
    if which(shell):
        done = subprocess.run([shell, "-n"], input=script, text=True, capture_output=True)
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("penstock che", ["check"]),
        ("penstock explain --form", ["--format"]),
        ("penstock explain --format ht", ["html"]),
    ],
)
def test_a_shell_that_asks_is_answered(words: str, completed: list[str]) -> None:
    asking = {
        "_PENSTOCK_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
    }
    program = "import sys; sys.argv = ['penstock']; from penstock.cli.main import main; main()"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env={**os.environ, **asking}, capture_output=True, text=True)
    assert done.stdout.split() == completed

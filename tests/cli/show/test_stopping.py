"""Ctrl-C in long commands: real processes get the signal while they work, and say what is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from support.waiting import PATIENCE, wait_until

COMMAND = [sys.executable, "-c", "from penstock.cli.main import main; main()"]

QUERY = """CREATE STREAM a (ts BIGINT, k BIGINT)
  WITH (format='csv', path='{folder}/a.csv', timestamp='ts', unit='s');
SELECT a.k FROM a [RANGE 5 SECONDS] WHERE waits(a.k)
"""
WAITS = """from pathlib import Path

import penstock as ps


@ps.function(cost="1 us")
def waits(k: int) -> bool:
    # It goes on when somebody writes into the pipe, which nobody does.
    Path("{folder}/began").touch()
    return bool(Path("{folder}/pipe").read_text())
"""


@contextmanager
def started(*words: object, **environment: str) -> Iterator[subprocess.Popen[str]]:
    """A command in a group of processes of its own, as a shell starts it."""
    process = subprocess.Popen(
        [*COMMAND, *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # Whoever runs the tests behind a shell's back has it ignored.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
        env={**os.environ, **environment},
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def interrupted(process: subprocess.Popen[str], until: str) -> tuple[int, list[str]]:
    """The exit code and the lines on stderr, if Ctrl-C comes after a line that has a text in it."""
    assert process.stderr is not None
    lines = []
    for line in process.stderr:
        lines.append(line.rstrip("\n"))
        if until in line:
            break
    os.killpg(process.pid, signal.SIGINT)
    rest = process.communicate(timeout=PATIENCE)[1]
    return process.returncode, [*lines, *rest.splitlines()]


@pytest.mark.parametrize(
    ("words", "until", "last"),
    [
        (
            ("bench", "kernel", "--seconds", "600"),
            "one core",
            "stopped: a benchmark that is cut off has no figures",
        ),
        (
            ("bench", "planning"),
            " s  ",
            "stopped: a benchmark that is cut off has no figures",
        ),
        (
            ("doctor", "--calibrate", "--quick", "--engine", "local"),
            "calibrating local: ",
            "stopped: nothing was kept; earlier costs still count",
        ),
        (("warm",), "compiling: 0 of ", "stopped: what is compiled so far is kept"),
        (("lab", "run", "vn", "--quick"), " s  vn-", "stopped: "),
    ],
    ids=lambda each: "-".join(map(str, each)) if isinstance(each, tuple) else None,
)
def test_a_long_command_ends_with_a_clear_line(
    words: tuple[str, ...], until: str, last: str, tmp_path: Path
) -> None:
    own = {"NUMBA_CACHE_DIR": str(tmp_path), "PENSTOCK_CALIBRATION": str(tmp_path / "costs.toml")}
    with started(*words, **own) as process:
        code, lines = interrupted(process, until)
    assert (code, lines[-1].startswith(last)) == (130, True), lines
    assert not any("Traceback" in line for line in lines)


@pytest.mark.parametrize(
    ("words", "last"),
    [
        (("analyze",), "stopped: no statistics were written"),
        (
            ("run", "--engine", "local", "--eager"),
            "stopped: the laboratory keeps nothing of what it had done",
        ),
    ],
    ids=["analyze", "laboratory"],
)
def test_a_command_in_the_middle_of_a_function_ends_too(
    words: tuple[str, ...], last: str, tmp_path: Path
) -> None:
    (tmp_path / "a.csv").write_text("ts,k\n1,1\n")
    (tmp_path / "query.cql").write_text(QUERY.format(folder=tmp_path))
    (tmp_path / "functions.py").write_text(WAITS.format(folder=tmp_path))
    os.mkfifo(tmp_path / "pipe")
    given = (tmp_path / "query.cql", "--functions", tmp_path / "functions.py")
    with started(words[0], *given, *words[1:]) as process:
        wait_until((tmp_path / "began").exists)
        os.killpg(process.pid, signal.SIGINT)
        err = process.communicate(timeout=PATIENCE)[1]
    assert (process.returncode, err.splitlines()[-1]) == (130, last)
    assert "Traceback" not in err

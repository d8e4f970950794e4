"""The dashboard of the demo: a process of its own beside the run, in a browser."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from penstock.errors import SetupError

_PROGRAM = "from penstock.cli.main import main; main()"
_PATIENCE = 5.0


@contextmanager
def dashboard_of(checkpoint: str, *, opens: bool = True) -> Iterator[str]:
    """The address of a page of a checkpoint, which is there until the `with` block ends.

    Ctrl-C is for the demo, not for the page: that has a session of its own.
    """
    words = ["dashboard", checkpoint, "--port", "0", *(["--open"] if opens else [])]
    process = subprocess.Popen(
        [sys.executable, "-c", _PROGRAM, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert process.stdout is not None, "it is a pipe"
        address = process.stdout.readline().strip()
        if not address:
            raise SetupError(f"the dashboard did not start: {_said(process)}")
        yield address
    finally:
        _end(process)


def _said(process: subprocess.Popen[str]) -> str:
    """The first line of what it has to say, without what it is."""
    _, said = process.communicate()
    lines = said.strip().splitlines() or ["no reason given"]
    return " ".join(line.removeprefix("error: ") for line in lines)


def _end(process: subprocess.Popen[str]) -> None:
    process.terminate()
    try:
        process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()

"""The command's process: how it ends."""

from __future__ import annotations

import subprocess
import sys

import pytest

# As a library would that aborts in a destructor, once the interpreter has ended.
ABORTING = """
import ctypes, sys
from penstock.cli.main import main

libc = ctypes.CDLL(None)
libc.__cxa_atexit(ctypes.cast(libc.abort, ctypes.c_void_p), None, None)
sys.argv = ["penstock", *sys.argv[1:]]
main()
"""


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--version"], 0, "penstock "),
        (["explain", "nowhere.cql"], 1, "error: cannot read nowhere.cql"),
        (["explain", "--nothing"], 2, "No such option: --nothing"),
    ],
)
def test_a_library_that_aborts_at_the_end_changes_nothing(
    arguments: list[str], code: int, said: str
) -> None:
    command = [sys.executable, "-c", ABORTING, *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == code
    assert said in done.stdout + done.stderr


def test_an_error_that_nobody_caught_is_left_to_python() -> None:
    program = "import penstock.cli.main as m\nm.app = lambda: 1 / 0\nm.main()\n"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 1
    assert "ZeroDivisionError" in done.stderr

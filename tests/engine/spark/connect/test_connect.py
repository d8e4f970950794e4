"""Spark Connect: what holds on a classic session holds there, and the page about it is true."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from support.paths import ROOT

HERE = Path(__file__).parent.parent
SESSIONS = ROOT / "tests" / "support" / "sessions"
PAGE = (ROOT / "docs" / "connect.md").read_text(encoding="utf-8")
NEEDED = ("grpc", "grpc_status", "google.protobuf", "google.rpc", "zstandard")

_HUNG = 1800.0
"""Seconds after which nothing comes any more: clients ask servers that do not answer for long."""

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def is_there(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


needs_connect = pytest.mark.skipif(
    not all(map(is_there, NEEDED)), reason="python -m pip install 'penstock[connect]' is not done"
)


@needs_connect
@pytest.mark.parametrize(
    ("files", "count"),
    [
        ([HERE / "test_both_modes.py", SESSIONS / "connect_page.py"], 13),
        ([SESSIONS / "connect_kills.py"], 1),
    ],
    ids=["sessions", "servers"],
)
def test_the_same_holds_on_connect(files: list[Path], count: int) -> None:
    """Each in a process with sessions of Connect: both kinds of session cannot be in one, and
    clients of a server that PySpark has started itself take its token to all others."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, *map(str, files)],
        cwd=ROOT,
        env={**os.environ, "PENSTOCK_REMOTE": "local[2]"},
        capture_output=True,
        text=True,
        timeout=_HUNG,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    found = re.search(r"(\d+) passed", done.stdout)
    assert found is not None
    assert int(found[1]) == count

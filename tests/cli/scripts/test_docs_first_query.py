"""The page about a first query: its commands run one after the other, and print what it shows."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from support.paths import ROOT

PAGE = (ROOT / "docs" / "first-query.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", PAGE, flags=re.S | re.M)


def typed(commands: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Commands in a shell, up to the first that fails."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-e", "-c", commands],
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
    )


def test_its_commands_print_what_it_shows(tmp_path: Path) -> None:
    shown = {kind: text for kind, text in BLOCKS if kind}
    first, broken, own, layout = (text for kind, text in BLOCKS if not kind)
    done = typed(first, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith(shown["json"])
    shop = tmp_path / "shop"
    done = typed(broken, shop)
    assert (done.returncode, done.stdout) == (1, shown["text"])
    done = typed(own, shop)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{shown['sql']}mine.cql: ok\n"
    assert len((shop / "all.jsonl").read_text().splitlines()) == 111
    done = typed(layout, shop)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("--- mine.cql\n+++ mine.cql\n")

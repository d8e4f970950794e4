"""Compiled code on disk: after a change to one file, no other keeps what it had of it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from penstock.kernels import compiled

INNER = """
from penstock.kernels.compiled import inlined

@inlined
def one(x):
    return x + {}
"""
OUTER = """
from penstock.kernels.compiled import compiled
from penstock.kernels.inner import one

@compiled
def twice(x):
    return 2 * one(x)

print(twice(0), sum(twice.stats.cache_hits.values()))
"""


def test_a_change_to_an_inner_loop_reaches_its_callers_in_other_files(tmp_path: Path) -> None:
    kernels = tmp_path / "penstock/kernels"
    kernels.mkdir(parents=True)
    for folder in (kernels, kernels.parent):
        (folder / "__init__.py").touch()
    shutil.copy(str(compiled.__file__), kernels / "compiled.py")
    (kernels / "outer.py").write_text(OUTER)

    def answer(added: int) -> str:
        (kernels / "inner.py").write_text(INNER.format(added))
        # Python takes a module for the same whose size and second of change are.
        unkept = {"PYTHONDONTWRITEBYTECODE": "1"}
        settings = {**os.environ, "PYTHONPATH": str(tmp_path), **unkept}
        settings.pop("NUMBA_CACHE_DIR", None)
        command = [sys.executable, "-m", "penstock.kernels.outer"]
        done = subprocess.run(command, capture_output=True, text=True, env=settings, check=True)
        return done.stdout.strip()

    assert answer(1) == "2 0"
    assert answer(1) == "2 1", "it is kept on disk"
    assert answer(5) == "10 0"

"""A checkpoint is its owner's: a new folder is closed to others, an old one is as it was."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from penstock.engine.state.hold import Hold


@pytest.mark.parametrize(("made", "mode"), [(False, 0o700), (True, 0o755)])
def test_a_new_checkpoint_is_closed_to_others(made: bool, mode: int, tmp_path: Path) -> None:
    folder = tmp_path / "above" / "checkpoint"
    if made:
        folder.mkdir(parents=True)
        folder.chmod(mode)
    before = os.umask(0)
    try:
        Hold(str(folder)).close()
    finally:
        os.umask(before)
    assert stat.S_IMODE(folder.stat().st_mode) == mode
    files = [file for file in folder.rglob("*") if file.is_file()]
    assert files
    assert all(stat.S_IMODE(file.stat().st_mode) & 0o077 == 0 for file in files)

"""A real cluster of several processes on this machine."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from support.engines.soak import Siege


@pytest.mark.spark
@pytest.mark.slow
def test_killed_executors_lose_nothing(tmp_path: Path) -> None:
    """Neither of a view over files, nor of a join of DataFrames, which are spooled there."""
    siege = Siege(
        tmp_path,
        Random("executor"),
        master="local-cluster[2,1,1024]",
        files=5,
        queries=("view", "common"),
        framed=("common",),
    )
    siege.run(["executor"] * 3)
    assert siege.wrong() == []
    assert siege.kills["executor"] == 3

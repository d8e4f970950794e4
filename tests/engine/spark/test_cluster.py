"""A real cluster of several processes on this machine."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from support.engines.soak import Siege


@pytest.mark.spark
@pytest.mark.slow
def test_killed_executors_lose_nothing(tmp_path: Path) -> None:
    siege = Siege(tmp_path, Random("executor"), master="local-cluster[2,1,1024]", files=5)
    siege.run(["executor", "executor"])
    assert siege.wrong() == []
    assert siege.kills["executor"] == 2


@pytest.mark.spark
@pytest.mark.slow
def test_a_killed_executor_loses_no_rows_of_dataframes(tmp_path: Path) -> None:
    """Of one query, so that the kill comes in the middle of its batch."""
    master, queries = "local-cluster[2,1,1024]", ("common",)
    siege = Siege(
        tmp_path, Random("frames"), master=master, files=4, queries=queries, is_framed=True
    )
    siege.run(["executor"])
    assert siege.wrong() == []
    assert siege.kills["executor"] == 1

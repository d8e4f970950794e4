"""Real clusters of several processes on this machine: `make test-cluster` runs these alone."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from support.engines.soak import Siege
from support.scale.standalone import LOOPBACK, standalone_cluster


@pytest.mark.cluster
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


@pytest.mark.cluster
@pytest.mark.spark
@pytest.mark.slow
def test_a_lost_machine_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor does a killed executor: of a join and of a view, on a standalone cluster with two
    workers. What a machine had on its own disk goes with it."""
    monkeypatch.setenv("SPARK_LOCAL_IP", LOOPBACK)
    with standalone_cluster(tmp_path / "machines", workers=2) as cluster:
        siege = Siege(
            tmp_path,
            Random("machine"),
            master=cluster.url,
            files=4,
            queries=("view", "common"),
            kill=cluster.kill,
        )
        siege.run(["executor", "machine"])
    assert siege.wrong() == []
    assert siege.kills == {"executor": 1, "machine": 1}

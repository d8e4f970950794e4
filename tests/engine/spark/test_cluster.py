"""Real clusters of several processes on this machine: `make test-cluster` runs these alone."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from penstock.engine.sinks.sink import parquet
from support.engines.soak import Siege, expected, results, script, write_input
from support.scale import placed
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


@pytest.mark.cluster
@pytest.mark.spark
@pytest.mark.slow
def test_partitions_stay_where_they_are(tmp_path: Path) -> None:
    """Of stages that Spark moves packets to, and of those whose hands the driver deals out."""
    write_input(tmp_path / "in", 5, Random("placement"))
    text = script("common", tmp_path / "in")
    (tmp_path / "query.cql").write_text(text)
    command = [sys.executable, placed.__file__, str(tmp_path), "local-cluster[2,1,1024]", "36"]
    subprocess.run(command, check=True)
    found = json.loads((tmp_path / "found.json").read_text())
    first, *others = found["stages"]
    assert sorted(Counter(first.values()).values()) == [18, 18]
    assert len(others) >= 4
    assert all(stage == first for stage in others)
    places = {task: place for dealt in found["rounds"] for task, place in dealt.items()}
    assert len(places) == 9
    assert sorted(Counter(places.values()).values()) == [4, 5]
    assert all(dealt.items() <= places.items() for dealt in found["rounds"])
    assert results(parquet(tmp_path / "out")) == expected(text)

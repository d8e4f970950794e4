"""Tasks over a partition of the state run where that partition was in the batch before."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from penstock.engine.sinks.sink import parquet
from penstock.engine.spark.placement import settled
from support.engines.soak import expected, results, script, write_input
from support.scale import placed

TWO = {"a": 1, "b": 1}


def test_tasks_are_dealt_by_cores_and_stay() -> None:
    first = settled((), 6, TWO)
    assert Counter(first) == {"a": 3, "b": 3}
    assert settled(first, 6, TWO) == first
    assert Counter(settled((), 6, {"a": 1, "b": 2})) == {"a": 2, "b": 4}
    assert settled((), 6, {}) == ()


def test_only_the_tasks_of_an_executor_that_is_gone_move() -> None:
    before = settled((), 12, {"a": 1, "b": 1, "c": 1})
    after = settled(before, 12, TWO)
    assert all(new == old for old, new in zip(before, after, strict=True) if old != "c")
    assert Counter(after) == {"a": 6, "b": 6}


def test_one_that_comes_gets_its_share_and_no_other_task_moves() -> None:
    before = settled((), 12, TWO)
    after = settled(before, 12, {**TWO, "c": 1})
    assert Counter(after) == {"a": 4, "b": 4, "c": 4}
    assert all(new in (old, "c") for old, new in zip(before, after, strict=True))


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

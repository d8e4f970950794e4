"""Runs over topics that are killed at any moment: each result is there once."""

from __future__ import annotations

import json
import signal
from collections import Counter
from pathlib import Path

import pytest

from penstock.engine.sinks.sink import jsonl
from support.engines.crashes import TOPIC_POINTS, Run, survived
from support.kafka.cluster import REAL, Cluster
from support.kafka.joined_topics import fill, script

EVERY = [
    *TOPIC_POINTS,
    "after a chunk",
    "before the commit",
    "after the commit",
    "in publishing lines",
    "in the sweep",
]
# With a real broker nothing else happens at the others.
POINTS = ["after the topic's log", "after records are read"] if REAL else EVERY


@pytest.fixture(scope="module")
def filled() -> tuple[Cluster, Counter[tuple[int, int]]]:
    cluster = Cluster()
    return cluster, fill(cluster)


@pytest.mark.parametrize("point", POINTS)
def test_a_crash_while_topics_are_read_is_survived(
    point: str, filled: tuple[Cluster, Counter[tuple[int, int]]], tmp_path: Path
) -> None:
    cluster, wanted = filled
    out = tmp_path / "results.jsonl"
    run = Run(script(cluster), str(tmp_path / "checkpoint"), jsonl(out).name)
    codes = survived(run, point, (0, 2, 5, 60))
    assert codes[-1] == 0
    assert len(codes) > 2
    assert set(codes[:-1]) == {-signal.SIGKILL}
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert Counter((row["ax"], row["bx"]) for row in rows) == wanted
    assert wanted.total() > 500

"""Runs over topics that are killed at any moment: each result is there once."""

from __future__ import annotations

import json
import signal
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from penstock.engine.sinks.sink import jsonl
from support.engines.crashes import TOPIC_POINTS, Run, survived
from support.kafka.cluster import REAL, Cluster

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


def script(cluster: Cluster) -> str:
    """A join of two topics, of which a batch takes some records."""
    streams = "".join(
        f"CREATE STREAM {name} (ts TIMESTAMP, k BIGINT, x BIGINT) WITH (format = 'kafka', "
        f"servers = '{cluster.servers}', topic = '{name}', timestamp = 'ts', max_rows = 40);\n"
        for name in "ab"
    )
    windows = "a [RANGE 20 SECONDS], b [RANGE 20 SECONDS]"
    return f"{streams}SELECT a.x AS ax, b.x AS bx FROM {windows} WHERE a.k = b.k;"


def fill(cluster: Cluster) -> Counter[tuple[int, int]]:
    """Write both topics, partitions in their own order of event time; what the join makes."""
    random, found = Random(4), Counter[tuple[int, int]]()
    sent: dict[str, list[tuple[int, int, int]]] = {"a": [], "b": []}
    for number in range(300):
        name, second, k = "ab"[number % 2], number // 6, random.randrange(12)
        value = {"ts": f"2026-01-01 00:00:{second:02d}", "k": k, "x": number}
        cluster.send(name, random.randrange(3), value)
        sent[name].append((second, k, number))
    for a_second, a_key, a in sent["a"]:
        for b_second, b_key, b in sent["b"]:
            if a_key == b_key and abs(a_second - b_second) <= 20:
                found[a, b] += 1
    return found


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

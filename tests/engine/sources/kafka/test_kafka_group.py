"""The group of a stream: it is told how far the topic was read, and nothing depends on it."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from confluent_kafka import Consumer, TopicPartition

import penstock as ps
from penstock.engine.sources.kafka import group
from support.kafka.cluster import Cluster
from support.waiting import PATIENCE


def read_all(cluster: Cluster, folder: Path, options: str) -> int:
    """Read all there is; the number of results so far."""
    text = (
        "CREATE STREAM a (ts BIGINT, x BIGINT) WITH (format = 'kafka', "
        f"servers = '{cluster.servers}', topic = 'a', timestamp = 'ts', unit = 's'{options}); "
        "SELECT a.x FROM a [RANGE 1 MINUTE];"
    )
    out = folder / "out.jsonl"
    run = ps.sql(text, engine="local").local(
        sink=ps.jsonl(out), checkpoint=folder / "state", available_now=True
    )
    run.await_termination()
    return len(out.read_text().splitlines())


def committed(cluster: Cluster, group: str) -> list[int]:
    """What ordinary tools find: the offset of each partition, negative where there is none."""
    asking = Consumer({"bootstrap.servers": cluster.servers, "group.id": group, "log_level": 0})
    try:
        asked = [TopicPartition("a", part) for part in range(4)]
        return [found.offset for found in asking.committed(asked, timeout=PATIENCE)]
    finally:
        asking.close()


def test_a_group_is_told_how_far_a_topic_was_read(cluster: Cluster, tmp_path: Path) -> None:
    for part in range(3):
        cluster.send("a", part, *({"ts": n, "x": n} for n in range(part + 1)))
    assert read_all(cluster, tmp_path, ", group = 'readers', max_rows = 2") == 6
    assert committed(cluster, "readers") == [1, 2, 3, 0]
    cluster.send("a", 3, {"ts": 1, "x": 5}, {"ts": 2, "x": 6})
    read_all(cluster, tmp_path, ", group = 'readers'")
    assert committed(cluster, "readers") == [1, 2, 3, 2]
    assert set(committed(cluster, "penstock")) == {committed(cluster, "nobody")[0]}


def test_a_group_that_cannot_be_told_is_a_warning(
    cluster: Cluster,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for part in range(3):
        cluster.send("a", part, *({"ts": n, "x": n} for n in range(part + 1)))
    # No broker is as quick as that.
    monkeypatch.setattr(group, "_WAIT", 0.0)
    with caplog.at_level(logging.WARNING):
        assert read_all(cluster, tmp_path, ", group = 'readers', max_rows = 2") == 6
    told = [record.getMessage() for record in caplog.records if "is not told" in record.message]
    assert len(told) == 1
    assert told[0].startswith("a: group readers is not told how far the topic was read")


@pytest.fixture
def cluster() -> Cluster:
    return Cluster()

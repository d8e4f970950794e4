"""Results in a topic of a real broker: kills in transactions, fences, rights, deleted records."""

from __future__ import annotations

import json
import signal
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random
from threading import Event, Thread
from typing import Any

import pyarrow as pa
import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)

import penstock as ps
from penstock.cql import parse
from penstock.engine.places.place import Place
from penstock.engine.sinks.kafka import tail
from penstock.engine.sinks.kafka.topic import Topic
from penstock.engine.sinks.kafka.topic_writer import TopicWriter
from penstock.engine.sinks.sink import PartWriter, Staging, kafka
from penstock.engine.state.manifest import Manifest, Part
from penstock.errors import SinkError
from support.engines.crashes import POINTS, SINK_POINTS, Crash, Run, exit_code
from support.engines.soak import expected, script, write_input
from support.kafka.cluster import (
    PARTITIONS,
    REAL,
    Cluster,
    Record,
    consuming,
    make_compacted,
    only_real,
    record_of,
)
from support.kafka.real_broker import PASSWORD, address_with_password
from support.kafka.sending import Sent, send
from support.waiting import PATIENCE, wait_until

pytestmark = only_real
KILLS = 50
FILLING = b'"filling"'


@pytest.fixture
def cluster() -> Cluster:
    made = Cluster()
    made.make("results")
    return made


class Reader:
    """Reads what is committed to a topic while others write to it."""

    def __init__(self, servers: str, topic: str):
        self.found: list[Record] = []
        self._places = [TopicPartition(topic, part, 0) for part in range(4)]
        self._servers = servers
        self._is_over = Event()
        self._thread = Thread(target=self._read)
        self._thread.start()

    def _read(self) -> None:
        with consuming(self._servers, self._places) as consumer:
            while not self._is_over.is_set():
                records = map(record_of, consumer.consume(1000, timeout=0.2))
                self.found += [record for record in records if record is not None]

    def stop(self) -> None:
        self._is_over.set()
        self._thread.join()


def test_a_reader_gets_each_result_once_across_fifty_kills(
    cluster: Cluster, tmp_path: Path
) -> None:
    rng = Random(15)
    write_input(tmp_path / "in", 60, rng)
    text = script("common", tmp_path / "in")
    run = Run(text, str(tmp_path / "checkpoint"), kafka(cluster.servers, "results").name)
    points = [
        *[point for point in SINK_POINTS if point != "after a record"] * 2,
        "before the commit",
        "after the commit",
        "after publishing",
        "in the sweep",
    ]
    assert set(points) <= {*POINTS, *SINK_POINTS}
    reader, kills = Reader(cluster.servers, "results"), Counter[str]()
    try:
        while kills.total() < KILLS:
            point = rng.choice(points)
            # The tail is read once a run.
            crash = Crash(point, 0 if "tail" in point else rng.randrange(2))
            assert exit_code(replace(run, crash=crash)) == -signal.SIGKILL
            kills[point] += 1
        assert exit_code(run) == 0
        wanted = expected(text)
        wait_until(lambda: len(reader.found) >= wanted.total())
    finally:
        reader.stop()
    assert Counter(tuple(record.data.values()) for record in reader.found) == wanted
    assert len(cluster.read("results")) == wanted.total()
    assert len(kills) > 5


QUERY = parse(
    "CREATE STREAM a (ts BIGINT, x BIGINT) WITH (format = 'json', path = 'a', timestamp = 'ts', "
    "unit = 's'); SELECT a.x FROM a [RANGE 5 SECONDS];"
)


def staged(
    folder: Path, batch: int, *numbers: int, since: dict[int, int] | None = None
) -> Manifest:
    """The manifest of a batch whose results are staged."""
    writer = PartWriter(Staging("records", Place.of(folder)), QUERY)
    writer.write(pa.record_batch({"x": pa.array(numbers, pa.int64())}))
    parts = tuple(Part(part.staged, "", part.rows, part.size) for part in writer.close())
    return Manifest(batch=batch, parts=parts, sink_positions=since or {})


def xs(cluster: Cluster) -> list[int]:
    return sorted(record.data["x"] for record in cluster.read("results"))


def test_who_was_taken_over_from_can_write_no_more(cluster: Cluster, tmp_path: Path) -> None:
    topic = Topic(cluster.servers, "results")
    old, new = (TopicWriter(topic, Place.of(tmp_path), "0123456789abcdef") for _ in range(2))
    old.publish(staged(tmp_path, 0, 1, 2))
    new.publish(staged(tmp_path, 1, 3))
    with pytest.raises(SinkError, match="cannot write to topic results") as told:
        old.publish(staged(tmp_path, 2, 4))
    assert "two must not share a checkpoint" in (told.value.hint or "")
    assert xs(cluster) == [1, 2, 3]
    new.publish(staged(tmp_path, 2, 5))
    assert xs(cluster) == [1, 2, 3, 5]


def test_a_batch_whose_tail_was_deleted_is_not_guessed_at(cluster: Cluster, tmp_path: Path) -> None:
    topic, mark = Topic(cluster.servers, "results"), "0123456789abcdef"
    manifest = staged(tmp_path, 0, 1, 2, 3)
    TopicWriter(topic, Place.of(tmp_path), mark).publish(manifest)
    ends = TopicWriter(topic, Place.of(tmp_path), mark).positions()
    admin = AdminClient({"bootstrap.servers": cluster.servers})
    gone = [TopicPartition("results", part, end) for part, end in ends.items() if end]
    for deleted in admin.delete_records(gone).values():
        deleted.result(PATIENCE)
    with pytest.raises(SinkError, match="whether batch 0 is in topic results cannot be told"):
        TopicWriter(topic, Place.of(tmp_path), mark).publish(manifest)


def test_a_topic_that_was_made_anew_is_refused(cluster: Cluster, tmp_path: Path) -> None:
    topic, mark = Topic(cluster.servers, "results"), "0123456789abcdef"
    writer = TopicWriter(topic, Place.of(tmp_path), mark)
    writer.publish(staged(tmp_path, 0, 1, 2, 3))
    manifest = staged(tmp_path, 1, 4, since=dict(writer.positions()))
    Cluster().make("results")
    with pytest.raises(SinkError, match="topic results is not as the last batch left it"):
        TopicWriter(topic, Place.of(tmp_path), mark).publish(manifest)


def test_a_transaction_of_somebody_else_is_waited_for_and_then_named(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic, mark = Topic(cluster.servers, "results"), "0123456789abcdef"
    other = Producer({"bootstrap.servers": cluster.servers, "transactional.id": "somebody"})
    other.init_transactions(PATIENCE)
    other.begin_transaction()
    for part in range(4):
        other.produce("results", b'{"x": 0}', partition=part)
    other.flush(PATIENCE)
    monkeypatch.setattr(tail, "PATIENCE", 1.0)
    manifest = staged(tmp_path, 0, 1, 2, 3)
    with pytest.raises(SinkError, match="somebody has a transaction open there"):
        TopicWriter(topic, Place.of(tmp_path), mark).publish(manifest)
    other.commit_transaction(PATIENCE)
    TopicWriter(topic, Place.of(tmp_path), mark).publish(manifest)
    assert xs(cluster) == [0, 0, 0, 0, 1, 2, 3]


def test_what_was_committed_behind_an_open_transaction_is_found(
    cluster: Cluster, tmp_path: Path
) -> None:
    topic, mark = Topic(cluster.servers, "results"), "0123456789abcdef"
    other = Producer({"bootstrap.servers": cluster.servers, "transactional.id": "somebody"})
    other.init_transactions(PATIENCE)
    other.begin_transaction()
    for part in range(4):
        other.produce("results", b'{"x": 0}', partition=part)
    other.flush(PATIENCE)
    first = TopicWriter(topic, Place.of(tmp_path), mark)
    manifest = staged(tmp_path, 0, 1, 2, 3, since=dict(first.positions()))
    first.publish(manifest)
    assert xs(cluster) == []
    other.abort_transaction(PATIENCE)
    TopicWriter(topic, Place.of(tmp_path), mark).publish(manifest)
    assert xs(cluster) == [1, 2, 3]


@pytest.fixture
def rights(cluster: Cluster) -> None:
    """User `writer` may write to the topic, and `stranger` may only see it."""
    admin = AdminClient({"bootstrap.servers": cluster.servers})
    what = [
        (ResourceType.TOPIC, "results", "writer", AclOperation.ALL),
        (ResourceType.TRANSACTIONAL_ID, "penstock-", "writer", AclOperation.ALL),
        (ResourceType.TOPIC, "results", "stranger", AclOperation.DESCRIBE),
        (ResourceType.TOPIC, "results", "stranger", AclOperation.READ),
    ]
    bindings = [
        AclBinding(
            kind,
            name,
            ResourcePatternType.PREFIXED,
            f"User:{user}",
            "*",
            operation,
            AclPermissionType.ALLOW,
        )
        for kind, name, user, operation in what
    ]
    for granted in admin.create_acls(bindings).values():
        granted.result(PATIENCE)


def settings(folder: Path, user: str, password: str = PASSWORD) -> Path:
    config = folder / f"{user}.properties"
    config.write_text(
        "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n"
        f"sasl.username={user}\nsasl.password={password}\n"
    )
    return config


def run(folder: Path, sink: ps.Sink) -> None:
    write_input(folder / "in", 2, Random(1))
    query = ps.sql(script("common", folder / "in"), engine="local")
    query.local(sink=sink, checkpoint=folder / "checkpoint").available_now(drain=True)


@pytest.mark.usefixtures("rights")
def test_a_password_is_given_and_told_to_nobody(cluster: Cluster, tmp_path: Path) -> None:
    config = settings(tmp_path, "writer")
    run(tmp_path, ps.kafka(address_with_password(), "results", config=config))
    assert len(cluster.read("results")) > 50
    held = [path for path in (tmp_path / "checkpoint").rglob("*") if path.is_file()]
    assert not [path for path in held if PASSWORD.encode() in path.read_bytes()]


@pytest.mark.usefixtures("rights")
@pytest.mark.parametrize(
    ("user", "topic", "message", "hint"),
    [
        ("stranger", "results", "cannot write to topic results.*uthorization", "the rights to"),
        ("stranger", "hidden", "cannot list topic hidden.*uthorization", "the rights to"),
        ("nobody", "results", "cannot list topic results at.*uthentication failed", "password"),
    ],
)
def test_missing_rights_are_named(
    user: str, topic: str, message: str, hint: str, cluster: Cluster, tmp_path: Path
) -> None:
    cluster.make("hidden")
    config = settings(tmp_path, user)
    with pytest.raises(SinkError, match=message) as told:
        run(tmp_path, ps.kafka(address_with_password(), topic, config=config))
    assert hint in (told.value.hint or "")
    assert PASSWORD not in str(told.value)
    assert cluster.read("results") == []


def test_results_that_are_too_large_are_named_and_nothing_is_shown(
    cluster: Cluster, tmp_path: Path
) -> None:
    cluster.make("small", max_message_bytes="100")
    with pytest.raises(SinkError, match=r"cannot write to topic small.*too large") as told:
        run(tmp_path, ps.kafka(cluster.servers, "small"))
    assert "message.max.bytes" in (told.value.hint or "")
    assert cluster.read("small") == []


def test_compaction_leaves_the_view_as_it_is(cluster: Cluster, tmp_path: Path) -> None:
    write_input(tmp_path / "in", 4, Random(3))
    query = ps.sql(script("view", tmp_path / "in"), engine="local")
    make_compacted(cluster, "view")
    query.local(sink=ps.kafka(cluster.servers, "view"), checkpoint=tmp_path / "c").available_now()
    query.local(sink=ps.jsonl(tmp_path / "out"), checkpoint=tmp_path / "d").available_now()
    wanted: dict[str, Any] = {}
    lines = (tmp_path / "out").read_text().splitlines()
    for line in lines:
        row = json.loads(line)
        wanted[json.dumps({"s": row["s"]})] = None if row["_change"] == "delete" else row
    assert len(wanted) == 3
    there = {key: row for key, row in _latest(cluster).items() if row is not None}
    assert there == {key: row for key, row in wanted.items() if row is not None}

    def is_compacted() -> bool:
        # Only what is behind the last segment is compacted, so one more is begun each time.
        for part in range(PARTITIONS):
            send(cluster.servers, "view", [Sent(b"{}", part, key=FILLING)])
        return sum(record.key != FILLING for record in cluster.read("view")) < len(lines)

    wait_until(is_compacted)
    # Of a group that was deleted compaction leaves nothing at all, and may have begun long ago.
    left = {key: row for key, row in _latest(cluster).items() if key != FILLING.decode()}
    assert {key: row for key, row in left.items() if row is not None} == there


def _latest(cluster: Cluster) -> dict[str, Any]:
    """The last record of each key."""
    records = cluster.read("view")
    return {json.dumps(json.loads(record.key or b"")): record.data for record in records}


def test_the_cluster_is_a_real_one(cluster: Cluster) -> None:
    assert cluster.servers == REAL

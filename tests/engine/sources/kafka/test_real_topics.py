"""Topics of a real broker: times, deleted and compacted records, transactions, topics made anew."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions

import penstock as ps
from penstock.errors import SourceError
from support.kafka import sending
from support.kafka.cluster import PARTITIONS, REAL, Cluster, make_compacted, only_real
from support.kafka.sending import await_ends, transactional
from support.waiting import PATIENCE, wait_until

pytestmark = only_real


@pytest.fixture
def cluster() -> Cluster:
    return Cluster()


@pytest.fixture
def producer(cluster: Cluster) -> Producer:
    """A producer of transactions."""
    made = transactional(cluster.servers, "of tests")
    made.init_transactions(PATIENCE)
    return made


def text(cluster: Cluster, more: str = "") -> str:
    return (
        "CREATE STREAM a (kafka_timestamp TIMESTAMP, kafka_offset BIGINT, x BIGINT) WITH ("
        f"format = 'kafka', servers = '{cluster.servers}', topic = 'a', "
        f"timestamp = 'kafka_timestamp', lateness = '1 day'{more}); "
        "SELECT a.x, a.kafka_offset AS at FROM a [RANGE 1 MINUTE];"
    )


def results(script: str, folder: Path) -> list[int]:
    """The x of all results so far, after a run over all there is."""
    out = folder / "out.jsonl"
    run = ps.sql(script, engine="local").local(
        sink=ps.jsonl(out), checkpoint=folder / "state", available_now=True
    )
    run.await_termination()
    lines = out.read_text().splitlines() if out.exists() else []
    return sorted(json.loads(line)["x"] for line in lines)


def send(producer: Producer, numbers: range, *, key: bytes | None = None, commits: bool) -> None:
    """One transaction with a record for each number, all in partition 0."""
    producer.begin_transaction()
    for number in numbers:
        value = json.dumps({"x": number}).encode()
        producer.produce("a", value, key, partition=0, timestamp=1_767_225_600_000 + 1000 * number)
    producer.flush(PATIENCE)
    producer.commit_transaction(PATIENCE) if commits else producer.abort_transaction(PATIENCE)
    await_ends(str(REAL), "a")


def test_a_stream_starts_at_the_time_of_records(
    cluster: Cluster, producer: Producer, tmp_path: Path
) -> None:
    cluster.make("a")
    send(producer, range(10), commits=True)
    begun = text(cluster, ", start = '2026-01-01 00:00:06'")
    assert results(begun, tmp_path / "late") == [6, 7, 8, 9]
    assert results(text(cluster, ", start = '2026-02-01'"), tmp_path / "never") == []


@pytest.mark.parametrize("most", [1, 3, 100])
def test_slices_end_in_aborted_transactions_and_between_records(
    most: int, cluster: Cluster, producer: Producer, tmp_path: Path
) -> None:
    cluster.make("a")
    send(producer, range(3), commits=True)
    send(producer, range(100, 105), commits=False)
    send(producer, range(3, 5), commits=True)
    send(producer, range(105, 110), commits=False)
    script = text(cluster, f", max_rows = {most}")
    assert results(script, tmp_path) == [0, 1, 2, 3, 4]
    send(producer, range(110, 112), commits=False)
    assert results(script, tmp_path) == [0, 1, 2, 3, 4]
    send(producer, range(5, 6), commits=True)
    assert results(script, tmp_path) == [0, 1, 2, 3, 4, 5]


def test_open_transactions_are_waited_for(
    cluster: Cluster, producer: Producer, tmp_path: Path
) -> None:
    cluster.make("a")
    send(producer, range(3), commits=True)
    producer.begin_transaction()
    producer.produce("a", b'{"x": 3}', partition=0)
    producer.flush(PATIENCE)
    cluster.send("a", 0, {"x": 4})
    assert results(text(cluster), tmp_path) == [0, 1, 2]
    producer.commit_transaction(PATIENCE)
    await_ends(cluster.servers, "a")
    assert results(text(cluster), tmp_path) == [0, 1, 2, 3, 4]


def delete_records(cluster: Cluster, before: int) -> None:
    admin = AdminClient({"bootstrap.servers": cluster.servers})
    for deleted in admin.delete_records([TopicPartition("a", 0, before)]).values():
        deleted.result(PATIENCE)


def test_records_that_were_deleted_unread_are_an_error(cluster: Cluster, tmp_path: Path) -> None:
    cluster.send("a", 0, *({"x": number} for number in range(10)))
    assert len(results(text(cluster), tmp_path)) == 10
    cluster.send("a", 0, *({"x": number} for number in range(10, 20)))
    delete_records(cluster, 15)
    with pytest.raises(SourceError, match=r"records of a\[0\] after 10 have expired"):
        results(text(cluster), tmp_path)
    skipping = text(cluster, ", data_loss = 'skip'")
    assert results(skipping, tmp_path) == [*range(10), *range(15, 20)]
    assert results(text(cluster), tmp_path / "new") == [*range(15, 20)]


def test_compaction_leaves_gaps_that_are_read_over(
    cluster: Cluster, producer: Producer, tmp_path: Path
) -> None:
    make_compacted(cluster, "a")
    for key in range(3):
        send(producer, range(10 * key, 10 * key + 10), key=str(key).encode(), commits=True)

    def is_compacted() -> bool:
        # Only what is behind the last segment is compacted, so one more is begun each time.
        send(producer, range(99, 100), key=b"last", commits=True)
        return len(cluster.read("a")) < 10

    wait_until(is_compacted)
    found = results(text(cluster, ", max_rows = 7"), tmp_path)
    assert [x for x in found if x != 99] == [9, 19, 29]


def test_partitions_that_are_added_are_read_from_their_beginning(
    cluster: Cluster, tmp_path: Path
) -> None:
    cluster.send("a", 0, {"x": 1})
    latest = text(cluster, ", start = 'latest'")
    assert results(latest, tmp_path) == []
    admin = AdminClient({"bootstrap.servers": cluster.servers})
    for widened in admin.create_partitions([NewPartitions("a", PARTITIONS + 1)]).values():
        widened.result(PATIENCE)
    wait_until(lambda: len(admin.list_topics("a").topics["a"].partitions) > PARTITIONS)
    # By a new producer, which has not heard of the topic as it was.
    sending.send(cluster.servers, "a", [sending.Sent(b'{"x": 2}', part=PARTITIONS)])
    assert results(latest, tmp_path) == [2]


def test_a_topic_that_was_made_anew_is_an_error(cluster: Cluster, tmp_path: Path) -> None:
    cluster.send("a", 0, *({"x": number} for number in range(10)))
    assert len(results(text(cluster), tmp_path)) == 10
    # A new one deletes the topics of the one before.
    anew = Cluster()
    anew.send("a", 0, *({"x": number} for number in range(5)))
    with pytest.raises(SourceError, match="was made anew"):
        results(text(anew), tmp_path)


def test_a_topic_that_is_only_asked_for_is_not_made(cluster: Cluster, tmp_path: Path) -> None:
    for _ in range(2):
        with pytest.raises(SourceError, match="there is no topic a"):
            results(text(cluster), tmp_path)

"""Brokers that go down, records that expire, and topics that are made anew."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import pytest

import penstock as ps
from penstock.cql.script import parse
from penstock.engine.places.place import Place
from penstock.engine.sources.kafka import fetch, topic_log
from penstock.engine.sources.kafka.reader import Reader, Taken, reader_of
from penstock.engine.sources.kafka.topic_log import TopicLog
from penstock.engine.sources.read_slice import read_slice
from penstock.engine.state.store import Store
from penstock.errors import SourceError
from penstock.query.source import Source
from support.kafka.cluster import Cluster
from support.kafka.mock_brokers import Brokers, mock_brokers
from support.kafka.real import SERVERS, delete, make, new_topic, only_made_up, only_real
from support.kafka.sending import Sent, send, send_in_transaction
from support.waiting import wait_until

LARGE = 900_000
"""Bytes of a record of which the made-up broker keeps five in a partition."""


def script(servers: str, topic: str = "a", more: str = "") -> str:
    return (
        "CREATE STREAM a (at BIGINT, x BIGINT) WITH (format = 'kafka', timestamp = 'at', "
        f"unit = 's', servers = '{servers}', topic = '{topic}'{more});"
        "SELECT a.x FROM a [RANGE 1 MINUTE];"
    )


def value(x: int, size: int = 0) -> bytes:
    return json.dumps({"at": x, "x": x, "pad": "." * size}).encode()


def results(text: str, folder: Path) -> list[int]:
    """All results so far, after a run over all there is."""
    out = folder / "out.jsonl"
    query = ps.sql(text, engine="local")
    run = query.local(sink=ps.jsonl(out), checkpoint=folder / "state", available_now=True)
    run.await_termination()
    lines = out.read_text(encoding="utf-8").splitlines() if out.exists() else []
    return sorted(json.loads(line)["x"] for line in lines)


@pytest.fixture
def brokers() -> Iterator[Brokers]:
    with mock_brokers() as made:
        yield made


class _Cutting:
    """A reader whose broker goes down after so many requests of records."""

    def __init__(self, reader: Reader, brokers: Brokers, requests: int):
        self._reader = reader
        self._brokers = brokers
        self._left = requests

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reader, name)

    def take(self, most: int, timeout: float) -> Taken:
        self._left -= 1
        if self._left == 0:
            self._brokers.set_down()
        return self._reader.take(min(most, 5), timeout)


@pytest.mark.parametrize("requests", [2, 9])
def test_a_broker_down_in_the_middle_of_a_slice_ends_the_run_and_loses_nothing(
    requests: int, brokers: Brokers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    send(brokers.servers, "a", [Sent(value(x, 1000)) for x in range(60)], at_once=1)
    # So little is fetched ahead that the broker is needed to the end.
    settings = {
        "queued.min.messages": 1,
        "fetch.message.max.bytes": 2000,
        "fetch.queue.backoff.ms": 1,
        "reconnect.backoff.max.ms": 100,
    }
    ahead = "".join(f", 'kafka.{name}' = {value}" for name, value in settings.items())
    text = script(brokers.servers, more=f"{ahead}, max_rows = 40")
    monkeypatch.setattr(fetch, "PATIENCE", 0.5)
    with monkeypatch.context() as patched:
        cut: list[_Cutting] = []

        def cutting(source: Source, told: Collection[str]) -> Any:
            cut[:] = cut or [_Cutting(reader_of(source, told), brokers, requests)]
            return cut[0]

        patched.setattr(fetch, "reader_of", cutting)
        with pytest.raises(SourceError, match=r"cannot read a\[0\]@\d+ of stream a: nothing came"):
            results(text, tmp_path)
    monkeypatch.setattr(fetch, "PATIENCE", 30.0)
    brokers.set_up()
    assert results(text, tmp_path) == list(range(60))


@only_made_up
def test_records_that_expired_before_they_were_read_are_missed(tmp_path: Path) -> None:
    cluster = Cluster()
    send(cluster.servers, "a", [Sent(value(x)) for x in (0, 1)])
    text = script(cluster.servers)
    assert results(text, tmp_path) == [0, 1]
    send(cluster.servers, "a", [Sent(value(x, LARGE)) for x in range(2, 12)], at_once=1)
    with pytest.raises(SourceError, match=r"the records of a\[0\] after 2 have expired"):
        results(text, tmp_path)
    found = results(script(cluster.servers, more=", data_loss = 'skip'"), tmp_path)
    assert found[:2] == [0, 1]
    assert found[2:] == list(range(found[2], 12))
    assert found[2] > 2


def log_of(source: Source, folder: Path) -> TopicLog:
    return TopicLog(source, Store(Place.of(folder)), "sources/a")


@only_made_up
@pytest.mark.parametrize("data_loss", ["fail", "skip"])
def test_records_may_expire_when_a_batch_is_about_to_read_them(
    data_loss: str, tmp_path: Path
) -> None:
    cluster = Cluster()
    send(cluster.servers, "a", [Sent(value(x, LARGE)) for x in range(4)], at_once=1)
    source = parse(script(cluster.servers, more=f", data_loss = '{data_loss}'")).sources["a"]
    log = log_of(source, tmp_path)
    (piece,) = log.slices(0, log.find(0))
    assert (piece.first, piece.last) == (0, 4)
    send(cluster.servers, "a", [Sent(value(x, LARGE)) for x in range(4, 7)], at_once=1)
    if data_loss == "fail":
        with pytest.raises(SourceError, match=r"cannot read a\[0\]@0 of stream a: .*range"):
            list(read_slice(source, ("at", "x"), piece))
        return
    (block,) = read_slice(source, ("at", "x"), piece)
    left = block.rows.column("x").to_pylist()
    assert left == list(range(left[0], 4))
    assert 0 < left[0] < 4


def test_a_topic_of_another_identity_is_refused_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = Cluster()
    send(cluster.servers, "a", [Sent(value(x)) for x in range(3)])
    text = script(cluster.servers)
    monkeypatch.setattr(topic_log, "topic_id_of", lambda source: "first")
    assert results(text, tmp_path) == [0, 1, 2]
    # As long as before, so that offsets tell nothing.
    monkeypatch.setattr(topic_log, "topic_id_of", lambda source: "second")
    with pytest.raises(SourceError, match=r"topic a is not the one that was read before"):
        results(text, tmp_path)
    # Brokers that do not tell say nothing against it.
    monkeypatch.setattr(topic_log, "topic_id_of", lambda source: None)
    assert results(text, tmp_path) == [0, 1, 2]


def test_a_topic_that_was_made_anew_may_be_read_from_its_beginning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = Cluster()
    send(cluster.servers, "a", [Sent(value(x)) for x in range(3)])
    source = parse(script(cluster.servers, more=", data_loss = 'skip'")).sources["a"]
    monkeypatch.setattr(topic_log, "topic_id_of", lambda source: "first")
    log = log_of(source, tmp_path)
    assert log.find(0) == 1
    assert log.find(1) == 1
    monkeypatch.setattr(topic_log, "topic_id_of", lambda source: "second")
    again = log_of(source, tmp_path)
    assert again.find(1) == 2
    assert [(piece.first, piece.last) for piece in again.slices(1, 2)] == [(0, 3)]
    assert again.find(2) == 2


def test_partitions_are_added_from_their_beginning_and_missed_when_they_are_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster, known = Cluster(), [0]
    monkeypatch.setattr(topic_log, "partitions_of", lambda source: known)
    send(cluster.servers, "a", [Sent(value(x), part=x % 2) for x in range(4)])
    # What came before the first run is not read; what is in a partition that is new is.
    text = script(cluster.servers, more=", start = 'latest'")
    assert results(text, tmp_path) == []
    known = [0, 1]
    assert results(text, tmp_path) == [1, 3]
    known = [0]
    with pytest.raises(SourceError, match=r"a\[1\] are not there any more"):
        results(text, tmp_path)
    send(cluster.servers, "a", [Sent(value(x), part=x % 2) for x in range(4, 6)])
    skipping = script(cluster.servers, more=", start = 'latest', data_loss = 'skip'")
    assert results(skipping, tmp_path) == [1, 3, 4]


@only_real
def test_a_topic_that_is_deleted_and_filled_as_before_is_noticed(tmp_path: Path) -> None:
    topic = new_topic()
    send(SERVERS, topic, [Sent(value(x)) for x in range(3)])
    text = script(SERVERS, topic)
    assert results(text, tmp_path) == [0, 1, 2]
    delete(topic)
    wait_until(lambda: _can_make(topic))
    send(SERVERS, topic, [Sent(value(x)) for x in range(100, 103)])
    with pytest.raises(SourceError, match="is not the one that was read before"):
        results(text, tmp_path)
    skipping = script(SERVERS, topic, ", data_loss = 'skip'")
    assert results(skipping, tmp_path) == [0, 1, 2, 100, 101, 102]


def _can_make(topic: str) -> bool:
    """Whether a topic could be made, which it cannot while its deletion goes on."""
    from confluent_kafka import KafkaException

    try:
        make(topic)
    except KafkaException:
        return False
    return True


@only_real
def test_slices_may_end_in_aborted_transactions(tmp_path: Path) -> None:
    topic, wanted = new_topic(), Counter[int]()
    text = script(SERVERS, topic, ", max_rows = 7")
    for turn in range(6):
        commits = turn % 3 != 1
        made = [Sent(value(10 * turn + x), part=x % 2) for x in range(5)]
        send_in_transaction(SERVERS, topic, made, commits=commits)
        wanted.update(10 * turn + x for x in range(5) if commits)
        assert Counter(results(text, tmp_path)) == wanted
    everything = text.replace("max_rows = 7", "isolation = 'read_uncommitted'")
    assert len(results(everything, tmp_path / "all")) == 30

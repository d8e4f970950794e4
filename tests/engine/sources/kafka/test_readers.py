"""Records in bulk and as objects: the same, whatever is in them."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from penstock.cql.script import parse
from penstock.engine.sources.kafka import reader, values
from penstock.engine.sources.kafka.fetch import fetched
from penstock.engine.sources.kafka.librdkafka import Handle, bound
from penstock.engine.sources.kafka.reader import BulkReader, ObjectReader, reader_of
from penstock.engine.sources.kafka.records import read_records
from penstock.engine.sources.slices import Slice
from penstock.errors import SourceError
from penstock.query.source import Source
from support.kafka.mock_brokers import Brokers, mock_brokers
from support.kafka.sending import Sent, send

RECORDS = 3_000
VALUES: list[bytes | None] = [
    None,
    b"",
    b"  ",
    b"\n",
    b'{"x": 7}',
    b'{"x":\n 8}',
    b'\n{"x": 9}\n',
    b'{"x": 1}\n{"x": 2}',
    b'{"X": 3, "other": "\xc3\xa9"}',
    b'{"x": "text"}',
    b"[1]",
    b"\xff\x00",
    b'{"x": null}',
]


@pytest.fixture(scope="module")
def brokers() -> Iterator[Brokers]:
    with mock_brokers() as found:
        yield found


def source_of(servers: str, topic: str, more: str = "") -> Source:
    text = (
        "CREATE STREAM a (x BIGINT, kafka_timestamp TIMESTAMP, kafka_partition INT, "
        f"kafka_offset BIGINT) WITH (format = 'kafka', servers = '{servers}', topic = '{topic}', "
        f"timestamp = 'kafka_timestamp', malformed = 'drop'{more}); SELECT a.x FROM a [NOW];"
    )
    return parse(text).sources["a"]


def read(source: Source, piece: Slice) -> tuple[list[Any], int]:
    """The rows of a slice with their offsets, and how many were malformed."""
    rows, malformed = list[Any](), 0
    for records in read_records(source, [field.name for field in source.fields], piece):
        batch = records.block.batch
        rows += zip(records.offsets.tolist(), batch.to_pylist(), strict=True)
        malformed += records.block.malformed
    return rows, malformed


@pytest.mark.parametrize("seed", range(4))
def test_readers_give_the_same(
    seed: int, brokers: Brokers, monkeypatch: pytest.MonkeyPatch
) -> None:
    random, topic = Random(seed), f"same{seed}"
    times = [0, 1, 1_700_000_000_000, 253_402_300_799_999, 253_402_300_800_000, 2**61]
    chosen = VALUES if seed % 2 else [b'{"x": 7}', b'{"x": -1, "y": [1, "}"]}', b"{}"]
    sent = [
        Sent(random.choice(chosen), part=2, millis=random.choice(times)) for _ in range(RECORDS)
    ]
    send(brokers.servers, topic, sent)
    source = source_of(brokers.servers, topic)
    ends = sorted(random.sample(range(RECORDS + 1), 6))
    pieces = [
        Slice("a", number=2, first=first, last=last, is_of_topic=True)
        for first, last in zip([0, *ends], [*ends, RECORDS], strict=True)
    ]
    if seed < 2:
        # By compiled loops, as if they were long.
        monkeypatch.setattr(values, "MANY", 1)
    in_bulk = [read(source, piece) for piece in pieces]
    assert isinstance(reader_of(source, {"kafka_timestamp"}), BulkReader)
    monkeypatch.setattr(reader, "bound", lambda: None)
    assert isinstance(reader_of(source, set()), ObjectReader)
    assert [read(source, piece) for piece in pieces] == in_bulk
    taken = sum(len(rows) + malformed for rows, malformed in in_bulk)
    assert taken == RECORDS
    assert any(malformed for _, malformed in in_bulk)


def test_what_was_fetched_beyond_a_slice_is_no_part_of_the_next(brokers: Brokers) -> None:
    """One client reads slices here and there, each from among records that it has fetched."""
    random, sources = Random(5), dict[str, Source]()
    for number, topic in enumerate(("ones", "twos")):
        sent = [Sent(b'{"x": %d}' % (10 * n + number), part=n % 2) for n in range(RECORDS)]
        send(brokers.servers, topic, sent)
        sources[topic] = source_of(brokers.servers, topic)
    for _ in range(30):
        number, part = random.randrange(2), random.randrange(2)
        first, last = sorted(random.sample(range(RECORDS // 2 + 1), 2))
        piece = Slice("a", number=part, first=first, last=last, is_of_topic=True)
        rows, malformed = read(sources[("ones", "twos")[number]], piece)
        assert [(offset, row["x"]) for offset, row in rows] == [
            (offset, 10 * (2 * offset + part) + number) for offset in range(first, last)
        ]
        assert malformed == 0


def test_keys_and_headers_are_read_as_objects(brokers: Brokers) -> None:
    source = source_of(brokers.servers, "keys")
    assert isinstance(reader_of(source, {"kafka_key"}), ObjectReader)
    assert isinstance(reader_of(source, {"kafka_headers", "kafka_offset"}), ObjectReader)


def test_both_tell_of_offsets_that_are_not_there(
    brokers: Brokers, monkeypatch: pytest.MonkeyPatch
) -> None:
    send(brokers.servers, "short", [Sent(b"{}")] * 5)
    source = source_of(brokers.servers, "short")
    piece, told = Slice("a", first=10, last=20, is_of_topic=True), list[str]()
    for library in (bound(), None):
        monkeypatch.setattr(reader, "bound", lambda library=library: library)
        with pytest.raises(SourceError, match=r"cannot read short\[0\]@10 of stream a: ") as caught:
            fetched(source, piece)
        told.append(str(caught.value))
    assert told[0] == told[1]


def test_settings_that_the_library_refuses_are_told() -> None:
    from confluent_kafka import KafkaException

    with pytest.raises(KafkaException, match="No such configuration property"):
        Handle.of(bound(), {"no.such.setting": "1"})
    with pytest.raises(KafkaException, match=r"fetch\.wait\.max\.ms"):
        Handle.of(bound(), {"fetch.wait.max.ms": "soon"})

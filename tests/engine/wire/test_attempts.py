"""What may pass is tried again, and what is too much is read by halves: neither ends a query."""

from __future__ import annotations

import errno
import os
import signal
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

import penstock as ps
from penstock.api import sql
from penstock.cql import parse
from penstock.engine.join.pack import Packing
from penstock.engine.places.place import Place as Folder
from penstock.engine.run.options import RunOptions
from penstock.engine.sinks.sink import Sink, foreach_batch
from penstock.engine.sources import feed as feeds
from penstock.engine.sources import read
from penstock.engine.sources.feed import Feed
from penstock.engine.sources.parsed import Ask, Parsed
from penstock.engine.state.store import Store
from penstock.engine.wire import attempts
from penstock.engine.wire.packets import Packet
from penstock.engine.wire.tags import SLICE
from penstock.errors import MemoryLimitError, SourceError
from penstock.query import Query
from support.engines.runs import Place, run_local, run_spark
from support.engines.soak import script, write_input
from support.streams.cases import canonical

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FILES = 6


@pytest.fixture
def query(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Query:
    """A join of three streams that takes all files in one batch; attempts follow at once."""
    monkeypatch.setattr(attempts, "PAUSES", (0.0, 0.0, 0.0))
    write_input(tmp_path / "in", FILES, Random(3))
    return sql(script("common", tmp_path / "in").replace(" max_files=1,", "")).query


def undisturbed(query: Query, folder: Path) -> Counter[tuple[Any, ...]]:
    place = Place(folder / "undisturbed")
    run_local(query, place)
    found = canonical(place.results(query))
    assert found.total() > 100
    return found


def failing(times: int, monkeypatch: pytest.MonkeyPatch, error: int = errno.EIO) -> list[str]:
    """Have so many readings of files fail, as a disk does; the files that were begun."""
    reader, begun = read._READERS["parquet"], list[str]()

    def failing_reader(ask: Ask) -> Iterator[Parsed]:
        begun.append(str(ask.path))
        if len(begun) <= times:
            raise OSError(error, os.strerror(error))
        yield from reader(ask)

    monkeypatch.setitem(read._READERS, "parquet", failing_reader)
    return begun


@pytest.mark.parametrize("malformed", ["fail", "drop"])
def test_a_disk_that_fails_for_a_moment_ends_nothing_and_loses_nothing(
    malformed: str, query: Query, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where files that cannot be read are dropped, one on a disk that fails is not one of them."""
    inputs = tuple(
        replace(item, source=replace(item.source, malformed=malformed)) for item in query.inputs
    )
    query = replace(query, inputs=inputs)
    right = undisturbed(query, tmp_path)
    failing(2, monkeypatch)
    place = Place(tmp_path)
    run_local(query, place)
    assert canonical(place.results(query)) == right


def test_a_disk_that_goes_on_failing_is_an_error_with_its_file(
    query: Query, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = failing(1000, monkeypatch)
    with pytest.raises(SourceError, match="parquet: Input/output error"):
        run_local(query, Place(tmp_path))
    assert len(begun) == 4


def test_what_will_not_pass_is_not_tried_again(
    query: Query, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = failing(1000, monkeypatch, errno.EACCES)
    with pytest.raises(SourceError):
        run_local(query, Place(tmp_path))
    assert len(begun) == 1


def test_a_batch_that_does_not_fit_is_read_by_halves(
    query: Query, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = undisturbed(query, tmp_path)
    run, most = Packing.run, 6

    def limited(packing: Packing, packets: Iterable[Packet]) -> Iterator[Packet]:
        held = list(packets)
        if sum(packet.tag == SLICE for packet in held) > most:
            raise MemoryError
        yield from run(packing, held)

    monkeypatch.setattr(Packing, "run", limited)
    place = Place(tmp_path)
    reports = run_local(query, place)
    # Of each of the three streams 2, 2, 2 files; the last drains.
    assert [report.batch for report in reports] == [0, 1, 2, 3]
    assert canonical(place.results(query)) == right


def test_what_cannot_be_split_is_an_error(
    query: Query, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(packing: Packing, packets: Iterable[Packet]) -> Iterator[Packet]:
        yield from ()
        raise MemoryError

    monkeypatch.setattr(Packing, "run", never)
    with pytest.raises(MemoryLimitError, match="does not fit into memory"):
        run_local(query, Place(tmp_path))


STREAM = """
CREATE STREAM s (ts BIGINT) WITH (format='csv', path='{}', timestamp='ts', unit='s'{});
CREATE STREAM m (ts TIMESTAMP) WITH (format='synthetic', timestamp='ts', rate=10, rows=1000);
CREATE TABLE t (x INT) WITH (format='csv', path='{}');
SELECT s.ts FROM s [NOW], m [NOW], t
"""


def feed_of(folder: Path, option: str = "") -> Feed:
    """A feed over files of ten bytes each, made-up tuples and a table of three files."""
    for name, count in (("in", 10), ("table", 3)):
        (folder / name).mkdir(exist_ok=True)
        for number in range(count):
            (folder / name / f"{number}.csv").write_text("ts\n000001\n" if name == "in" else "x\n1")
    text = STREAM.format(folder / "in", option, folder / "table")
    feed = Feed(parse(text).sources.values(), Store(Folder.of(folder / "checkpoint")))
    feed.freeze()
    return feed


def test_a_batch_takes_so_many_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feeds, "BATCH_BYTES", 30)
    first = feed_of(tmp_path).serve(0, {})
    assert first is not None
    assert first.offsets == {"s": 3, "m": 1, "t": 3}, "all of a table at once"
    second = feed_of(tmp_path).serve(1, first.offsets)
    assert second is not None
    assert second.offsets["s"] == 6
    assert sum(piece.weight for piece in second.slices if piece.source == "s") == 30
    for option, taken in (
        (", max_bytes = 1", 1),
        (", max_bytes = '55 B'", 5),
        (", max_files=2", 2),
        (", max_files=7", 7),
        (", max_files=7, max_bytes = '45 B'", 4),
    ):
        served = feed_of(tmp_path, option).serve(100 + taken, {})
        assert served is not None
        assert served.offsets["s"] == taken


def test_a_large_batch_that_was_killed_is_halved_by_the_next_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed = feed_of(tmp_path)
    whole = feed.serve(0, {})
    again = feed_of(tmp_path).serve(0, {})
    assert whole is not None
    assert whole == again, "it is small"
    monkeypatch.setattr(feeds, "SPLIT_BYTES", 25)
    assert feed.serve(0, {}) == whole, "the run that has begun it goes on"
    sizes = []
    for _ in range(4):
        half = feed_of(tmp_path).serve(0, {})
        assert half is not None
        sizes.append(half.offsets["s"])
        assert half.offsets["t"] == 3
        assert half.clock == whole.clock
    assert sizes == [5, 3, 2, 1]


def test_what_others_know_by_its_number_is_not_split(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeds, "SPLIT_BYTES", 25)
    whole = feed_of(tmp_path).serve(0, {})
    feed = feed_of(tmp_path)
    feed.may_split = False
    assert feed.serve(0, {}) == whole
    assert feed.halved(0, {}) is None
    sinks = {"parquet:out": True, "jsonl:out.jsonl": True, "kafka:host:9092/topic": False}
    for name, may_split in sinks.items():
        options = RunOptions(sink=Sink.named(name), checkpoint="")
        assert options.may_split == may_split
    given = RunOptions(sink=foreach_batch(lambda frame, number: None), checkpoint="")
    assert not given.may_split


# ── on Spark ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.spark
def test_killed_workers_end_no_query(
    query: Query, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More often than Spark tries a task: then the batch is run again."""
    right = undisturbed(query, tmp_path)
    marks = tmp_path / "marks"
    marks.mkdir()
    most = 5

    @ps.function(cost=1e-6, selectivity=1.0)
    def survives(number: int) -> bool:
        killed = len(list(marks.iterdir()))
        if killed < most:
            (marks / f"{killed}-{os.getpid()}").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return number is not None

    text = script("common", tmp_path / "in").replace(" max_files=1,", "")
    deadly = parse(text.rstrip().rstrip(";") + " AND survives(a.id)", functions=(survives,))
    place = Place(tmp_path)
    run_spark(spark, deadly, place)
    assert len(list(marks.iterdir())) >= most
    assert canonical(place.results(deadly)) == right

"""Few tasks are dealt their packets by the driver, many get them through Spark's shuffle: both make
the same of them."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyspark.sql import SparkSession

import penstock as ps
from penstock.engine.places.place import Place
from penstock.engine.run.job import Stage
from penstock.engine.spark import runner, ticker
from penstock.engine.state.listing import filed_state
from penstock.engine.state.listing.segments import Segments
from penstock.engine.state.manifest import newest
from penstock.engine.state.store import Store
from penstock.engine.wire.packet_files import PacketFiles
from penstock.engine.wire.packets import Packet
from penstock.engine.wire.tags import Tag

DECLARED = "ts BIGINT, k BIGINT, s STRING"


def stream(name: str, folder: Path) -> str:
    options = f"format = 'csv', path = '{folder / name}', timestamp = 'ts', unit = 'ms'"
    return f"CREATE STREAM {name} ({DECLARED}) WITH ({options});\n"


def written(folder: Path) -> str:
    """Two streams of two files each, with rows that are large enough to travel as files."""
    rng = Random("ways")
    for name in ("a", "b"):
        (folder / name).mkdir()
        for number in range(2):
            times = range(number * 1000, (number + 1) * 1000)
            lines = [f"{time},{rng.randrange(300)},{'x' * rng.randrange(200)}" for time in times]
            (folder / name / f"{number}.csv").write_text("\n".join(["ts,k,s", *lines, ""]))
    view = "SELECT a.k, COUNT(*) AS n, MAX(b.s) AS s FROM a [RANGE 500 MILLISECONDS],"
    rest = "b [RANGE 500 MILLISECONDS] WHERE a.k = b.k GROUP BY a.k EVERY 100 MILLISECONDS;"
    return f"{stream('a', folder)}{stream('b', folder)}{view} {rest}"


@pytest.mark.spark
def test_both_ways_give_what_one_process_gives(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = written(tmp_path)
    found = {}
    for way, few, little in (("dealt", 3, 0), ("moved", 2, 0), ("here", 3, 1 << 30)):
        monkeypatch.setattr(runner, "_FEW", few)
        monkeypatch.setattr(runner, "_LITTLE", little)
        path = tmp_path / f"{way}.jsonl"
        asked = ps.sql(text).start(
            spark,
            sink=ps.jsonl(path),
            checkpoint=tmp_path / way,
            available_now=True,
            partitions=3,
        )
        asked.await_termination()
        found[way] = sorted(path.read_text().splitlines())
    path = tmp_path / "one.jsonl"
    with ps.sql(text, engine="local").local(
        sink=ps.jsonl(path), checkpoint=tmp_path / "one", available_now=True
    ) as run:
        run.await_termination()
    expected = sorted(path.read_text().splitlines())
    assert len(expected) > 1000
    assert found == dict.fromkeys(("dealt", "moved", "here"), expected)


def test_few_packets_that_are_much_work_are_left_to_tasks(tmp_path: Path) -> None:
    files, lightness = PacketFiles(Place.of(str(tmp_path))), runner.Lightness()
    few = [Packet(0, Tag("new", "a"), b"12345678")]

    def slow(packets: Iterable[Packet]) -> Iterator[Packet]:
        time.sleep(0.3)
        return iter(packets)

    task = runner._Task(files, lambda: None)
    assert runner._is_light(few, task, lightness)
    assert lightness.done(Stage(1, iter), few, files) == few
    assert runner._is_light(few, task, lightness)
    assert lightness.done(Stage(1, slow), few, files) == few
    assert not runner._is_light(few, task, lightness)
    large = [Packet(0, Tag("new", "a"), bytes(1 << 21))]
    assert not runner._is_light(list(files.leave(large)), task, runner.Lightness())


QUERIES = {
    "view": "SELECT a.k, COUNT(*) AS n, MAX(b.s) AS s FROM a [RANGE 500 MILLISECONDS],"
    " b [RANGE 500 MILLISECONDS] WHERE a.k = b.k GROUP BY a.k EVERY 100 MILLISECONDS;",
    "rows": "SELECT a.ts, b.ts AS other, a.k FROM a [ROWS 50], b [ROWS 50] WHERE a.k = b.k;",
}


@pytest.mark.spark
@pytest.mark.parametrize("asked", QUERIES)
def test_a_large_state_is_fetched_by_tasks(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: str
) -> None:
    """Each its own part of it, and of what it is to read, from files that are gone afterwards."""
    monkeypatch.setattr(runner, "_FEW", 0)
    monkeypatch.setattr(ticker, "_LIGHT", 0)
    monkeypatch.setattr(filed_state, "LARGE", 0)
    declared = written(tmp_path).partition("SELECT")[0].replace("format", "max_files = 1, format")
    text = declared + QUERIES[asked]
    filed: list[Segments] = []
    write = Segments.write

    def told(*given: Any) -> Segments:
        filed.append(write(*given))
        return filed[-1]

    monkeypatch.setattr(Segments, "write", told)
    path, other = tmp_path / "spark.jsonl", tmp_path / "here.jsonl"
    with ps.sql(text).start(
        spark, sink=ps.jsonl(path), checkpoint=tmp_path / "s", available_now=True, partitions=3
    ) as run:
        run.await_termination()
    with ps.sql(text, engine="local").local(
        sink=ps.jsonl(other), checkpoint=tmp_path / "here", available_now=True
    ) as here:
        here.await_termination()
    expected = sorted(other.read_text().splitlines())
    assert len(expected) > 100
    assert sorted(path.read_text().splitlines()) == expected
    # The packets of the first batch and of the second, and the state between them.
    assert [each.count for each in filed] == [2, 3, 2]
    assert not list((tmp_path / "s").glob("transit/*/*"))
    store = Store(Place.of(tmp_path / "s"))
    listed = {chunk.name for made in newest(store, 2) for chunk in made.chunks()}
    assert set(store.names("state")) == listed

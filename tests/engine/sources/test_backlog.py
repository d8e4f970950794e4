"""The feed's backlog, and since when the data of a batch could be read."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from penstock.cql import parse
from penstock.engine.places.place import Place
from penstock.engine.sources.feed import Feed
from penstock.engine.state.store import Store

FILES = """
CREATE STREAM a (ts BIGINT)
  WITH (format='csv', path='{folder}', timestamp='ts', unit='us', max_files=2);
SELECT a.ts AS ts FROM a [NOW]
"""
BLOCKS = """
CREATE STREAM a (ts TIMESTAMP) WITH (format='synthetic', timestamp='ts', rate=10, duration='1 h');
SELECT a.ts AS ts FROM a [NOW]
"""


def feed_of(script: str, tmp_path: Path) -> Feed:
    return Feed(parse(script).sources.values(), Store(Place.of(str(tmp_path / "checkpoint"))))


def write(folder: Path, numbers: range, mtime: float = 1.0) -> None:
    folder.mkdir(exist_ok=True)
    for number in numbers:
        path = folder / f"{number}.csv"
        path.write_text(f"ts\n{number}\n")
        os.utime(path, (mtime + number, mtime + number))


def test_files_that_are_there_and_unread_are_counted(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    write(folder, range(5))
    feed = feed_of(FILES.format(folder=folder), tmp_path)
    serving = feed.serve(0, {})
    assert serving is not None
    assert feed.backlog(serving.offsets) == {"a": 3}
    write(folder, range(5, 7))
    assert feed.backlog(serving.offsets, seconds=-1.0) == {"a": 3}
    assert feed.backlog(serving.offsets, seconds=1e9) == {"a": 5}


def test_a_folder_that_is_gone_is_an_error_of_the_next_look(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    write(folder, range(3))
    feed = feed_of(FILES.format(folder=folder), tmp_path)
    serving = feed.serve(0, {})
    assert serving is not None
    folder.rename(tmp_path / "elsewhere")
    assert feed.backlog(serving.offsets, seconds=1e9) == {"a": 1}


def test_what_is_read_to_its_end_is_not_waited_for(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    write(folder, range(3))
    feed = feed_of(FILES.format(folder=folder), tmp_path)
    feed.freeze()
    serving = feed.serve(0, {})
    assert serving is not None
    assert serving.oldest is None
    assert feed.backlog(serving.offsets, seconds=1e9) == {"a": 1}


def test_files_are_waited_for_since_they_came_or_the_run_began(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    before = time.time()
    write(folder, range(3))
    feed = feed_of(FILES.format(folder=folder), tmp_path)
    old = feed.serve(0, {})
    assert old is not None
    assert old.oldest is not None
    assert before <= old.oldest <= time.time()
    write(folder, range(2, 9), mtime=before + 1e6)
    new = feed.serve(1, {"a": 3})
    assert new is not None
    assert new.oldest == pytest.approx(before + 1e6 + 3)


def test_a_file_that_was_written_before_is_waited_for_since_it_was_put_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [1000.0]
    monkeypatch.setattr(time, "time", lambda: clock[0])
    folder = tmp_path / "in"
    write(folder, range(2))
    feed = feed_of(FILES.format(folder=folder), tmp_path)
    first = feed.serve(0, {})
    assert first is not None
    clock[0] = 1500.0
    assert feed.serve(1, first.offsets) is None
    write(folder, range(2, 4), mtime=1010.0)
    clock[0] = 1600.0
    moved = feed.serve(1, first.offsets)
    assert moved is not None
    assert moved.oldest == 1500.0
    write(folder, range(4, 6), mtime=1604.0)
    clock[0] = 1700.0
    written = feed.serve(2, moved.offsets)
    assert written is not None
    assert written.oldest == 1608.0


def test_blocks_that_are_due_and_unread_are_counted(tmp_path: Path) -> None:
    Store(Place.of(str(tmp_path / "checkpoint"))).publish("sources/started.json", b"1.0")
    feed = feed_of(BLOCKS, tmp_path)
    assert feed.backlog({}) == {"a": 3600}
    assert feed.backlog({"a": 3000}) == {"a": 600}


def test_blocks_are_waited_for_since_they_were_due(tmp_path: Path) -> None:
    started = time.time() + 1e6
    store = Store(Place.of(str(tmp_path / "checkpoint")))
    store.publish("sources/started.json", str(started).encode())
    store.publish("feed/000000000000.json", b'{"a": 7}')
    feed = feed_of(BLOCKS, tmp_path)
    assert feed.backlog({}) == {"a": 0}
    serving = feed.serve(0, {"a": 4})
    assert serving is not None
    assert serving.oldest == pytest.approx(started + 5)


def test_all_that_was_there_has_been_read(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    write(folder, range(3))
    feed = feed_of(FILES.format(folder=folder), tmp_path)
    first = feed.serve(0, {})
    assert first is not None
    assert not feed.is_over(1, {"a": 3}), "more may come"
    feed.freeze()
    write(folder, range(3, 5))
    assert not feed.is_over(1, first.offsets)
    last = feed.serve(1, first.offsets)
    assert last is not None
    assert feed.is_over(2, last.offsets)
    assert not feed.is_over(1, last.offsets), "it was begun, and is to be run again"

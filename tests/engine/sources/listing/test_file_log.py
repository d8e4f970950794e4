"""The log of files: what it knows, how it is kept, and what it forgets."""

from __future__ import annotations

import json
import logging
import os
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from penstock.engine.places.place import Place
from penstock.engine.sources.files import FileInfo
from penstock.engine.sources.listing import file_log, folder_scan, segments
from penstock.engine.sources.listing.file_log import FileLog
from penstock.engine.sources.listing.segments import span_of
from penstock.engine.state.store import Store
from penstock.errors import CheckpointError
from penstock.query import DataType, Field, Source

DAY = 24 * 3600
LONG_AGO = 1_000_000_000


def source(path: Path | str, **options: str | int) -> Source:
    fields = (Field("ts", DataType.BIGINT),)
    given = tuple(options.items())
    return Source("s", fields, "csv", path=str(path), timestamp="ts", unit="s", options=given)


def put(path: Path, seconds: int, text: str = "ts\n1\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (LONG_AGO + seconds, LONG_AGO + seconds))
    return path


def opened(tmp_path: Path, path: Path | str | None = None, **options: str | int) -> FileLog:
    """The log of a checkpoint, after a look."""
    log = FileLog(source(path or tmp_path / "in", **options), Store(Place.of(tmp_path / "log")))
    log.find()
    return log


def names(log: FileLog) -> list[str]:
    return [Path(file.path).name for file in log.files.values()]


def test_files_have_numbers_in_the_order_of_their_times(tmp_path: Path) -> None:
    put(tmp_path / "in/b", 1)
    put(tmp_path / "in/a/c", 0)
    put(tmp_path / "in/_hidden", 0)
    put(tmp_path / "in/.x/y", 0)
    log = opened(tmp_path)
    put(tmp_path / "in/a/d", -5)
    log.find()
    assert names(log) == ["c", "b", "d"]
    assert names(opened(tmp_path)) == ["c", "b", "d"]
    assert names(opened(tmp_path, f"{tmp_path}/in/a/*")) == ["c", "b", "d"]


def test_a_look_asks_nothing_of_files_that_are_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(100):
        put(tmp_path / f"in/{number}", number)
    log = opened(tmp_path)
    asked: list[os.DirEntry[str]] = []
    info = folder_scan._info

    def told(entry: os.DirEntry[str]) -> FileInfo | None:
        asked.append(entry)
        return info(entry)

    monkeypatch.setattr(folder_scan, "_info", told)
    put(tmp_path / "in/new", 0)
    log.find()
    assert [entry.name for entry in asked] == ["new"]
    assert log.count == 101


def test_a_folder_where_nothing_has_come_or_gone_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder_scan, "_GRAIN", -1.0)
    put(tmp_path / "in/a/1", 0)
    log = opened(tmp_path)
    read: list[str] = []
    scandir = os.scandir

    def told(path: str) -> Any:
        read.append(path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", told)
    log.find()
    assert not read
    put(tmp_path / "in/a/2", 0)
    log.find()
    assert (len(read), log.count) == (1, 2)
    (tmp_path / "in/a/link").symlink_to(tmp_path / "later")
    log.find()
    put(tmp_path / "later", 9)
    log.find()
    assert log.count == 3, "a link says nothing when it begins to lead somewhere"


def test_the_same_file_by_another_path_is_not_read_again(tmp_path: Path) -> None:
    put(tmp_path / "in/a", 0)
    log = opened(tmp_path)
    (tmp_path / "in/link").symlink_to(tmp_path / "in/a")
    os.link(tmp_path / "in/a", tmp_path / "in/hard")
    (tmp_path / "in/around").symlink_to(tmp_path / "in")
    (tmp_path / "in/a").rename(tmp_path / "in/b")
    log.find()
    assert names(log) == ["a"]


def test_paths_to_one_file_that_are_found_at_once_are_one(tmp_path: Path) -> None:
    put(tmp_path / "in/a", 0)
    (tmp_path / "in/link").symlink_to(tmp_path / "in/a")
    os.link(tmp_path / "in/a", tmp_path / "in/hard")
    log = opened(tmp_path)
    assert log.count == 1
    log.find()
    assert log.count == 1


@pytest.mark.parametrize("other", ["link", "hard"])
def test_a_file_that_is_touched_is_known_by_its_other_name(
    other: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    put(tmp_path / "in/file", 0)
    if other == "hard":
        os.link(tmp_path / "in/file", tmp_path / "in/a")
    else:
        (tmp_path / "in/a").symlink_to(tmp_path / "in/file")
    log = opened(tmp_path)
    assert names(log) == ["a"]
    os.utime(tmp_path / "in/file", (LONG_AGO + 9, LONG_AGO + 9))
    log = opened(tmp_path)
    log.passed(1)
    os.utime(tmp_path / "in/file", (LONG_AGO + 12, LONG_AGO + 12))
    log.find()
    assert names(log) == []
    assert log.count == 1
    assert "was written again after it had been read" in caplog.text


def test_a_new_file_with_the_inode_of_one_that_is_gone_is_read(tmp_path: Path) -> None:
    path = put(tmp_path / "in/a", 0)
    log = opened(tmp_path)
    path.rename(tmp_path / "in/b")
    put(tmp_path / "in/b", 5, "ts\n2\n")
    log.find()
    assert names(log) == ["a", "b"]


@pytest.mark.parametrize("way", ["link", "moved", "copied"])
def test_a_folder_elsewhere_has_the_files_that_are_known(way: str, tmp_path: Path) -> None:
    put(tmp_path / "in/d=1/x", 0)
    put(tmp_path / "in/d=2/x", 0)
    put(tmp_path / "in/d=3/x", 0)
    assert opened(tmp_path).count == 3
    other = tmp_path / "other"
    if way == "link":
        other.symlink_to(tmp_path / "in")
    elif way == "moved":
        (tmp_path / "in").rename(other)
    else:
        shutil.copytree(tmp_path / "in", other)
    put(other / "d=4/x", 0)
    put(other / "d=1/y", 1, "ts\n7\n")
    log = opened(tmp_path, other)
    assert [Path(file.path).relative_to(other) for file in list(log.files.values())[3:]] == [
        Path("d=4/x"),
        Path("d=1/y"),
    ]


def test_files_of_another_folder_that_have_the_same_names_are_read(tmp_path: Path) -> None:
    put(tmp_path / "in/a", 0)
    opened(tmp_path)
    put(tmp_path / "other/a", 5)
    assert opened(tmp_path, tmp_path / "other").count == 2


def test_what_is_restored_from_a_copy_is_known(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    put(tmp_path / "in/a", 0)
    log = opened(tmp_path)
    log.passed(1)
    (tmp_path / "in").rename(tmp_path / "lost")
    shutil.copytree(tmp_path / "lost", tmp_path / "in")
    log.find()
    assert opened(tmp_path).count == log.count == 1
    assert not caplog.records


@pytest.mark.parametrize("is_copied_first", [True, False])
def test_a_file_is_known_whose_name_and_inode_change_one_after_the_other(
    is_copied_first: bool, tmp_path: Path
) -> None:
    """In one run, or in one after another, also where the folder is elsewhere by now."""
    put(tmp_path / "in/a", 0)
    opened(tmp_path)
    current = tmp_path / "in"
    for turn in range(4):
        if (turn % 2 == 0) == is_copied_first:
            current = shutil.copytree(current, tmp_path / f"in{turn}")
        else:
            next(current.iterdir()).rename(current / f"a{turn}")
        assert opened(tmp_path, current).count == 1
    shutil.rmtree(tmp_path / "in")
    shutil.copytree(current, tmp_path / "in")
    log = opened(tmp_path)
    next((tmp_path / "in").iterdir()).rename(tmp_path / "in/b")
    log.find()
    put(tmp_path / "in/new", 7)
    log.find()
    assert names(log) == ["a", "new"]


@pytest.mark.parametrize("way", ["in place", "by a new file"])
def test_a_file_that_is_written_again_is_named(
    way: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = put(tmp_path / "in/a", 0)
    put(tmp_path / "in/b", 0)
    log = opened(tmp_path)
    put(tmp_path / "in/b", 7)
    log.find()
    log.find()
    assert not caplog.records, "it has not been read yet"
    log.passed(2)
    if way == "in place":
        put(path, 5, "ts\n1\n2\n")
    else:
        put(tmp_path / "draft", 5, "ts\n1\n2\n").rename(path)
    for _ in range(3):
        log.find()
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert f"s: {path} was written again after it had been read" in record.message
    assert log.count == 2


def test_the_log_of_an_earlier_version_goes_on(tmp_path: Path) -> None:
    folder = tmp_path / "log/sources/s"
    folder.mkdir(parents=True)
    for number, name in enumerate("abc"):
        path = put(tmp_path / f"in/{name}", number)
        entry = {"path": str(path), "mtime": path.stat().st_mtime_ns, "size": 5}
        (folder / f"{number:012d}-{number + 1:012d}.json").write_text(json.dumps([entry]))
    put(tmp_path / "in/d", 9)
    assert names(opened(tmp_path)) == ["a", "b", "c", "d"]


def test_a_log_of_many_looks_is_in_few_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segments, "_TOGETHER", 4)
    looks = 4 * 4 + 2 * 4 + 2
    log = opened(tmp_path, put(tmp_path / "in/0", 0).parent)
    for number in range(1, looks):
        put(tmp_path / f"in/{number}", number)
        log.find()
    assert names(opened(tmp_path)) == [str(number) for number in range(looks)]
    spans = sorted(path.name for path in (tmp_path / "log/sources/s").iterdir())
    assert [span_of(name) for name in spans] == [(0, 16), (16, 20), (20, 24), (24, 25), (25, 26)]


def test_what_a_crash_has_left_twice_is_read_once(tmp_path: Path) -> None:
    log = opened(tmp_path, put(tmp_path / "in/0", 0).parent)
    folder = tmp_path / "log/sources/s"
    first = (folder / "000000000000-000000000001.json").read_bytes()
    for number in range(1, 64):
        put(tmp_path / f"in/{number}", number)
        log.find()
    (folder / "000000000000-000000000001.json").write_bytes(first)
    assert opened(tmp_path).count == 64
    assert len(list(folder.iterdir())) == 1


def test_a_log_that_lacks_files_is_refused(tmp_path: Path) -> None:
    log = opened(tmp_path, put(tmp_path / "in/0", 0).parent)
    for number in range(1, 4):
        put(tmp_path / f"in/{number}", number)
        log.find()
    (tmp_path / "log/sources/s/000000000001-000000000002.json").unlink()
    with pytest.raises(CheckpointError, match="files from number 1 on are not there"):
        opened(tmp_path)


def forgetting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, **options: str | int
) -> tuple[FileLog, Path]:
    """A log of ten days with a file each, of which those that may be are forgotten."""
    monkeypatch.setattr(file_log, "FEWEST", 1)
    folder = tmp_path / "in"
    log = opened(tmp_path, put(folder / "0", 0).parent, **options)
    for day in range(1, 11):
        put(folder / str(day), day * DAY)
        log.find()
    log.passed(11)
    return log, folder


def test_files_that_are_read_and_old_are_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    log, folder = forgetting(tmp_path, monkeypatch)
    assert len(list((tmp_path / "log/sources/s").glob("0*.json"))) == 8
    log.find()
    assert (log.count, caplog.records) == (11, [])
    again = opened(tmp_path)
    assert again.count == log.count == 11, "those that are forgotten are not read again"
    assert not again.files.keys() & set(range(3))
    assert not caplog.records
    put(folder / "old", 1 * DAY)
    put(folder / "newer", 2 * DAY + 1)
    again.find()
    assert names(again)[-1] == "newer", "newer than all that are forgotten"
    (record,) = caplog.records
    assert "old has just come, and is older than files that are forgotten" in record.message


def test_a_file_of_the_future_makes_no_others_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / "in/far", 1 << 33)
    monkeypatch.setattr(time, "time_ns", lambda: LONG_AGO * 10**9)
    forgetting(tmp_path, monkeypatch)
    assert opened(tmp_path).count == 12
    assert len(list((tmp_path / "log/sources/s").glob("0*.json"))) == 11


def test_all_files_are_remembered_if_that_is_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forgetting(tmp_path, monkeypatch, max_age=-1)
    assert len(list((tmp_path / "log/sources/s").glob("0*.json"))) == 11

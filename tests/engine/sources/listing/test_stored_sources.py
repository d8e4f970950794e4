"""Files of streams on S3: listed after the last name, and known by what they hold."""

from __future__ import annotations

import logging

import pytest

from penstock.cql import parse
from penstock.engine.places.place import Place, open_new
from penstock.engine.sources.listing.file_log import FileLog
from penstock.engine.state.store import Store
from penstock.query.source import Source
from support.stores.s3_server import S3Server


def put(place: Place, name: str, text: str) -> None:
    with open_new(place / name) as file:
        file.write(text.encode())


def source_at(uri: str) -> Source:
    text = f"""CREATE STREAM a (ts BIGINT) WITH (format='csv', path='{uri}', timestamp='ts',
               unit='s');
               SELECT a.ts FROM a [NOW]"""
    return parse(text).sources["a"]


@pytest.fixture
def folder(bucket: str) -> Place:
    place = Place.of(f"s3://{bucket}/in")
    for number in range(3):
        put(place, f"{number:04}.csv", f"{number}\n")
    return place


def names(log: FileLog) -> list[str]:
    return [Place.of(file.path).name for file in log.files.values()]


def test_a_look_begins_after_the_last_name(folder: Place, bucket: str, server: S3Server) -> None:
    log = FileLog(source_at(folder.text), Store(Place.of(f"s3://{bucket}/checkpoint")))
    log.find()
    log.find()
    before = len(server.requests())
    put(folder, "0003.csv", "3\n")
    log.find()
    listings = [path for _, path in server.requests()[before:] if "list-type=2" in path]
    looks = [path for path in listings if "prefix=in" in path]
    assert len(looks) == 1
    assert "start-after=in/0002.csv" in looks[0]
    assert names(log) == ["0000.csv", "0001.csv", "0002.csv", "0003.csv"]


def test_a_file_with_an_earlier_name_is_found_too(folder: Place, bucket: str) -> None:
    log = FileLog(source_at(folder.text), Store(Place.of(f"s3://{bucket}/checkpoint")))
    for _ in range(2):
        log.find()
    put(folder, "0000-more.csv", "4\n")
    for _ in range(16):
        log.find()
    assert "0000-more.csv" in names(log)
    put(folder, "0000-most.csv", "5\n")
    log.find(is_whole=True)
    assert "0000-most.csv" in names(log)


def test_the_etag_tells_what_was_written_again(
    folder: Place, bucket: str, caplog: pytest.LogCaptureFixture
) -> None:
    store = Store(Place.of(f"s3://{bucket}/checkpoint"))
    log = FileLog(source_at(folder.text), store)
    log.find()
    log.passed(3)
    again = FileLog(source_at(folder.text), store)
    again.passed(3)
    put(folder, "0000.csv", "0\n")
    put(folder, "0001.csv", "9\n")
    with caplog.at_level(logging.WARNING):
        again.find(is_whole=True)
    assert again.count == 3
    assert "0001.csv was written again" in caplog.text
    assert "0000.csv" not in caplog.text


def test_one_file_is_a_source_too(folder: Place, bucket: str) -> None:
    store = Store(Place.of(f"s3://{bucket}/checkpoint"))
    log = FileLog(source_at((folder / "0001.csv").text), store)
    log.find()
    assert names(log) == ["0001.csv"]

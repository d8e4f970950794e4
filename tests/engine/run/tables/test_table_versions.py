"""Versions of a table: when there is another, and that a checkpoint keeps what a batch reads."""

from __future__ import annotations

import gzip
import logging
import os
from pathlib import Path

import pytest

from penstock.cql import parse
from penstock.engine.places.place import Place
from penstock.engine.sources.read_slice import read_slice
from penstock.engine.sources.table_versions import TableVersions
from penstock.engine.state.store import Store
from penstock.errors import SourceError
from penstock.query import Source

MINUTE = 60.0


def table(folder: Path, path: str = "people", more: str = "") -> Source:
    text = f"""
    CREATE STREAM s (ts TIMESTAMP, k BIGINT) WITH (format = 'csv', path = 'in', timestamp = 'ts');
    CREATE TABLE person (id BIGINT, name STRING)
      WITH (format = 'csv', path = '{folder / path}', refresh = '10 minutes'{more});
    SELECT s.k, p.name FROM s [NOW], person AS p WHERE s.k = p.id
    """
    return parse(text).sources["person"]


def versions(source: Source, folder: Path) -> TableVersions:
    return TableVersions(source, Store(Place.of(str(folder / "checkpoint"))))


def write(path: Path, text: str, time: int) -> None:
    """A file as of a time, so that each is another whatever the clock says."""
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    os.utime(path, (time, time))


def rows(found: TableVersions, source: Source, number: int) -> list[tuple[object, ...]]:
    columns = ("id", "name")
    pieces = found.slices(number)
    blocks = [block.rows for piece in pieces for block in read_slice(source, columns, piece)]
    return [tuple(row.values()) for block in blocks for row in block.to_pylist()]


def test_a_table_is_looked_at_once_in_its_time(tmp_path: Path) -> None:
    source = table(tmp_path)
    write(tmp_path / "people" / "a.csv", "id,name\n1,Ada\n", 1)
    found = versions(source, tmp_path)
    assert found.renewed(0, 0.0) == 1
    write(tmp_path / "people" / "a.csv", "id,name\n1,Eve\n", 2)
    assert found.renewed(1, 9.9 * MINUTE) == 1
    assert found.renewed(1, 10.0 * MINUTE) == 2
    assert rows(found, source, 1) == [(1, "Ada")]
    assert rows(found, source, 2) == [(1, "Eve")]


def test_a_new_run_looks_at_once(tmp_path: Path) -> None:
    source = table(tmp_path)
    write(tmp_path / "people" / "a.csv", "id,name\n1,Ada\n", 1)
    assert versions(source, tmp_path).renewed(0, 0.0) == 1
    write(tmp_path / "people" / "b.csv", "id,name\n2,Bob\n", 2)
    again = versions(source, tmp_path)
    assert again.renewed(1, 1.0) == 2
    assert rows(again, source, 2) == [(1, "Ada"), (2, "Bob")]


def test_what_was_not_read_yet_is_read_before_anything_newer(tmp_path: Path) -> None:
    """A run that was killed between the version and the batch."""
    source = table(tmp_path)
    write(tmp_path / "people" / "a.csv", "id,name\n1,Ada\n", 1)
    versions(source, tmp_path).renewed(0, 0.0)
    write(tmp_path / "people" / "a.csv", "id,name\n1,Eve\n", 2)
    again = versions(source, tmp_path)
    assert again.renewed(0, 0.0) == 1
    assert rows(again, source, 1) == [(1, "Ada")]
    assert again.renewed(1, 0.0) == 2


def test_the_same_content_is_no_new_version(tmp_path: Path) -> None:
    source = table(tmp_path)
    write(tmp_path / "people" / "a.csv", "id,name\n1,Ada\n", 1)
    found = versions(source, tmp_path)
    found.renewed(0, 0.0)
    write(tmp_path / "people" / "a.csv", "id,name\n1,Ada\n", 2)
    assert found.renewed(1, 10 * MINUTE) == 1
    (tmp_path / "people" / "a.csv").rename(tmp_path / "people" / "b.csv")
    assert found.renewed(1, 20 * MINUTE) == 1
    found.passed(1)
    assert len(Store(Place.of(str(tmp_path / "checkpoint"))).names("tables")) == 2


def test_old_versions_are_deleted_once_a_batch_is_final(tmp_path: Path) -> None:
    source = table(tmp_path)
    store = Store(Place.of(str(tmp_path / "checkpoint")))
    found = versions(source, tmp_path)
    for number in range(1, 4):
        write(tmp_path / "people" / "a.csv", f"id,name\n{number},Ada\n", number)
        assert found.renewed(number - 1, number * 10 * MINUTE) == number
        assert len(store.names("tables")) == (2 if number == 1 else 4)
        found.passed(number)
        assert len(store.names("tables")) == 2
    assert rows(versions(source, tmp_path), source, 3) == [(3, "Ada")]


def test_an_empty_folder_is_an_empty_table(tmp_path: Path) -> None:
    source = table(tmp_path)
    write(tmp_path / "people" / "a.csv.gz", "id,name\n1,Ada\n", 1)
    found = versions(source, tmp_path)
    assert found.renewed(0, 0.0) == 1
    assert rows(found, source, 1) == [(1, "Ada")]
    (tmp_path / "people" / "a.csv.gz").unlink()
    assert found.renewed(1, 10 * MINUTE) == 2
    assert rows(found, source, 2) == []


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda path: path.unlink(), "there is no such file or directory"),
        (lambda path: write(path, "id,name\nx,Ada\n", 2), "line 2"),
        (lambda path: write(path, "id,nick\n1,Ada\n", 2), "has no column name"),
    ],
)
def test_a_table_that_cannot_be_read_stays_as_it_was(
    spoil: object, said: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert callable(spoil)
    path = tmp_path / "people.csv"
    source = table(tmp_path, "people.csv")
    write(path, "id,name\n1,Ada\n", 1)
    found = versions(source, tmp_path)
    found.renewed(0, 0.0)
    spoil(path)
    with caplog.at_level(logging.WARNING):
        assert found.renewed(1, 10 * MINUTE) == 1
        assert found.renewed(1, 20 * MINUTE) == 1
    (warning,) = [record.getMessage() for record in caplog.records]
    assert warning.startswith("table person stays as it was: ")
    assert str(path) in warning
    assert said in warning
    assert str(tmp_path / "checkpoint") not in warning
    write(path, "id,name\n1,Eve\n", 3)
    assert found.renewed(1, 30 * MINUTE) == 2
    assert rows(found, source, 2) == [(1, "Eve")]


def test_the_first_version_must_be_readable(tmp_path: Path) -> None:
    source = table(tmp_path, "people.csv")
    with pytest.raises(SourceError, match="no such file") as missing:
        versions(source, tmp_path).renewed(0, 0.0)
    assert missing.value.place is not None
    write(tmp_path / "people.csv", "id,name\nx,Ada\n", 1)
    with pytest.raises(SourceError, match=r"malformed row in .*people\.csv, line 2"):
        versions(source, tmp_path).renewed(0, 0.0)
    dropping = table(tmp_path, "people.csv", ", malformed = 'drop'")
    found = versions(dropping, tmp_path)
    assert found.renewed(0, 0.0) == 1
    assert rows(found, dropping, 1) == []

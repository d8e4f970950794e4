"""Finding input files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from penstock.engine.places.place import Place
from penstock.engine.sources.files import list_files
from penstock.errors import Caret, SourceError


def put(path: Path, text: str = "x", mtime: int = 1) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, ns=(mtime, mtime))
    return path


def names(path: Path | str, base: Path) -> list[str]:
    return [os.path.relpath(info.path, base) for info in list_files(str(path))]


def test_a_directory_gives_its_files_oldest_first(tmp_path: Path) -> None:
    put(tmp_path / "b.csv", mtime=3_000)
    put(tmp_path / "deep" / "er" / "c.csv", mtime=2_000)
    put(tmp_path / "z.csv", mtime=1_500)
    put(tmp_path / "a.csv", mtime=3_000)
    assert names(tmp_path, tmp_path) == ["z.csv", "deep/er/c.csv", "a.csv", "b.csv"]


def test_mtime_is_in_nanoseconds_and_size_in_bytes(tmp_path: Path) -> None:
    put(tmp_path / "a.csv", "four", mtime=1_700_000_000_123_456_789)
    (info,) = list_files(str(tmp_path))
    assert (info.mtime, info.size) == (1_700_000_000_123_456_789, 4)


def test_hidden_files_and_directories_are_left_out(tmp_path: Path) -> None:
    base = tmp_path / "_base"
    put(base / "a.csv")
    put(base / ".a.csv.crc")
    put(base / "_SUCCESS")
    put(base / "_temporary" / "b.csv")
    put(base / "day" / ".hidden" / "c.csv")
    assert names(base, base) == ["a.csv"]


def test_a_single_file_and_an_empty_directory(tmp_path: Path) -> None:
    path = put(tmp_path / "_named.csv")
    (tmp_path / "empty").mkdir()
    assert names(path, tmp_path) == ["_named.csv"]
    assert list_files(str(tmp_path / "empty")) == []


def test_a_pattern_takes_files_and_directories_that_match(tmp_path: Path) -> None:
    put(tmp_path / "day=1" / "a.csv")
    put(tmp_path / "day=2" / "b.csv")
    put(tmp_path / "other" / "c.csv")
    put(tmp_path / "day=3" / "_d.csv")
    assert names(tmp_path / "day=*", tmp_path) == ["day=1/a.csv", "day=2/b.csv"]
    assert names(tmp_path / "*" / "*.csv", tmp_path) == [
        "day=1/a.csv",
        "day=2/b.csv",
        "other/c.csv",
    ]
    assert names(tmp_path / "nothing*.csv", tmp_path) == []


def test_a_name_with_brackets_is_itself_if_it_exists(tmp_path: Path) -> None:
    path = put(tmp_path / "a[1].csv")
    assert names(path, tmp_path) == ["a[1].csv"]


def test_a_uri_of_local_files_gives_paths_that_can_be_opened(tmp_path: Path) -> None:
    put(tmp_path / "with blank" / "a b.csv", "text")
    (info,) = list_files((tmp_path / "with blank").as_uri())
    found = Place.of(info.path)
    assert found.filesystem.open_input_stream(found.path).read() == b"text"


def test_relative_paths_become_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path / "in" / "a.csv")
    monkeypatch.chdir(tmp_path)
    for written in ("in", "in/", "./in/*.csv", "in/a.csv"):
        assert [info.path for info in list_files(written)] == [str(path)]


@pytest.mark.parametrize("path", ["missing", "missing/*.csv", "missing/deep/x.csv"])
def test_a_missing_path_is_an_error_with_its_place(tmp_path: Path, path: str) -> None:
    text = "CREATE STREAM s WITH (path = 'x')"
    place = Caret(text, text.index("'x'"), text.index("'x'") + 3)
    with pytest.raises(SourceError) as caught:
        list_files(str(tmp_path / path), place)
    assert caught.value.message.startswith(f"cannot read {tmp_path / path}: ")
    assert "^^^" in str(caught.value)
    assert "hint: the path must be a file, a directory, a pattern" in str(caught.value)


def test_an_unknown_scheme_is_an_error() -> None:
    with pytest.raises(SourceError, match="cannot read nosuch://x"):
        list_files("nosuch://x")

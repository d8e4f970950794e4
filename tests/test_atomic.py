"""Files and folders that are written as a whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.atomic import draft_of, write_text


def test_a_text_replaces_the_one_before_and_leaves_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    for text in ("before", "after: ü"):
        write_text(path, text)
        assert path.read_text(encoding="utf-8") == text
    assert list(tmp_path.iterdir()) == [path]


def test_a_text_has_the_permissions_that_are_given(tmp_path: Path) -> None:
    write_text(tmp_path / "run", "#!/bin/sh\n", mode=0o755)
    assert (tmp_path / "run").stat().st_mode & 0o777 == 0o755


def test_what_stood_there_stays_if_writing_fails(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    write_text(path, "before")
    with pytest.raises(UnicodeEncodeError):
        write_text(path, "half \ud800")
    assert path.read_text(encoding="utf-8") == "before"
    assert list(tmp_path.iterdir()) == [path]


def fill(folder: Path, *names: str) -> None:
    with draft_of(folder) as draft:
        draft.mkdir()
        for name in names:
            (draft / name).touch()
        assert not folder.exists()


def test_a_folder_is_there_with_all_its_files_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "data"
    with pytest.raises(FileNotFoundError):
        fill(path, "one", "no/where")
    assert list(tmp_path.iterdir()) == []
    fill(path, "one")
    assert [each.name for each in path.iterdir()] == ["one"]


def test_a_place_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        write_text(tmp_path / "nowhere" / "a", "text")
    with pytest.raises(OSError, match="directory"):
        write_text(tmp_path, "text")
    assert list(tmp_path.iterdir()) == []

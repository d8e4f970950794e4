"""`penstock fmt` as a user runs it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from penstock.cli.main import app

MESSY = "select a from b[now]"
CLEAN = "SELECT a\nFROM b [NOW]\n"
DIFFERENCE = """\
--- messy.cql
+++ messy.cql
@@ -1 +1,2 @@
-select a from b[now]
\\ No newline at end of file
+SELECT a
+FROM b [NOW]
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "messy.cql").write_text(MESSY)
    (tmp_path / "clean.cql").write_text(CLEAN)
    return tmp_path


def fmt(*arguments: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(app, ["fmt", *arguments], input=stdin)


def test_files_are_laid_out_in_their_place_and_keep_their_mode(folder: Path) -> None:
    (folder / "messy.cql").chmod(0o640)
    done = fmt("messy.cql", "clean.cql")
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "changed messy.cql\n")
    assert (folder / "messy.cql").read_text() == CLEAN
    assert os.stat(folder / "messy.cql").st_mode & 0o777 == 0o640


def test_check_and_diff_write_nothing(folder: Path) -> None:
    assert fmt("--check", "clean.cql").exit_code == 0
    done = fmt("--check", "messy.cql", "clean.cql")
    assert (done.exit_code, done.stderr) == (1, "would change messy.cql\n")
    done = fmt("--diff", "messy.cql", "clean.cql")
    assert (done.exit_code, done.stdout) == (0, DIFFERENCE)
    assert fmt("--diff", "--check", "messy.cql").exit_code == 1
    assert (folder / "messy.cql").read_text() == MESSY


def test_stdin_goes_to_stdout() -> None:
    assert fmt("-", stdin=MESSY).stdout == CLEAN


def test_what_cannot_be_read_is_an_error(folder: Path) -> None:
    assert "cannot read nowhere.cql" in str(fmt("nowhere.cql").exception)
    (folder / "open.cql").write_text("SELECT 'x")
    assert "never closed" in str(fmt("open.cql").exception)

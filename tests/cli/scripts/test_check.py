"""`penstock check` as a user runs it: all findings, as text and JSON, and the exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from penstock.cli.main import app

RIGHT = """\
CREATE STREAM bid (ts TIMESTAMP, price DOUBLE)
WITH (format = 'csv', path = '{path}', timestamp = 'ts');
SELECT b.price FROM bid [RANGE 1 MINUTE] AS b WHERE b.price > 3
"""
TEXT = """\
error: b has no column pirce
 --> wrong.cql:3:10
  |
3 | SELECT b.pirce FROM bid [RANGE 1 MINUTE] AS b WHERE b.price > TRUE
  |          ^^^^^
hint: did you mean price?

error: cannot compare DOUBLE with BOOLEAN
 --> wrong.cql:3:53
  |
3 | SELECT b.pirce FROM bid [RANGE 1 MINUTE] AS b WHERE b.price > TRUE
  |                                                     ^^^^^^^^^^^^^^
hint: convert one of them: CAST(b.price AS BOOLEAN)

warning: there is no file in empty yet
 --> wrong.cql:2:30
  |
2 | WITH (format = 'csv', path = 'empty', timestamp = 'ts');
  |                              ^^^^^^^
hint: a run waits for files to come

wrong.cql: 2 errors, 1 warning
right.cql: ok
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a script that is right and one that is not, in which commands are run."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "bids.csv").write_text("ts,price\n")
    wrong = RIGHT.replace("b.price FROM", "b.pirce FROM").replace("> 3", "> TRUE")
    (tmp_path / "wrong.cql").write_text(wrong.format(path="empty"))
    (tmp_path / "right.cql").write_text(RIGHT.format(path="bids.csv"))
    return tmp_path


def check(*arguments: str, stdin: str | None = None) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["check", *arguments], input=stdin)
    return done.exit_code, done.stdout


def test_all_findings_of_all_files_are_shown_with_place_and_hint() -> None:
    assert check("wrong.cql", "right.cql") == (1, TEXT)


def test_a_script_without_mistakes_is_ok_also_from_stdin() -> None:
    assert check("right.cql") == (0, "right.cql: ok\n")
    assert check("-", stdin=RIGHT.format(path="bids.csv")) == (0, "stdin: ok\n")


def test_missing_files_are_warnings_alone(folder: Path) -> None:
    (folder / "early.cql").write_text(RIGHT.format(path="nowhere"))
    code, shown = check("early.cql")
    assert code == 0
    assert "warning: cannot read" in shown
    assert shown.endswith("early.cql: 1 warning\n")


def test_programs_get_json(folder: Path) -> None:
    code, shown = check("wrong.cql", "right.cql", "--format", "json")
    found = json.loads(shown)
    assert (code, found["version"], found["ok"]) == (1, 1, False)
    assert [(each["file"], each["ok"]) for each in found["files"]] == [
        ("wrong.cql", False),
        ("right.cql", True),
    ]
    assert found["files"][0]["findings"][0] == {
        "severity": "error",
        "kind": "SqlError",
        "message": "b has no column pirce",
        "hint": "did you mean price?",
        "line": 3,
        "column": 10,
        "length": 5,
    }
    assert found["files"][0]["findings"][2]["severity"] == "warning"


def test_files_that_cannot_be_read_are_findings_too(folder: Path) -> None:
    (folder / "odd.cql").write_bytes(b"SELECT \xff")
    code, shown = check("nowhere.cql", "odd.cql", "right.cql")
    assert code == 1
    assert "error: cannot read nowhere.cql" in shown
    assert "error: odd.cql is not UTF-8" in shown
    assert shown.endswith("right.cql: ok\n")


def test_functions_may_be_given(folder: Path) -> None:
    text = "import penstock\n@penstock.function(cost=1e-6)\ndef twice(x: float) -> float:\n"
    text += "  return 2 * x\n"
    (folder / "mine.py").write_text(text)
    script = RIGHT.format(path="bids.csv").replace("b.price FROM", "twice(b.price) FROM")
    (folder / "called.cql").write_text(script)
    assert check("called.cql")[0] == 1
    assert check("called.cql", "--functions", "mine.py") == (0, "called.cql: ok\n")

"""`--sink table`: the view as a live table, built from the changes that are told."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from penstock.cli.main import app
from penstock.cli.show.live_table import MOST_ROWS, LiveView
from penstock.cql import parse
from penstock.errors import SinkError
from support.waiting import PATIENCE

STREAMS = """
CREATE STREAM a (ts BIGINT, k INT, city STRING)
  WITH (format='csv', path='{folder}/a', timestamp='ts', unit='s');
"""
VIEW = "SELECT a.city, COUNT(*) AS n, AVG(a.k) AS mean FROM a [TUMBLE 10 SECONDS] GROUP BY a.city"
ROWS = "ts,k,city\n1,1000,Lyon\n2,3000,Lyon\n3,5,Kyoto\n12,7,Lyon\n25,1,Oslo\n"


def live_view(select: str = VIEW) -> LiveView:
    return LiveView(parse(STREAMS.format(folder="x") + select))


def change(city: str | None, n: int, second: int, kind: str = "upsert") -> str:
    time = f"1970-01-01T00:00:{second:02d}.000000Z"
    row = {"city": city, "n": n, "mean": n / 2, "_time": time, "_change": kind}
    return json.dumps(row) + "\n"


def shown(view: LiveView, lines: int = 100) -> list[str]:
    """The lines of the table as a terminal would have them."""
    file = io.StringIO()
    Console(file=file, width=80).print(view.table(lines))
    return [line.rstrip() for line in file.getvalue().splitlines() if line.strip()]


def write(folder: Path, select: str) -> Path:
    (folder / "a").mkdir()
    (folder / "a" / "1.csv").write_text(ROWS)
    path = folder / "query.cql"
    path.write_text(STREAMS.format(folder=folder) + select)
    return path


def test_groups_are_sorted_and_have_their_latest_values() -> None:
    view = live_view()
    for city, n, second in (("Oslo", 1, 10), ("Lyon", 2, 10), (None, 3, 10), ("Lyon", 4000, 20)):
        assert view.tell(change(city, n, second))
    assert shown(view) == [
        "city      n   mean",
        "NULL      3    1.5",
        "Lyon  4,000  2,000",
        "Oslo      1    0.5",
        "3 groups, as of 1970-01-01T00:00:20.000000Z",
    ]


def test_deleted_groups_vanish() -> None:
    view = live_view()
    view.tell(change("Lyon", 2, 10))
    view.tell(change("Lyon", 2, 20, "delete"))
    assert shown(view)[1:] == ["0 groups, as of 1970-01-01T00:00:20.000000Z"]


def test_nothing_is_shown_before_the_first_change() -> None:
    assert shown(live_view())[1:] == ["0 groups, nothing yet"]


@pytest.mark.parametrize(("lines", "most"), [(100, MOST_ROWS), (24, 12), (5, 1)])
def test_no_more_rows_are_shown_than_fit(lines: int, most: int) -> None:
    view = live_view()
    for number in range(100):
        view.tell(change(f"city {number:02d}", 1, 10))
    found = shown(view, lines)
    assert len(found) == 1 + most + 2
    assert found[-2].strip() == f"… {100 - most} more"


def test_a_total_is_one_row() -> None:
    view = live_view("SELECT COUNT(*) AS n FROM a [RANGE 10 SECONDS] EVERY 1 SECOND")
    for second in (1, 2):
        view.tell(json.dumps({"n": second, "_time": f"{second}", "_change": "upsert"}))
    assert shown(view)[1].strip() == "2"
    assert shown(view)[2] == "1 group, as of 2"


@pytest.mark.parametrize("line", ["hello\n", "[1]\n", "3\n", '{"n": 1}\n', "\n"])
def test_what_is_no_change_is_not_taken(line: str) -> None:
    assert not live_view().tell(line)


@pytest.mark.parametrize(
    ("select", "message"),
    [
        (
            "SELECT a.k FROM a [NOW]",
            "a table shows the groups of a view, and this query has none\n"
            "hint: add GROUP BY or aggregates, or use --sink console",
        ),
        (
            "SELECT COUNT(*) AS n FROM a [NOW] GROUP BY a.city",
            "the rows of a table are told apart by their groups, and a.city is not selected\n"
            "hint: add a.city to SELECT, or use --sink console",
        ),
    ],
)
def test_what_is_no_table_is_refused(select: str, message: str, tmp_path: Path) -> None:
    script = write(tmp_path, select)
    done = CliRunner().invoke(app, ["run", str(script), "--engine", "local", "--sink", "table"])
    assert isinstance(done.exception, SinkError)
    assert str(done.exception) == message


def command(script: Path) -> list[str]:
    penstock = Path(sys.executable).with_name("penstock")
    options = ["--engine", "local", "--available-now", "--sink", "table"]
    return [str(penstock), "run", str(script), *options]


def test_elsewhere_than_on_a_terminal_the_changes_are_printed(tmp_path: Path) -> None:
    done = subprocess.run(
        command(write(tmp_path, VIEW)), capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert {(row["city"], row["n"], row["_change"]) for row in told} == {
        ("Lyon", 2, "upsert"),
        ("Kyoto", 1, "upsert"),
        ("Lyon", 1, "upsert"),
        ("Kyoto", 1, "delete"),
    }
    assert "table: a batch that is run again is shown again" in done.stderr


def test_on_a_terminal_the_view_is_above_the_progress(tmp_path: Path) -> None:
    master, slave = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100", "LINES": "40"}
    process = subprocess.Popen(
        command(write(tmp_path, VIEW)),
        stdin=slave,
        stdout=slave,
        stderr=subprocess.PIPE,
        env=environment,
    )
    os.close(slave)
    text = _read_all(master)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, errors.decode()
    lines = [line.rstrip() for line in re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text).splitlines()]
    last = lines[len(lines) - lines[::-1].index("city  n  mean") - 1 :]
    assert last[1:3] == ["Lyon  1     7", "1 group, as of 1970-01-01T00:00:20.000000Z"]
    assert any(line.startswith("a ") for line in last[3:]), last
    assert "_change" not in text


def _read_all(master: int) -> str:
    """What is written to a terminal until the last process has left it."""
    read = b""
    try:
        while data := os.read(master, 4096):
            read += data
    except OSError:  # How Linux says that nobody holds the other end any more.
        pass
    finally:
        os.close(master)
    return read.decode()

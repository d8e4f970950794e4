"""`penstock explain` as a user runs it: output, errors, exit codes, and no Spark."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

QUERY = """\
CREATE STREAM A (ts BIGINT, k BIGINT, x DOUBLE)
  WITH (format='csv', path='a.csv', timestamp='ts', unit='us', rate=1000);
CREATE STREAM B (ts BIGINT, k BIGINT, y DOUBLE)
  WITH (format='csv', path='b.csv', timestamp='ts', unit='us', lateness='5 seconds');
SELECT A.k, x, y FROM A [RANGE 1 MINUTE], B [ROWS 10] WHERE A.k = B.k AND x < y AND x > 1
"""
STATS = """\
[joins]
"A.k = B.k" = {selectivity = 0.01}
"A.x < B.y" = {selectivity = 0.2, cost = 1e-7}
[filters]
"A.x > 1" = {selectivity = 0.5}
[costs]
join = 1e-6
"""
TEXT = """\
MultiwayJoin on A.k = B.k        out ~60,010/s   util ~0.0316 of 1   state 30,010 tuples
├─ A  RANGE 1 MINUTE   probe B    in   1,000/s   keep 100 %          state 30,000
└─ B  ROWS 10          probe A    in  ~1,000/s   keep 100 %          state     10
filter  A.x > 1.0
theta   A.x < B.y   at B from A; at A from B
output  k, x, y
plan    A: B; B: A
why     least work of 2 plans: 0.0316 s/s of work, the next as much
delay   ~0.532 s expected of a result: 0.5 s for its batch, 31.6 ms of work; batches 1 s apart
note    ROWS windows: tuples wait for the slowest stream
note    B: lateness 5 SECONDS
note    ~ rests on guessed figures; penstock analyze finds them from the data
figures
  rate of A          1,000 tuples/s        declared
  rate of B          1,000 tuples/s        guessed   geometric mean of the other streams
  A.k = B.k          0.01 of combinations  declared
  A.x > 1.0          50 % pass             declared
  A.x < B.y          20 % pass             declared
  cost of A.x < B.y  0.1 µs                declared
  cost of join       1 µs                  declared
"""


def penstock(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from penstock.cli.main import main; main()", *arguments]
    return subprocess.run(command, capture_output=True, text=True, input=stdin, encoding="utf-8")


@pytest.fixture
def query(tmp_path: Path) -> str:
    path = tmp_path / "query.cql"
    path.write_text(QUERY, encoding="utf-8")
    return str(path)


@pytest.fixture
def stats(tmp_path: Path) -> str:
    path = tmp_path / "stats.toml"
    path.write_text(STATS, encoding="utf-8")
    return str(path)


def test_a_query_is_explained_without_its_data(query: str, stats: str) -> None:
    done = penstock("explain", query, "--stats", stats)
    assert (done.stdout, done.stderr, done.returncode) == (TEXT, "", 0)


def test_stdin_is_a_dash(stats: str) -> None:
    assert penstock("explain", "-", "--stats", stats, stdin=QUERY).stdout == TEXT


@pytest.mark.parametrize(
    ("format", "start"),
    [
        ("json", "{\n"),
        ("mermaid", "flowchart LR\n"),
        ("dot", "digraph plan {\n"),
        ("html", "<!doctype html>\n"),
        ("svg", '<svg xmlns="http://www.w3.org/2000/svg" '),
    ],
)
def test_a_plan_goes_to_a_file(query: str, tmp_path: Path, format: str, start: str) -> None:
    path = tmp_path / "plan"
    done = penstock("explain", query, "--format", format, "--output", str(path))
    assert (done.stdout, done.stderr, done.returncode) == ("", f"wrote {path}\n", 0)
    assert path.read_text(encoding="utf-8").startswith(start)


def test_a_plan_can_be_forced(query: str) -> None:
    done = penstock("explain", query, "--plan", "A: B/nested", "--format", "json")
    assert json.loads(done.stdout)["chosen"]["methods"]["A"] == {"B": "nested"}


def test_a_wrong_plan_is_one_message(query: str) -> None:
    done = penstock("explain", query, "--plan", "A: D")
    assert (done.stdout, done.returncode) == ("", 1)
    assert done.stderr == (
        "error: no input is called D\n"
        " --> --plan:1:4\n"
        "  |\n"
        "1 | A: D\n"
        "  |    ^\n"
        "hint: the query has A, B\n"
    )


def test_a_mistake_in_the_query_names_the_file() -> None:
    done = penstock("explain", "-", stdin=QUERY.replace("A.k,", "A.q,"))
    assert done.returncode == 1
    assert done.stderr.startswith("error: ")
    assert "--> stdin:5:" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("name", "message"),
    [("missing.cql", "No such file or directory"), (".", "Is a directory")],
)
def test_a_file_that_cannot_be_read(tmp_path: Path, name: str, message: str) -> None:
    path = tmp_path / name
    done = penstock("explain", str(path))
    assert done.returncode == 1
    assert done.stderr == (
        f"error: cannot read {path}: {message}\nhint: give the path of a query, or - for stdin\n"
    )


def test_a_file_that_is_nearly_there(tmp_path: Path) -> None:
    for name in ("q.cql", "other.cql"):
        (tmp_path / name).write_text("SELECT 1")
    done = penstock("explain", str(tmp_path / "q.cqll"))
    assert done.stderr.endswith(f"hint: did you mean {tmp_path / 'q.cql'}?\n")
    done = penstock("explain", str(tmp_path / "third.cql"))
    assert done.stderr.endswith("hint: give the path of a query, or - for stdin\n")


def test_a_file_that_is_not_text(tmp_path: Path) -> None:
    path = tmp_path / "query.cql"
    path.write_bytes(b"SELECT \xff")
    done = penstock("explain", str(path))
    assert done.returncode == 1
    assert done.stderr.startswith(f"error: {path} is not UTF-8: byte 7 is 0xff\n")


def test_an_output_that_cannot_be_written(query: str, tmp_path: Path) -> None:
    done = penstock("explain", query, "--output", str(tmp_path / "no/plan.html"))
    assert done.returncode == 1
    assert done.stderr.startswith(f"error: cannot write {tmp_path}/no/plan.html: No such file")


@pytest.mark.parametrize(
    "arguments", [("explain",), ("explain", "-", "--format", "png"), ("expalin", "-")]
)
def test_wrong_usage_is_exit_code_2(arguments: tuple[str, ...]) -> None:
    done = penstock(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Usage: " in done.stderr


def test_a_terminal_without_unicode_still_gets_its_answer(query: str) -> None:
    command = [sys.executable, "-c", "from penstock.cli.main import main; main()"]
    done = subprocess.run(
        [*command, "explain", query],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    assert done.returncode == 0
    assert "?? A  RANGE 1 MINUTE" in done.stdout


def test_the_version() -> None:
    done = penstock("--version")
    assert (done.stdout, done.returncode) == (f"penstock {version('penstock')}\n", 0)


def test_explaining_loads_no_spark_and_looks_for_no_java(query: str, stats: str) -> None:
    code = (
        "import sys\n"
        "from penstock.cli.main import app\n"
        f"app(['explain', {query!r}, '--stats', {stats!r}], standalone_mode=False)\n"
        "heavy = {'pyspark', 'py4j', 'numba', 'pandas', 'pyarrow', 'scipy', 'penstock.engine'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == (TEXT, "[]\n")

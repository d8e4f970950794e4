"""`penstock run` as a process: exit codes, data on stdout, progress on stderr, Ctrl-C."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from penstock.cli.main import app
from support.waiting import PATIENCE, wait_until

PENSTOCK = Path(sys.executable).with_name("penstock")
SCRIPT = """
CREATE STREAM a (ts BIGINT, k INT)
  WITH (format='csv', path='{folder}/a', timestamp='ts', unit='s', max_files=1);
CREATE STREAM b (ts BIGINT, k INT)
  WITH (format='csv', path='{folder}/b', timestamp='ts', unit='s', max_files=1);
SELECT a.ts AS a, b.ts AS b FROM a [RANGE 10 SECONDS], b [{window}] WHERE a.k = b.k
"""
ENGINES = ["local", pytest.param("spark", marks=[pytest.mark.spark, pytest.mark.slow])]


def write(folder: Path, number: int) -> list[dict[str, int]]:
    """A file a stream; the results that it adds."""
    for name in "ab":
        (folder / name).mkdir(exist_ok=True)
        second = 100 * number
        rows = f"ts,k\n{second},1\n{second + 1},2\n"
        hidden = folder / name / f".{number}.csv"
        hidden.write_text(rows)
        hidden.rename(folder / name / f"{number}.csv")
    return [{"a": second + i, "b": second + i} for i in range(2)]


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "query.cql"
    path.write_text(SCRIPT.format(folder=tmp_path, window="RANGE 10 SECONDS"))
    return path


def penstock(*arguments: object, **more: Any) -> subprocess.CompletedProcess[str]:
    command = [str(PENSTOCK), "run", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, **more)


def lines(text: str) -> list[dict[str, int]]:
    return sorted((json.loads(line) for line in text.splitlines()), key=lambda row: row["a"])


@pytest.mark.parametrize("engine", ENGINES)
def test_data_on_stdout_and_progress_on_stderr(engine: str, script: Path, tmp_path: Path) -> None:
    wanted = write(tmp_path, 1) + write(tmp_path, 2)
    done = penstock(script, "--engine", engine, "--available-now", "--drain", "--partitions", 2)
    assert done.returncode == 0, done.stderr
    assert lines(done.stdout) == wanted
    progress = re.findall(r"^batch (\d+)  .*  in a (\d+)  b (\d+)  out (\d+)", done.stderr, re.M)
    assert progress[:2] == [("0", "2", "2", "2"), ("1", "2", "2", "2")]
    assert "read 8 tuples; 4 results" in done.stderr
    assert "WARN" not in done.stderr
    assert "Traceback" not in done.stderr


def assert_refused(done: subprocess.CompletedProcess[str]) -> None:
    """Because of the row that `write_malformed` writes."""
    assert done.returncode == 1
    assert done.stdout == ""
    (message,) = re.findall(r"^error: .*", done.stderr, re.M)
    assert "'one' in column k is not an INT" in message
    assert "hint:" in done.stderr
    assert "Traceback" not in done.stderr
    assert "org.apache" not in done.stderr


def write_malformed(folder: Path, number: int) -> None:
    (folder / "a" / f"{number}.csv").write_text("ts,k\n3,one\n")


def test_what_is_refused_exits_with_1(script: Path, tmp_path: Path) -> None:
    write(tmp_path, 1)
    write_malformed(tmp_path, 2)
    sink = ("--sink", f"jsonl:{tmp_path / 'results'}")
    assert_refused(penstock(script, "--engine", "local", "--available-now", *sink))


def test_refused_before_anything_is_started(script: Path, tmp_path: Path) -> None:
    done = penstock(script, "--engine", "local", "--available-now")
    assert done.returncode == 1
    assert f"cannot read {tmp_path}/a" in done.stderr
    as_fast_as_possible = CliRunner().invoke(
        app, ["run", str(script), "--engine", "local", "--trigger", "0s"]
    )
    assert f"cannot read {tmp_path}/a" in str(as_fast_as_possible.exception)
    assert penstock(tmp_path / "nothing.cql", "--engine", "local").returncode == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["--drain"],
        ["--available-now", "--trigger", "1s"],
        ["--trigger", "soon"],
        ["--trigger", "-1s"],
        ["--sink", "excel:x"],
        ["--sink", "jsonl:"],
        ["--engine", "flink"],
        ["--partitions", "0"],
        ["--conf", "spark"],
        ["--no-such-option"],
    ],
)
def test_wrong_usage_exits_with_2(arguments: list[str], script: Path) -> None:
    done = CliRunner().invoke(app, ["run", str(script), *arguments])
    assert (done.exit_code, done.stdout) == (2, "")
    assert arguments[0] in done.stderr


def test_sink_plan_and_checkpoint(script: Path, tmp_path: Path) -> None:
    results = tmp_path / "out" / "results.jsonl"
    common = ("--engine", "local", "--available-now", "--sink", f"jsonl:{results}")
    checkpoint = ("--checkpoint", tmp_path / "checkpoint")
    wanted = write(tmp_path, 1)
    assert penstock(script, *common, *checkpoint, "--partitions", 3).returncode == 0
    assert lines(results.read_text()) == wanted
    wanted += write(tmp_path, 2)
    done = penstock(script, *common, *checkpoint, "--plan", "a: b; b: a")
    assert (done.returncode, done.stdout) == (0, "")
    assert lines(results.read_text()) == wanted
    assert json.loads((tmp_path / "checkpoint" / "query.json").read_text())["partitions"] == 3
    other = penstock(script, *common)
    assert other.returncode == 1
    assert f"{results} already holds results" in other.stderr
    assert penstock(script, *common, "--overwrite").returncode == 0
    assert lines(results.read_text()) == wanted


def test_a_run_without_drain_goes_on_and_a_drained_one_does_not(tmp_path: Path) -> None:
    path = tmp_path / "query.cql"
    path.write_text(SCRIPT.format(folder=tmp_path, window="ROWS 1"))
    results = tmp_path / "results"
    common = (path, "--engine", "local", "--available-now", "--sink", f"jsonl:{results}")
    checkpoint = ("--checkpoint", tmp_path / "checkpoint")
    write(tmp_path, 1)
    assert penstock(*common, *checkpoint).returncode == 0
    assert lines(results.read_text()) == [{"a": 100, "b": 100}]
    assert penstock(*common, *checkpoint, "--drain").returncode == 0
    assert lines(results.read_text()) == [{"a": 100, "b": 100}, {"a": 101, "b": 101}]
    done = penstock(*common, *checkpoint)
    assert done.returncode == 1
    assert "is closed" in done.stderr


def test_a_query_from_stdin(script: Path, tmp_path: Path) -> None:
    wanted = write(tmp_path, 1)
    done = penstock("-", "--engine", "local", "--available-now", input=script.read_text())
    assert lines(done.stdout) == wanted


@pytest.mark.parametrize("engine", ENGINES)
def test_ctrl_c_stops_cleanly_and_a_later_run_goes_on_up_to_what_is_refused(
    engine: str, script: Path, tmp_path: Path
) -> None:
    wanted = write(tmp_path, 1)
    results = tmp_path / "results"
    common = (script, "--engine", engine, "--sink", f"jsonl:{results}")
    checkpoint = ("--checkpoint", tmp_path / "checkpoint")
    command = [str(PENSTOCK), "run", *map(str, (*common, *checkpoint)), "--trigger", "200ms"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        wait_until(lambda: results.exists() and lines(results.read_text()) == wanted)
        wanted += write(tmp_path, 2)
        wait_until(lambda: lines(results.read_text()) == wanted)
        # As a terminal does it: to all processes of the group.
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert process.returncode == 0, err
    assert out == ""
    assert "read 8 tuples; 4 results" in err
    assert err.splitlines()[-1] == "stopped; the same command goes on from there"
    assert "Traceback" not in err
    wanted += write(tmp_path, 3)
    write_malformed(tmp_path, 4)
    assert_refused(penstock(*common, *checkpoint, "--available-now"))
    assert lines(results.read_text()) == wanted

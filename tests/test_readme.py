"""The README tells the truth: its commands and code run, and print what it says."""

from __future__ import annotations

import gzip
import json
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
ROAD = ROOT.parent / "shared" / "data" / "road"
PENSTOCK = Path(sys.executable).with_name("penstock")


def block(kind: str, having: str = "") -> str:
    """The first fenced block of a kind that has a text in it."""
    blocks = re.findall(r"^```(\w*)\n(.*?)^```", README, flags=re.S | re.M)
    return next(text for found, text in blocks if found == kind and having in text)


@pytest.fixture
def road(tmp_path: Path) -> Path:
    """A folder as the README assumes it: the query, and two folders of CSV files."""
    (tmp_path / "road.cql").write_text(block("sql"))
    if not ROAD.exists():
        pytest.skip("the road data is not on this machine")
    for name in ("flow", "speed"):
        folder = tmp_path / "data" / name
        folder.mkdir(parents=True)
        with gzip.open(ROAD / f"{name}.csv.gz", "rt") as file:
            (folder / "all.csv").write_text(file.read())
    return tmp_path


def test_the_plan_is_as_shown() -> None:
    command, shown = block("", "penstock explain").split("\n", 1)
    words = shlex.split(command.removeprefix("$ "))
    result = subprocess.run(
        [PENSTOCK, *words[1:]], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert shown.endswith("\n…\n")
    assert result.stdout.startswith(shown.removesuffix("…\n"))


def test_the_example_is_the_one_in_the_folder() -> None:
    assert block("sql").strip() in (ROOT / "examples" / "road.cql").read_text()


@pytest.mark.spark
@pytest.mark.slow
def test_the_commands_for_own_data_work(road: Path) -> None:
    commands = [shlex.split(line, comments=True) for line in block("", "road.cql").splitlines()]
    explain, run, go_on = ([PENSTOCK, *words[1:]] for words in commands)
    subprocess.run(explain, cwd=road, check=True, capture_output=True)
    assert "<svg" in (road / "plan.html").read_text()
    subprocess.run(run, cwd=road, check=True, capture_output=True)
    found = pq.read_table(road / "out" / "slow")
    assert found.schema.names == ["site", "lane", "ts", "flow", "speed"]
    assert len(found) > 0
    with subprocess.Popen(go_on, cwd=road, stderr=subprocess.PIPE, text=True) as process:
        # Until it surely runs: Ctrl-C while Spark starts is another thing.
        time.sleep(20)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 0
    assert len(pq.read_table(road / "out" / "slow")) == len(found)


def test_the_commands_for_planning_work(road: Path) -> None:
    commands = [shlex.split(x, comments=True) for x in block("", "penstock analyze").splitlines()]
    analyze, calibrate, explain, run = ([PENSTOCK, *words[1:]] for words in commands)
    subprocess.run(analyze, cwd=road, check=True, capture_output=True)
    assert "[streams.f]" in (road / "road.toml").read_text()
    assert calibrate[1:] == ["doctor", "--calibrate"]
    shown = subprocess.run(explain, cwd=road, check=True, capture_output=True, text=True).stdout
    assert "sampled" in shown
    assert "alternatives, best first" in shown
    subprocess.run([*run, "--engine", "local"], cwd=road, check=True, capture_output=True)
    assert len(pq.read_table(road / "out" / "slow")) > 0


def test_the_commands_for_views_work(road: Path) -> None:
    example = (ROOT / "examples" / "busy.cql").read_text()
    assert block("sql", "GROUP BY") in example
    (road / "busy.cql").write_text(example)
    commands = [shlex.split(x, comments=True) for x in block("", "busy.cql").splitlines()]
    run, show = ([PENSTOCK, *words[1:]] for words in commands)
    subprocess.run([*run, "--engine", "local"], cwd=road, check=True, capture_output=True)
    rows = [json.loads(line) for line in (road / "busy.jsonl").read_text().splitlines()]
    assert {row["_change"] for row in rows} == {"upsert", "delete"}
    assert all(row["speed"] < 90.0 for row in rows)
    shown = subprocess.run(show, cwd=road, check=True, capture_output=True, text=True).stdout
    assert '"pairs"' in shown


def test_the_commands_for_routes_work(tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    commands = [shlex.split(x) for x in block("", "examples/stocks.py").splitlines()]
    example, explain, run = commands
    shown = subprocess.run(
        [sys.executable, *example[1:]], cwd=tmp_path, check=True, capture_output=True, text=True
    ).stdout
    assert shown.startswith("MeshJoin on ")
    assert " results in data/stocks.jsonl, such as" in shown
    again = subprocess.run(
        [PENSTOCK, *explain[1:]], cwd=tmp_path, check=True, capture_output=True, text=True
    ).stdout
    assert "route 3" in again
    subprocess.run([PENSTOCK, *run[1:]], cwd=tmp_path, check=True, capture_output=True)


@pytest.mark.spark
def test_the_python_works(road: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(road)
    analyze = [PENSTOCK, "analyze", "road.cql", "--output", "road.toml"]
    subprocess.run(analyze, check=True, capture_output=True)
    exec(block("python"), {"spark": spark})
    assert len(pq.read_table(road / "out" / "slow")) > 0


@pytest.mark.spark
@pytest.mark.slow
def test_the_demo_shows_query_plan_progress_and_results(tmp_path: Path) -> None:
    result = subprocess.run(
        [PENSTOCK, "demo", "--seconds", "3"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    for part in ("CREATE STREAM bid", "── Its plan", "The last 5 results", "out/demo-"):
        assert part in result.stdout
    assert re.search(r"^batch 0 .* in bid [\d,]+", result.stderr, flags=re.M)
    assert len(pq.read_table(next(tmp_path.glob("out/demo-*/results")))) > 0

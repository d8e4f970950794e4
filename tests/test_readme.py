"""The README and the tour tell the truth: in a fresh copy their commands run and print what they
say."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from support.waiting import PATIENCE, wait_until

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
TOUR = (ROOT / "docs" / "tour.md").read_text()
MEASURED = (ROOT / "benchmarks" / "README.md").read_text()
PENSTOCK = Path(sys.executable).with_name("penstock")
MINUTE_LATER = "site,lane,ts,num_lanes,{name}\nnew,lane1,2017-03-15 15:11:00.0,1,{value}\n"


def block(kind: str, having: str = "") -> str:
    """The first fenced block of a kind that has a text in it, of the README or else the tour."""
    blocks = re.findall(r"^```(\w*)\n(.*?)^```", f"{README}\n{TOUR}", flags=re.S | re.M)
    return str(next(text for found, text in blocks if found == kind and having in text))


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A fresh copy of the repository, with nothing beside it, in which `make setup` is done."""
    clone = tmp_path / "penstock"
    made = ("out", "data", ".*cache", "__pycache__", ".git", ".venv", ".hypothesis")
    shutil.copytree(ROOT, clone, ignore=lambda folder, names: _made(folder, names, made))
    (clone / ".venv").mkdir()
    (clone / ".venv" / "bin").symlink_to(PENSTOCK.parent)
    (clone / ".venv" / ".installed").touch()
    return clone


def _made(folder: str, names: list[str], patterns: tuple[str, ...]) -> set[str]:
    """What was made by running things, at the root: `examples/data` was not."""
    return shutil.ignore_patterns(*patterns)(folder, names) if folder == str(ROOT) else set()


def run(clone: Path, commands: str) -> subprocess.CompletedProcess[str]:
    """Type the commands into a shell, as they are printed, up to the first that fails."""
    script = f". .venv/bin/activate\n{commands}"
    done = subprocess.run(
        ["bash", "-e", "-c", script], cwd=clone, capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stderr
    return done


def test_the_plan_is_as_shown() -> None:
    command, shown = block("", "penstock explain").split("\n", 1)
    words = shlex.split(command.removeprefix("$ "))
    result = subprocess.run(
        [PENSTOCK, *words[1:]], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert shown.endswith("\n…\n")
    assert result.stdout.startswith(shown.removesuffix("…\n"))


def test_the_examples_are_those_in_the_folder() -> None:
    assert block("sql").strip() in (ROOT / "examples" / "road" / "road.cql").read_text()
    assert block("sql", "GROUP BY") in (ROOT / "examples" / "road" / "busy.cql").read_text()


def test_what_to_type_comes_first() -> None:
    headings = re.findall(r"^## (.*)", README, flags=re.M)
    assert headings[:3] == ["Two commands", "Quick start", "Your own files"]


def test_what_was_measured_is_as_the_benchmarks_say() -> None:
    section = README.partition("## Measured\n")[2].partition("\n## ")[0]
    figures = re.findall(r"\d[\d,.]*\d|\d+ %", re.sub(r"`[^`]*`|Spark 4\.3|2026", "", section))
    assert len(figures) > 15
    assert [figure for figure in figures if figure not in MEASURED] == []
    for command in re.findall(r"`(penstock bench [^`]*)`", section):
        assert command.split(" --")[0].removeprefix("penstock ") in MEASURED


def test_the_five_papers_are_cited_as_on_their_page() -> None:
    page = (ROOT / "docs" / "papers.md").read_text()
    titles = re.findall(r"\*([A-Z][^*]*)\*\. (?:SIGMOD|SSTD|VLDB|Journal)", page)
    assert len(titles) == 5
    cited = " ".join(README.split())
    assert [title for title in titles if title not in cited] == []


def test_the_quick_start_works(clone: Path) -> None:
    assert run(clone, block("", "make setup")).stdout.endswith(block("json"))
    results = (clone / "out" / "slow.jsonl").read_text().splitlines()
    assert f"of its {len(results)} results" in " ".join(README.split())
    shown = run(clone, block("", "--format html")).stdout
    assert shown.startswith("MultiwayJoin ")
    assert "f.site = s.site" in shown
    assert "<svg" in (clone / "out" / "plan.html").read_text()


@pytest.mark.spark
@pytest.mark.slow
def test_the_quick_start_works_on_spark_and_goes_on(clone: Path) -> None:
    shown = run(clone, block("", "parquet:out/slow --checkpoint")).stdout
    assert "[152 rows x 5 columns]" in shown
    assert pq.read_table(clone / "out" / "slow").schema.names[-2:] == ["flow", "speed"]
    command = shlex.split(block("", "--trigger"))
    with subprocess.Popen(
        [PENSTOCK, *command[1:]], cwd=clone, stderr=subprocess.PIPE, text=True
    ) as process:
        for name, value in (("flow", 7), ("speed", 70.5)):
            (clone / "new.csv").write_text(MINUTE_LATER.format(name=name, value=value))
            (clone / "new.csv").rename(clone / "examples" / "data" / name / "1511.csv")
        wait_until(lambda: process.poll() is not None or rows(clone / "out" / "slow") > 152)
        shown = run(clone, block("", "penstock status")).stdout
        assert process.wait(timeout=PATIENCE) == 0
    assert "runs on spark" in shown
    assert "stop: the run ends after batch" in shown
    assert rows(clone / "out" / "slow") == 153


def rows(results: Path) -> int:
    return len(pq.read_table(results))


@pytest.mark.spark
@pytest.mark.slow
def test_the_commands_for_planning_work(clone: Path) -> None:
    (clone / "out").mkdir()
    commands = block("", "penstock analyze")
    # How long that takes is no matter of this test; the tests of calibration run it.
    calibrate = re.compile("^penstock doctor --calibrate .*$", flags=re.M)
    assert calibrate.search(commands)
    shown = run(clone, calibrate.sub("", commands)).stdout
    assert "[streams.f]" in (clone / "out" / "road.toml").read_text()
    assert "sampled" in shown
    assert "alternatives, best first" in shown
    assert rows(clone / "out" / "planned") == 152


def test_the_commands_for_views_work(clone: Path) -> None:
    shown = run(clone, block("", "busy.cql")).stdout
    changes = [json.loads(x) for x in (clone / "out" / "busy.jsonl").read_text().splitlines()]
    assert {change["_change"] for change in changes} == {"upsert", "delete"}
    assert all(change["speed"] < 90.0 for change in changes)
    assert '"pairs"' in shown


def test_the_commands_for_scripts_work(clone: Path) -> None:
    assert block("sql", "CREATE VIEW").strip() in (clone / "examples/road/overview.cql").read_text()
    run(clone, block("", "overview=jsonl"))
    rows = [json.loads(line) for line in (clone / "out/overview.jsonl").read_text().splitlines()]
    assert rows
    assert all(row["sites"] > 0 and row["site"] for row in rows)
    assert (clone / "out/crowded.jsonl").read_text()


def test_the_commands_for_routes_work(clone: Path) -> None:
    shown = run(clone, block("", "examples/stocks/stocks.py")).stdout
    assert shown.startswith("MeshJoin ")
    assert " results in data/stocks.jsonl, such as" in shown
    assert "route 3" in shown.split("such as")[1]


@pytest.mark.spark
def test_the_python_works(
    clone: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(clone)
    os.mkdir("out")
    run(clone, block("", "penstock analyze").splitlines()[0])
    exec(block("python"), {"spark": spark})
    assert rows(clone / "out" / "python") == 152

"""The page for Python: its code runs as it stands, and its tables leave nothing out."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import penstock as ps
from penstock.engine.reports.report import Report
from penstock.stats.calibration import calibration_file
from penstock.stats.files.save import training_file
from support.paths import ROOT

PAGE = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def section(heading: str) -> str:
    return next(part for part in PAGE.split("\n## ") if part.startswith(heading))


def test_the_code_runs_in_this_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for block in BLOCKS:
        if "spark" not in block:
            exec(block, names)
    said = capsys.readouterr().out
    assert "Join on b.auction = a.id" in said or "(b a)" in said
    found = re.search(r"^([\d,]+) results in (\d+) batches$", said, re.M)
    assert found is not None
    lines = (tmp_path / "bids.jsonl").read_text(encoding="utf-8").splitlines()
    assert int(found[1].replace(",", "")) == len(lines) > 0
    assert int(found[2]) > 2
    assert names["run"].pipeline.plan == names["tree"]


@pytest.mark.spark
def test_the_code_runs_on_spark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spark: SparkSession
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"spark": spark}
    for block in (BLOCKS[0], *(block for block in BLOCKS if "spark" in block)):
        exec(block, names)
    assert pq.read_table("bids").num_rows == names["run"].reports[-1].total_results > 0


@pytest.mark.parametrize(
    ("heading", "function"),
    [
        ("`ps.sql(text", ps.sql),
        ("Run it", ps.ContinuousQuery.local),
        ("Run it", ps.ContinuousQuery.start),
    ],
)
def test_every_option_is_on_the_page(heading: str, function: Any) -> None:
    page = section(heading)
    for name, option in inspect.signature(function).parameters.items():
        if option.kind is option.KEYWORD_ONLY:
            assert f"`{name}`" in page, name


def test_every_field_of_a_report_is_on_the_page() -> None:
    rows = re.findall(r"^\| `(\w+)` \|", section("What to watch"), re.M)
    assert rows == [
        *("batch", "seconds", "read", "late", "malformed", "shed", "results", "state_tuples"),
        *("frontier", "total_results", "total_shed", "unreadable", "newest", "waiting"),
        *(
            "at",
            "span",
            "cpu",
            "compiling",
            "phases",
            "busy",
            "delay",
            "backlog",
            "inputs",
            "operators",
        ),
        *("modules", "plan", "prediction", "figures", "stats", "changes", "filling", "members"),
    ]
    assert set(rows) == {field.name for field in fields(ps.Report)}
    assert set(rows) == {field.name for field in fields(Report)}


def test_every_face_is_on_the_page() -> None:
    for name in ps.__all__:
        assert f"`{name}`" in PAGE or f"`ps.{name}" in PAGE, name


def test_everything_of_a_run_is_on_the_page() -> None:
    rows = "".join(re.findall(r"^\| (`.*?) \|", section("Run it"), re.M))
    for name in vars(ps.Run):
        if not name.startswith("_"):
            assert f"`{name}" in rows, name


def test_files_lie_where_the_page_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("PENSTOCK_CALIBRATION", raising=False)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    shown = f"~/{calibration_file().relative_to(tmp_path)}"
    assert f"`{shown}`" in PAGE
    assert f"`{training_file(Path('road.toml'))}`" in PAGE

"""The page about results as DataFrames: its code runs as it stands."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from penstock.engine.results.kept_state import STATE
from penstock.engine.results.log_rows import PLANS, REPORTS
from support.paths import ROOT

PAGE = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")


@pytest.mark.spark
def test_the_code_runs(spark: SparkSession, tmp_path: Path) -> None:
    names: dict[str, Any] = {"spark": spark, "folder": tmp_path}
    for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(block, names)
    assert names["view"].count() == 20
    copied = spark.read.parquet(str(tmp_path / "copy"))
    told = spark.read.format("penstock").option("changes", "true")
    told = told.load(str(tmp_path / "checkpoint")).filter("_change = 'upsert'")
    assert copied.count() == told.count() > 100
    assert names["changes"].isStreaming
    assert names["state"].filter("module = 'shown'").count() == 20


def test_the_tables_name_every_column() -> None:
    for what, schema in (("reports", REPORTS), ("plans", PLANS), ("state", STATE)):
        [row] = re.findall(rf"^\| `{what}` \|.*$", PAGE, re.M)
        assert all(f"`{name}`" in row for name in schema.names), what

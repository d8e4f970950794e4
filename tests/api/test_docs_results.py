"""The page about results as DataFrames: its code runs as it stands."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from unittest import mock

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
    _check_database(spark, names, tmp_path)
    _check_delta(names["to_delta"])


def _check_database(spark: SparkSession, names: dict[str, Any], folder: Path) -> None:
    """All changes are in the database, each once and with the number of its batch."""
    stored = spark.read.jdbc(names["url"], "bids")
    told = spark.read.format("penstock").option("changes", "true").load(str(folder / "checkpoint"))
    columns = ["auction", "bids", "highest", "_time"]
    assert stored.filter("batch = 0").count() == stored.count() == told.count() > 100
    assert stored.select(columns).exceptAll(told.select(columns)).count() == 0


def _check_delta(to_delta: Any) -> None:
    """The options by which Delta knows a batch that it has; no release runs on this Spark."""
    writer = mock.MagicMock()
    for step in ("format", "mode", "option"):
        getattr(writer, step).return_value = writer
    to_delta(mock.MagicMock(write=writer), 7)
    writer.format.assert_called_once_with("delta")
    writer.mode.assert_called_once_with("append")
    assert dict(call.args for call in writer.option.mock_calls)["txnVersion"] == 7
    assert writer.mock_calls[-1] == mock.call.save("/lake/bids")


def test_the_tables_name_every_column() -> None:
    for what, schema in (("reports", REPORTS), ("plans", PLANS), ("state", STATE)):
        [row] = re.findall(rf"^\| `{what}` \|.*$", PAGE, re.M)
        assert all(f"`{name}`" in row for name in schema.names), what

"""The page about results as DataFrames: its code runs as it stands."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

import penstock as ps
from penstock.engine.results.kept_state import STATE
from penstock.engine.results.log_rows import PLANS, REPORTS
from support.paths import ROOT

PAGE = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")


def run_blocks(spark: SparkSession, folder: Path, is_wanted: Callable[[str], bool]) -> Any:
    """Run blocks of the page as they stand; the names that they make."""
    names: dict[str, Any] = {"spark": spark, "folder": folder}
    for block in filter(is_wanted, re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)):
        exec(block, names)
    return names


@pytest.mark.spark
def test_the_code_runs(spark: SparkSession, tmp_path: Path) -> None:
    names = run_blocks(spark, tmp_path, lambda block: "deltalake" not in block)
    assert names["view"].count() == 20
    copied = spark.read.parquet(str(tmp_path / "copy"))
    told = spark.read.format("penstock").option("changes", "true")
    told = told.load(str(tmp_path / "checkpoint")).filter("_change = 'upsert'")
    assert copied.count() == told.count() > 100
    assert names["changes"].isStreaming
    assert names["state"].filter("module = 'shown'").count() == 20
    _check_database(spark, names, tmp_path)


def _check_database(spark: SparkSession, names: dict[str, Any], folder: Path) -> None:
    """All changes are in the database, each once and with the number of its batch."""
    stored = spark.read.jdbc(names["url"], "bids")
    told = spark.read.format("penstock").option("changes", "true").load(str(folder / "checkpoint"))
    columns = ["auction", "bids", "highest", "_time"]
    assert stored.filter("batch = 0").count() == stored.count() == told.count() > 100
    assert stored.select(columns).exceptAll(told.select(columns)).count() == 0


@pytest.mark.spark
def test_batches_that_come_again_are_in_delta_once(spark: SparkSession, tmp_path: Path) -> None:
    """The page's block, then its function where each batch fails once after it was written."""
    deltalake = pytest.importorskip("deltalake", reason="pip install deltalake is not done")
    names = run_blocks(spark, tmp_path, lambda block: "TEXT = " in block or "deltalake" in block)
    told = spark.read.format("penstock").option("changes", "true")
    told = told.load(str(tmp_path / "checkpoint")).drop("_time", "_change")
    wanted = sorted(map(str, told.toArrow().to_pylist()))

    def found() -> list[str]:
        table = deltalake.DeltaTable(names["table"]).to_pyarrow_table()
        return sorted(map(str, table.select(told.columns).to_pylist()))

    assert found() == wanted
    assert len(wanted) > 100
    names["table"] = f"{tmp_path}/again"
    failed = set[int]()

    def to_both(frame: DataFrame, batch_id: int) -> None:
        frame.write.mode("overwrite").parquet(f"{tmp_path}/folders/batch={batch_id}")
        names["to_delta"](frame, batch_id)
        if batch_id not in failed:
            failed.add(batch_id)
            raise OSError(f"cut off in batch {batch_id}")

    text = names["TEXT"].replace("max_time = '2 seconds'", "max_time = '4 seconds'")
    options: dict[str, Any] = {"sink": ps.foreach_batch(to_both), "available_now": True}
    codes = list(_attempts(ps.sql(text), spark, checkpoint=tmp_path / "c", **options))
    assert codes == [f"cut off in batch {n}" for n in sorted(failed)] + [""]
    assert len(failed) > 1
    assert found() == wanted
    rows = spark.read.parquet(f"{tmp_path}/folders").select(told.columns).toArrow().to_pylist()
    assert sorted(map(str, rows)) == wanted


def _attempts(query: ps.ContinuousQuery, spark: SparkSession, **options: Any) -> Iterator[str]:
    """Why each start of a query came to its end, until one does so well."""
    said = None
    while said != "":
        try:
            with query.start(spark, **options) as run:
                run.await_termination()
            said = ""
        except OSError as error:
            said = str(error)
        yield said


def test_the_tables_name_every_column() -> None:
    for what, schema in (("reports", REPORTS), ("plans", PLANS), ("state", STATE)):
        [row] = re.findall(rf"^\| `{what}` \|.*$", PAGE, re.M)
        assert all(f"`{name}`" in row for name in schema.names), what

"""Joins and views whose input, state and results are on S3 give what they give on local disks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from penstock.api import sql
from penstock.engine.sinks.sink import parquet
from support.engines.soak import expected, script
from support.stores.stored_runs import names_in, script_over, stored_input, stored_results

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.parametrize("query", ["chain", "view"])
def test_all_may_be_on_a_store(query: str, bucket: str, tmp_path: Path) -> None:
    text = script_over(query, stored_input(tmp_path / "in", bucket))
    sink, checkpoint = parquet(f"s3://{bucket}/out"), f"s3a://{bucket}/checkpoint"
    sql(text).local(sink=sink, checkpoint=checkpoint).available_now()
    sql(text).local(sink=sink, checkpoint=checkpoint).available_now(drain=True)
    assert stored_results(sink) == expected(script(query, tmp_path / "in"))
    left = [name for name in names_in(bucket) if "staging" in name or "transit" in name]
    assert left == []


@pytest.mark.spark
def test_spark_needs_no_connector_for_it(bucket: str, spark: SparkSession, tmp_path: Path) -> None:
    text = script_over("chain", stored_input(tmp_path / "in", bucket))
    sink, checkpoint = parquet(f"s3a://{bucket}/out"), f"s3://{bucket}/checkpoint"
    for drain in (False, True):
        run = sql(text).start(
            spark, sink=sink, checkpoint=checkpoint, available_now=True, drain=drain
        )
        run.await_termination()
    assert stored_results(sink) == expected(script("chain", tmp_path / "in"))

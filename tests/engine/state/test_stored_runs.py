"""Joins and views whose input, state and results are on S3 give what they give on local disks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import penstock as ps
from penstock.api import sql
from penstock.engine.control.order import give
from penstock.engine.places.fence import Fence
from penstock.engine.places.place import Place
from penstock.engine.sinks.sink import parquet
from penstock.engine.state.store import Store
from penstock.errors import FencedError
from support.engines.soak import STREAMS, expected, results, script
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


SCRIPT = """
SELECT a.id AS a, b.id AS b INTO pairs FROM a [RANGE 3 SECONDS], b [RANGE 3 SECONDS]
WHERE a.k = b.k;
SELECT b.j AS j, COUNT(*) AS n INTO counts FROM b [RANGE 4 SECONDS], c [RANGE 4 SECONDS]
WHERE b.j = c.j GROUP BY b.j EVERY 500 ms;
"""


def test_a_script_may_be_on_a_store_and_be_taken_over(bucket: str, tmp_path: Path) -> None:
    there = stored_input(tmp_path / "in", bucket)
    sinks = {name: parquet(f"s3://{bucket}/{name}") for name in ("pairs", "counts")}
    checkpoint = f"s3://{bucket}/checkpoint"
    text = STREAMS.format(folder=there) + SCRIPT

    def overtake(report: Any) -> None:
        if report.batch == 1:
            later = ps.script(text).local(sink=sinks, checkpoint=checkpoint)
            later.available_now(drain=True)

    with pytest.raises(FencedError):
        ps.script(text).local(sink=sinks, checkpoint=checkpoint, report=overtake).available_now()
    here = {name: parquet(tmp_path / name) for name in sinks}
    local = STREAMS.format(folder=tmp_path / "in") + SCRIPT
    ps.script(local).local(sink=here, checkpoint=tmp_path / "kept").available_now(drain=True)
    for name, sink in sinks.items():
        assert stored_results(sink) == results(here[name])
        assert results(here[name]).total() > 50


def test_a_run_on_a_store_obeys_orders(bucket: str, tmp_path: Path) -> None:
    text = script_over("pair", stored_input(tmp_path / "in", bucket, files=1))
    store = Store(Place.of(f"s3://{bucket}/checkpoint"))

    def order(report: Any) -> None:
        give(store, "stop")

    sink = parquet(f"s3://{bucket}/out")
    run = sql(text).local(sink=sink, checkpoint=store.root.text, report=order)
    run.every(0.05)
    assert not run.is_active
    assert [name for name in names_in(bucket) if "/control/" in name] == []


@pytest.mark.spark
def test_a_run_on_spark_is_fenced_off_by_name(
    bucket: str, spark: SparkSession, tmp_path: Path
) -> None:
    text = script_over("view", stored_input(tmp_path / "in", bucket))
    root, sink = Place.of(f"s3://{bucket}/checkpoint"), parquet(f"s3://{bucket}/out")

    def start(report: Any = None) -> Any:
        return sql(text).start(
            spark, sink=sink, checkpoint=root.text, available_now=True, drain=True, report=report
        )

    with pytest.raises(FencedError, match="was taken over by another run"):
        start(lambda report: Fence.raised(root)).await_termination()
    start().await_termination()
    assert stored_results(sink) == expected(script("view", tmp_path / "in"))

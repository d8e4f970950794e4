"""What Spark's own pages say of a query: its name, and what its jobs do."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import penstock as ps
from support.engines.read_back import VIEW, script, write_streams

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def described(spark: SparkSession) -> list[str]:
    """The descriptions of the session's jobs, as its pages show them."""
    jobs = spark.sparkContext._jsc.sc().statusStore().jobsList(None)
    found = [jobs.apply(number).description() for number in range(jobs.size())]
    return [text.get() for text in found if text.isDefined()]


def test_a_query_has_a_name_and_its_jobs_say_what_they_do(
    spark: SparkSession, tmp_path: Path
) -> None:
    write_streams(tmp_path)
    with ps.sql(script(tmp_path, VIEW)).start(
        spark, sink="noop", checkpoint=tmp_path / "checkpoint", available_now=True
    ) as run:
        run.await_termination()
    name = run.streaming.name
    assert name == f"a⋈b {(tmp_path / 'checkpoint' / 'mark').read_text()[:6]}"
    mine = {text for text in described(spark) if text.startswith(name)}
    assert f"{name} batch 0: pack, round 0, view" in mine
    assert len(mine) == len(run.reports)


def test_two_queries_of_the_same_sources_run_side_by_side(
    spark: SparkSession, tmp_path: Path
) -> None:
    write_streams(tmp_path)
    query = ps.sql(script(tmp_path))
    with (
        query.start(spark, sink="noop", checkpoint=tmp_path / "one") as one,
        query.start(spark, sink="noop", checkpoint=tmp_path / "two") as two,
    ):
        assert one.streaming.name != two.streaming.name
        assert {one.streaming.name, two.streaming.name} <= {q.name for q in spark.streams.active}

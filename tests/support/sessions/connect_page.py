"""Code of pages that needs a session of Spark Connect, for a process that has one."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import penstock as ps
from penstock.errors import SetupError, UsageError
from support.engines.read_back import script, write_streams
from support.paths import ROOT

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PAGE = (ROOT / "docs" / "connect.md").read_text(encoding="utf-8")
SPEC = """
name: example
storage: {storage}
libraries:
  - glob:
      include: datasets/**
"""
RESULTS = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")


def test_the_code_of_the_page_runs(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names: dict[str, Any] = {"folder": tmp_path}
    [block] = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(block, names)
    assert names["spark"] is spark
    found = re.search(r"^(\d+) results\n(\d+) read back$", capsys.readouterr().out, re.M)
    assert found is not None
    assert int(found[1]) == int(found[2]) > 0


def test_a_pipeline_has_results_as_a_table(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from pyspark.errors import PySparkValueError
    from pyspark.pipelines import cli

    write_streams(tmp_path)
    query = ps.sql(script(tmp_path), engine="local")
    with query.local(
        sink=f"parquet:{tmp_path / 'results'}", checkpoint=tmp_path / "ckpt", available_now=True
    ) as run:
        run.await_termination()
    definition = re.search(
        r"```[a-z]*\n(import penstock as ps\nfrom pyspark import pipe.*?)```", RESULTS, re.S
    )
    assert definition is not None
    (tmp_path / "pipeline" / "datasets").mkdir(parents=True)
    text = definition[1].replace("/data/checkpoint", str(tmp_path / "ckpt"))
    (tmp_path / "pipeline" / "datasets" / "bids.py").write_text(text)
    place = tmp_path / "pipeline" / "spark-pipeline.yml"
    place.write_text(SPEC.format(storage=f"file://{tmp_path / 'storage'}"))
    spec = cli.load_pipeline_spec(place)
    graph = cli.create_dataflow_graph(
        spark,
        default_catalog=spec.catalog,
        default_database=spec.database,
        sql_conf=spec.configuration,
    )
    registry = cli.SparkConnectGraphElementRegistry(spark, graph)
    cli.register_definitions(place, registry, spec, spark, graph)
    events = cli.start_run(
        spark,
        graph,
        full_refresh=[],
        full_refresh_all=False,
        refresh=[],
        dry=False,
        storage=spec.storage,
    )
    # PySpark 4.3 stumbles over what Python sources leave behind the last event (SPARK-59135).
    with suppress(PySparkValueError):
        cli.handle_pipeline_events(events)
    assert "Run is COMPLETED" in capsys.readouterr().out
    assert run.last_report is not None
    assert spark.table("bids").count() == run.last_report.total_results > 0


def test_what_comes_through_spark_cannot_be_drained(spark: SparkSession, tmp_path: Path) -> None:
    """Spark's query would end before, and what waits would never be answered."""
    frame = spark.readStream.format("rate").load().withColumnRenamed("timestamp", "ts")
    query = ps.sql(
        "CREATE STREAM a WITH (format = 'dataframe', timestamp = 'ts'); "
        "SELECT COUNT(*) AS n FROM a [RANGE 1 SECOND] EVERY 1 SECOND",
        streams={"a": frame},
    )
    with pytest.raises(UsageError, match="a query over a DataFrame, as a is, has no drain"):
        query.start(
            spark, sink="noop", checkpoint=tmp_path / "ckpt", available_now=True, drain=True
        )
    assert not (tmp_path / "ckpt").exists()


def test_a_server_without_penstock_is_told(tmp_path: Path) -> None:
    from pyspark.errors import PythonException

    from penstock.engine.places.place import Place
    from penstock.engine.spark.connect import client

    error = PythonException("Traceback …\nModuleNotFoundError: No module named 'penstock'\n")
    found = client._explained(error, Place.of(tmp_path))
    assert isinstance(found, SetupError)
    assert "has no penstock" in found.message

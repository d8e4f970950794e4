"""Tables that change, and a query that does, on Spark: the same as in one process."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

from penstock.engine.run.options import RunOptions
from penstock.engine.sinks.sink import noop
from support.engines.script_runs import plans_of
from support.tables.table_scripts import TableScript

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def test_tables_change_on_spark(spark: SparkSession, tmp_path: Path) -> None:
    from penstock.engine.spark.start import start_script

    case = TableScript(tmp_path)
    case.write()
    options = RunOptions(
        sink=noop(),
        checkpoint=str(tmp_path / "checkpoint"),
        partitions=2,
        available_now=True,
        drain=True,
        report=case.after,
    )
    script = case.script
    start_script(
        script, plans_of(script, Random(3)), case.sinks, spark, options
    ).await_termination()
    assert case.found() == case.expected()
    assert len(case.kept) == 2

"""A Spark session that suits Penstock, for those who do not bring their own."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from pyspark.sql import SparkSession

from penstock.engine.java import ensure_java


def make_session(
    master: str | None = None, settings: Mapping[str, str] | None = None
) -> SparkSession:
    """A quiet session: no UI, no progress bars, workers with this interpreter."""
    ensure_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    chosen = {
        "spark.app.name": "penstock",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.driver.memory": "2g",
        "spark.python.daemon.module": "penstock.engine.spark.daemon",
        "spark.log.level": "OFF",
        **(settings or {}),
    }
    builder = SparkSession.builder.master(master or "local[*]")
    for key, value in chosen.items():
        builder = builder.config(key, value)
    session: SparkSession = builder.getOrCreate()
    session.sparkContext.setLogLevel(chosen["spark.log.level"])
    return session

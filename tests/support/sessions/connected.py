"""A session of Spark Connect whose server is on this machine."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from penstock.engine.spark.java import ensure_java
from support.sessions.worker_python import worker_python

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def connect_session(remote: str, settings: Mapping[str, str]) -> Iterator[SparkSession]:
    """A session that starts a server, and stops it at the end."""
    from pyspark.sql import SparkSession

    ensure_java()
    os.environ["PYSPARK_PYTHON"] = worker_python()
    builder = SparkSession.builder.remote(remote)
    chosen = {
        **settings,
        "spark.ui.enabled": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.driver.host": "localhost",
        "spark.python.daemon.module": "penstock.engine.spark.daemon",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
        "spark.log.level": "ERROR",
    }
    for key, value in chosen.items():
        builder = builder.config(key, value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Settings of the server are set again, and warned of.
        session = builder.getOrCreate()
    yield session
    session.stop()

"""Fixtures of all tests: one Spark session, started when the first test asks for it."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from threading import current_thread, main_thread
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from support.kafka.real_broker import choose_broker, connector_jars
from support.stores.buckets import bucket, server

__all__ = ["bucket", "server"]

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from support.engines.runs import Runner

# A busy machine is slow, and that is no fault.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

# What this machine has been measured to cost must not decide which plans tests get to see. Nobody
# can make a file below one that is no folder, not even a test that goes astray.
os.environ["PENSTOCK_CALIBRATION"] = os.devnull + "/none"

# Who runs tests in the background of a shell has Ctrl-C ignored, and so have all whom they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN and current_thread() is main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)

choose_broker()


@pytest.fixture(params=["local", pytest.param("spark", marks=pytest.mark.spark)])
def run(request: pytest.FixtureRequest) -> Runner:
    """A run over all there is, on either engine."""
    from support.engines.runs import run_local, run_spark

    if request.param == "local":
        return run_local
    spark = request.getfixturevalue("spark")
    return lambda *arguments, **named: run_spark(spark, *arguments, **named)


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A session on two cores, with a warehouse of its own."""
    from penstock.engine.spark.session import make_session

    warehouse = tmp_path_factory.mktemp("warehouse")
    settings = {
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(warehouse),
        "spark.local.dir": str(tmp_path_factory.mktemp("local")),
    }
    if jars := connector_jars():
        settings["spark.jars"] = jars
    if "PENSTOCK_REMOTE" in os.environ:  # See tests/engine/spark/connect/test_connect.py.
        from support.sessions.connected import connect_session

        yield from connect_session(os.environ["PENSTOCK_REMOTE"], settings)
        return
    session = make_session("local[2]", settings)
    yield session
    session.stop()

"""The shedding benchmark on a Spark session of its own."""

from __future__ import annotations

from dataclasses import replace

from penstock.bench.contest import MASTER, SETTINGS
from penstock.bench.drift.cases.following import Setting
from penstock.bench.shed.run import Shed, Size, run_shed
from penstock.engine.spark.session import make_session
from penstock.engine.spark.start import start


def on_spark(size: Size, setting: Setting) -> list[Shed]:
    """All loads on Spark."""
    setting.progress("starting Spark")
    spark = make_session(MASTER, SETTINGS)
    on_it = replace(setting, engine="spark", open=lambda plan, options: start(plan, spark, options))
    try:
        return run_shed(size, on_it)
    finally:
        spark.stop()

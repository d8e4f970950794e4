"""The drift benchmark on Spark: the same scenarios, all in one session."""

from __future__ import annotations

from dataclasses import replace

from penstock.bench.contest import MASTER, SETTINGS
from penstock.bench.drift.cases.following import Setting
from penstock.bench.drift.run import Found, Sizes, run_drift
from penstock.engine.spark.session import make_session
from penstock.engine.spark.start import start


def on_spark(sizes: Sizes, setting: Setting) -> Found:
    """The cases in which plans matter most, on a session of their own."""
    setting.progress("starting Spark")
    spark = make_session(MASTER, SETTINGS)
    on_it = replace(setting, engine="spark", open=lambda plan, options: start(plan, spark, options))
    try:
        return run_drift(sizes, on_it)
    finally:
        spark.stop()

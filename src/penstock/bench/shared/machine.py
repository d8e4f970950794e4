"""Where the queries run, and the processor time that is spent there."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from penstock.engine.local import open_script
from penstock.engine.run.options import RunOptions
from penstock.engine.sinks.sink import Sink
from penstock.engines import BatchEngine
from penstock.plan.script import PlannedScript

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Sinks = Mapping[str, Sink]


class Machine(Protocol):
    """Runs scripts, and knows what processor time it has used so far."""

    @property
    def engine(self) -> BatchEngine:
        """The name of the engine."""

    def run(self, planned: PlannedScript, sinks: Sinks, options: RunOptions) -> None:
        """Run a script over all there is."""

    def seconds(self) -> float:
        """Processor seconds of all processes so far."""


class Here:
    """This process."""

    engine: BatchEngine = "local"

    def run(self, planned: PlannedScript, sinks: Sinks, options: RunOptions) -> None:
        """Run a script here."""
        open_script(planned.script, planned.plans, sinks, options).available_now(drain=True)

    def seconds(self) -> float:
        """Processor seconds of this process and of those that it has waited for."""
        return sum(os.times()[:4])


class OnSpark:
    """A Spark session: this process, its Java machine and Python workers."""

    engine: BatchEngine = "spark"

    def __init__(self, spark: SparkSession):
        self._spark = spark
        self._psutil: Any = import_module("psutil")

    def run(self, planned: PlannedScript, sinks: Sinks, options: RunOptions) -> None:
        """Run a script on the session."""
        from penstock.engine.spark.start import start_script

        start_script(planned.script, planned.plans, sinks, self._spark, options).await_termination()

    def seconds(self) -> float:
        """Processor seconds of all processes below this one, and of those that they waited for."""
        own = self._psutil.Process()
        return sum(_used(self._psutil, each) for each in (own, *own.children(recursive=True)))


@contextmanager
def on_spark() -> Iterator[OnSpark]:
    """A Spark session of its own."""
    from penstock.bench.contest import session

    with session() as spark:
        yield OnSpark(spark)


def _used(psutil: Any, process: Any) -> float:
    try:
        return float(sum(process.cpu_times()[:4]))
    except psutil.Error:
        return 0.0

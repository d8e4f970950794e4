"""Delivery of results to the function of a `foreach_batch` sink, as Spark's own DataFrames."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import SparkSession

from penstock.engine.sinks.publish import staging_of
from penstock.engine.sinks.sink import Sink
from penstock.engine.state.checkpoint import Checkpoint
from penstock.engine.state.manifest import Manifest


def deliverer(
    spark: SparkSession, sink: Sink, held: Checkpoint
) -> Callable[[Manifest], None] | None:
    """A function that hands a batch's staged results to the user's; None for other sinks."""
    function, staging = sink.function, staging_of(sink, held.store, held.mark)
    if function is None or staging is None:
        return None

    def deliver(made: Manifest) -> None:
        names = [part.staged.rpartition("/")[2] for part in made.parts]
        paths = [(staging.folder / name).pattern_for_spark for name in names]
        if paths:
            function(spark.read.parquet(*paths), made.batch)

    return deliver

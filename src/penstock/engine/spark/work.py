"""Work for Spark: one query or a script of several, with its checkpoint and its pipeline, whether
a classic session runs it or a server of Connect."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from pyspark.sql import SparkSession

from penstock.engine.run.handle import Batches
from penstock.engine.run.options import RunOptions
from penstock.engine.run.pipeline import Pipeline
from penstock.engine.script.script_checkpoint import ScriptCheckpoint
from penstock.engine.script.script_start import hold_script, pipeline_of, queries_of
from penstock.engine.sinks.publish import staging_of
from penstock.engine.sinks.sink import Sink
from penstock.engine.state.checkpoint import Checkpoint
from penstock.engine.state.hold import Hold
from penstock.engine.state.manifest import Manifest
from penstock.plan.plan import Plan
from penstock.query import Query
from penstock.query.script import Script

Held = Checkpoint | ScriptCheckpoint


class Work(Protocol):
    """What is run: whoever has the checkpoint makes its batches."""

    @property
    def asked(self) -> Query | Script:
        """What is asked."""

    @property
    def options(self) -> RunOptions:
        """The options of the run."""

    def hold(self, tasks: int, hold: Hold | None = None) -> Held:
        """The checkpoint, for this run alone; of so many partitions if nobody says how many. It may
        be in somebody's `hold` already."""

    def batches(self, spark: SparkSession, held: Held) -> Batches:
        """The pipeline over a checkpoint that is held."""


@dataclass(frozen=True)
class QueryWork:
    """One query with its plan."""

    plan: Plan
    options: RunOptions

    @property
    def asked(self) -> Query:
        return self.plan.query

    def hold(self, tasks: int, hold: Hold | None = None) -> Checkpoint:
        return hold_query(self.asked, self.options, tasks, hold)

    def batches(self, spark: SparkSession, held: Held) -> Pipeline:
        assert isinstance(held, Checkpoint), "it is of one query"
        options = self.options
        return Pipeline(
            self.plan,
            held,
            options.sink,
            overwrite=options.overwrite,
            deliver=deliverer(spark, options.sink, held),
            supervisor=options.supervisor,
            keeps_boxes=options.delay is not None,
            rebuilt_at_once=options.rebuilt_at_once,
            pin=options.pin,
        )


@dataclass(frozen=True)
class ScriptWork:
    """Several queries with their plans, and the sinks of those that are shown."""

    asked: Script
    plans: Mapping[str, Plan]
    sinks: Mapping[str, Sink]
    given: RunOptions

    @property
    def options(self) -> RunOptions:
        return replace(self.given, sinks=self.sinks)

    def hold(self, tasks: int, hold: Hold | None = None) -> ScriptCheckpoint:
        return hold_script(
            self.asked, queries_of(self.asked, self.plans), self.options, "spark", tasks, hold
        )

    def batches(self, spark: SparkSession, held: Held) -> Batches:
        assert isinstance(held, ScriptCheckpoint), "it is of a script"
        made = {
            name: deliverer(spark, sink, held.members[name]) for name, sink in self.sinks.items()
        }
        deliver = {name: function for name, function in made.items() if function is not None}
        return pipeline_of(self.asked, self.plans, held, self.options, deliver)


def hold_query(
    query: Query, options: RunOptions, tasks: int, hold: Hold | None = None
) -> Checkpoint:
    """The checkpoint of one query, for this run alone."""
    given = options.partitions
    return Checkpoint(
        options.checkpoint,
        query,
        given or tasks,
        engine="spark",
        is_given=given is not None,
        hold=hold,
        change=options.change,
    )


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

"""Work for a server of Spark Connect: one query or a script of several, as it is run there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from pyspark.sql import SparkSession

from penstock.engine.run.handle import Batches
from penstock.engine.run.options import RunOptions
from penstock.engine.run.pipeline import Pipeline
from penstock.engine.script.script_checkpoint import ScriptCheckpoint
from penstock.engine.script.script_start import hold_script, pipeline_of, queries_of
from penstock.engine.sinks.sink import Sink
from penstock.engine.spark.deliver import deliverer
from penstock.engine.state.checkpoint import Checkpoint
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

    def hold(self, tasks: int) -> Held:
        """The checkpoint, for this run alone; of so many partitions if nobody says how many."""

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

    def hold(self, tasks: int) -> Checkpoint:
        return hold_query(self.asked, self.options, tasks)

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

    def hold(self, tasks: int) -> ScriptCheckpoint:
        return hold_script(queries_of(self.asked, self.plans), self.options, "spark", tasks)

    def batches(self, spark: SparkSession, held: Held) -> Batches:
        assert isinstance(held, ScriptCheckpoint), "it is of a script"
        made = {
            name: deliverer(spark, sink, held.members[name]) for name, sink in self.sinks.items()
        }
        deliver = {name: function for name, function in made.items() if function is not None}
        return pipeline_of(self.asked, self.plans, held, self.options, deliver)


def hold_query(query: Query, options: RunOptions, tasks: int) -> Checkpoint:
    """The checkpoint of one query, for this run alone."""
    given = options.partitions
    return Checkpoint(
        options.checkpoint,
        query,
        given or tasks,
        engine="spark",
        is_given=given is not None,
        change=options.change,
    )

"""Batches in one process: the stages of the Spark engine, without Spark."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import closing

from penstock.arguments import as_flag, as_seconds
from penstock.engine.run.given_plan import Planned
from penstock.engine.run.job import Job, Runner
from penstock.engine.run.pipeline import Pipeline
from penstock.engine.run.report import Report
from penstock.engine.sinks.sink import Sink
from penstock.engine.sources.feed import Feed
from penstock.engine.state.checkpoint import Checkpoint
from penstock.engine.wire.facts import Drain, Fact
from penstock.engine.wire.packets import Packet, pack_fact, unpack_facts
from penstock.engine.wire.tags import META
from penstock.errors import SinkError, SourceError
from penstock.plan.plan import Plan


def in_process(slices: Iterable[Packet]) -> Runner:
    """A runner that takes a batch's slices through all stages, one partition after another."""

    def run(job: Job) -> list[Fact]:
        packets = list(job.pack(slices))
        for stage in job.stages:
            packets = stage.run(packets)
        return unpack_facts(packet for packet in packets if packet.tag == META)

    return run


def open_run(
    plan: Plan,
    *,
    sink: Sink,
    checkpoint: str,
    partitions: int | None = None,
    overwrite: bool = False,
    report: Callable[[Report], None] | None = None,
) -> LocalRun:
    """A plan ready to run in this process."""
    query = plan.query
    strange = next((s for s in query.sources.values() if s.format == "rate"), None)
    if strange is not None:
        raise SourceError(
            f"stream {strange.name} is Spark's own rate source",
            place=strange.places.get("format"),
            hint="run it with --engine spark, or use format='synthetic'",
        )
    if sink.kind == "foreach_batch":
        raise SinkError("a foreach_batch sink gets Spark DataFrames", hint="start it on Spark")
    held = Checkpoint(
        checkpoint, query, partitions or 1, engine="local", is_given=partitions is not None
    )
    try:
        feed = Feed(query.sources.values(), held.store)
        pipeline = Pipeline(plan, held, sink, overwrite=overwrite)
    except BaseException:
        held.close()
        raise
    if report is not None:
        pipeline.on_report(report)
    return LocalRun(pipeline, feed)


class LocalRun:
    """A query running in this process."""

    def __init__(self, pipeline: Pipeline, feed: Feed):
        self.pipeline = pipeline
        self._feed = feed
        self._is_stopping = False

    def replan(self, plan: Plan | Planned | str) -> None:
        """Follow another plan for the same query from the next batch on.

        It may be given as a text as explain prints it, or as a query that has been planned.
        """
        self.pipeline.replan(plan)

    def stop(self) -> None:
        """End after the batch under way."""
        self._is_stopping = True

    def available_now(self, *, drain: bool = False) -> None:
        """Read all there is, then return."""
        drain = as_flag(drain, "drain")
        with closing(self.pipeline.checkpoint):
            self._feed.freeze()
            while not self._is_stopping and self._step():
                pass
            if drain and not self._is_stopping:
                self.pipeline.drain(in_process([pack_fact(0, Drain())]))

    def every(self, seconds: float) -> None:
        """Look for new data at this interval, until stopped."""
        seconds = as_seconds(seconds, "seconds")
        with closing(self.pipeline.checkpoint):
            while not self._is_stopping:
                started = time.monotonic()
                self._step()
                while not self._is_stopping and time.monotonic() - started < seconds:
                    time.sleep(min(0.05, seconds))

    def _step(self) -> bool:
        """One batch, if there is something new."""
        number = self.pipeline.manifest.batch + 1
        serving = self._feed.serve(number, self.pipeline.manifest.offsets)
        if serving is None:
            return False
        run = in_process([piece.packet(0) for piece in serving.slices])
        self.pipeline.process(number, run, offsets=serving.offsets)
        return True

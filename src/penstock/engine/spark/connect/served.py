"""The server's part of a query on Spark Connect: its batches, in the process that Spark keeps for
the function of `foreachBatch`."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from threading import Thread
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StreamingQuery

from penstock.engine.reports.announce import announced, message_of
from penstock.engine.run.handle import Batches as Pipelined
from penstock.engine.run.handle import head_of
from penstock.engine.sources.feed import Serving
from penstock.engine.spark.handle import LONGEST_NAP, SparkRun
from penstock.engine.spark.inflow import Inflow
from penstock.engine.spark.start import open_feed
from penstock.engine.spark.work import Work
from penstock.query import Query
from penstock.query.script import Script

Planned = Callable[[], Work]
"""What is to be run, planned on the server: by what its checkpoint has measured."""

_URL = "SPARK_CONNECT_LOCAL_URL"
"""Where the server tells its own processes how to reach it."""
_LOOK = 0.5
"""Seconds between two looks for orders while Spark waits for its trigger."""


class Batches:
    """The function of `foreachBatch`. It is sent to the server, and there builds the run when the
    first batch comes: nothing of a run can be sent."""

    def __init__(self, planned: Planned, *, tasks: int, name: str, session: str):
        """`name` is that of Spark's query, and `session` the client's, which has started it."""
        self._planned = planned
        self._tasks = tasks
        self._name = name
        self._session = session
        self._run: ServedRun | None = None

    def __call__(self, frame: DataFrame, number: int) -> None:
        if self._run is None:
            self._run = self._build(frame.sparkSession)
        self._run.on_batch(frame, number)

    def _build(self, spark: SparkSession) -> ServedRun:
        work = self._planned()
        asked, options = work.asked, work.options
        held = work.hold(self._tasks)
        batches: Pipelined | None = None
        try:
            with announced(held.store, head_of(asked, options, "spark")):
                batches = work.batches(spark, held)
                inflow = Inflow(spark, asked, {}, held.store, served=_through(asked))
                run = ServedRun(
                    spark,
                    batches,
                    open_feed(asked, held.store, options.available_now, inflow.has_streams),
                    tasks=self._tasks,
                    options=options,
                    inflow=inflow,
                )
            inflow.sweep(batches.manifest.batch)
        except BaseException as error:
            held.close() if batches is None else batches.close(message_of(error))
            raise
        run.serve(_query(self._name, self._session))
        return run


def _through(asked: Query | Script) -> list[str]:
    """The streams and tables that come through Spark: the client has their frames."""
    return [source.name for source in asked.sources.values() if source.is_of_spark]


def _query(name: str, session: str) -> StreamingQuery:
    """Spark's own handle over the query that this process serves: by the session that started it,
    since batches have another one."""
    from pyspark.sql.connect.session import SparkSession as ConnectSession

    root: Any = ConnectSession.builder.remote(f"{os.environ[_URL]};session_id={session}").create()
    while True:
        found = [query for query in root.streams.active if query.name == name]
        if found:
            return found[0]
        time.sleep(_LOOK / 10)  # It is told of once it has been started, a moment from now.


def _end_with_server() -> None:
    """End this process when the server's has ended. It would go on for minutes to ask a server that
    is not there any more, and nobody else could have the checkpoint meanwhile."""
    server = os.getppid()
    while os.getppid() == server:
        time.sleep(_LOOK)
    os._exit(1)


class ServedRun(SparkRun):
    """A run whose process ends with Spark's query: whatever is to be done at its end is done in a
    batch, before Spark's query is stopped."""

    def serve(self, streaming: StreamingQuery) -> None:
        """Take charge of the query that this process serves."""
        self._streaming = streaming
        self._has_begun.set()
        for work in (self._attend, _end_with_server):
            Thread(target=work, daemon=True).start()

    def on_batch(self, frame: DataFrame, number: int) -> None:
        if self._is_released and not self._inflow.has_streams:
            # Spark is about to stop; what it counts now is no batch.
            time.sleep(min(self._pace, LONGEST_NAP))
            return
        try:
            super().on_batch(frame, number)
        except BaseException:
            self._release()
            raise

    def _describe(self, session: SparkSession, text: str) -> None:
        """Nothing: a client of Connect cannot describe jobs."""

    def _attend(self) -> None:
        while not self._is_released:
            time.sleep(_LOOK)
            self._attend_between_batches()
            if self._is_stopped:
                self._end_soon()

    def _halt(self) -> None:
        self._is_stopped = True  # The order is answered first, while the log is open.

    def _run_batch(self, frame: DataFrame, number: int) -> None:
        super()._run_batch(frame, number)
        if self._is_stopped:
            self._end_soon()

    def _is_last(self, number: int, serving: Serving) -> bool:
        """Never: what is done at the end is done in a batch of its own."""
        return False

    def _end_soon(self, after: int | None = None) -> None:
        if self._is_ending:
            return
        with self._busy:
            if self._drains and not self._is_stopped:
                self._drains = False
                with self._batch():
                    self._drain()
            self._release()
        super()._end_soon()

    def _end(self, after: int | None) -> None:
        with suppress(PySparkException, OSError):
            self.streaming.stop()

"""The client's part of a query on Spark Connect: it starts the query, and knows the rest by the
report log and the orders in its checkpoint."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from threading import Thread, get_ident
from typing import Self

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.streaming import DataStreamWriter, StreamingQuery

from penstock.arguments import as_seconds
from penstock.engine.control.order import Order, file_of, give
from penstock.engine.places.file_names import unique_name
from penstock.engine.places.place import Place
from penstock.engine.reports.reading import Position, end_of, entries_after
from penstock.engine.reports.report import Report
from penstock.engine.reports.run_head import RunHead, is_running, read_head
from penstock.engine.run.given_plan import Planned as PlannedQuery
from penstock.engine.run.handle import MOST_REPORTS, Run, has_ended
from penstock.engine.run.options import RunOptions
from penstock.engine.run.preflight import check_start
from penstock.engine.script.script_start import check_script_start
from penstock.engine.sinks.sink import Sink
from penstock.engine.spark.connect.served import Batches, Planned
from penstock.engine.spark.frames import frames_of
from penstock.engine.spark.inflow import Inflow
from penstock.engine.spark.jvm import own_error, reason_of
from penstock.engine.spark.naming import query_name
from penstock.engine.spark.start import check_reach, explained_start, mend_logs, triggered
from penstock.engine.spark.work import Held, QueryWork, ScriptWork, Work, hold_query
from penstock.engine.state import manifest as manifests
from penstock.engine.state.store import Store
from penstock.errors import EngineError, PenstockError, SetupError, UsageError
from penstock.plan.plan import Plan
from penstock.plan.script import PlannedScript
from penstock.plan.text.parse import render_plan
from penstock.query import Query
from penstock.query.script import Script

_LOOK = 0.2
"""Seconds between two looks into the report log."""
_STARTS = 30
_NOT_THERE = "No module named 'penstock'"
_TOO_SLOW = "Python worker failed to connect back"
_LONGEST_WAIT = 1.0
"""Seconds that the server is asked to wait at once: a client may be interrupted between."""


def is_connect(spark: object) -> bool:
    """Whether a session is the client of a Spark Connect server."""
    return type(spark).__module__.startswith("pyspark.sql.connect.")


def start_connected(
    spark: SparkSession,
    query: Query,
    options: RunOptions,
    planned: Callable[[], tuple[Plan, RunOptions]],
    frames: Mapping[str, DataFrame],
) -> ConnectRun:
    """Start a query on the server, which plans it as `planned` does; both see the checkpoint."""
    check_start(query, options, "spark", frames)
    hold = partial(hold_query, query, options)
    return _start(spark, query, options, partial(_query_work, planned), hold, frames)


def start_script_connected(
    spark: SparkSession,
    script: Script,
    plans: Mapping[str, Plan],
    sinks: Mapping[str, Sink],
    options: RunOptions,
    planned: Callable[[], tuple[PlannedScript, RunOptions]],
    frames: Mapping[str, DataFrame],
) -> ConnectRun:
    """Start the queries of a script on the server, which plans them as `planned` does; by the plans
    here the checkpoint is made."""
    check_script_start(script, sinks, options, "spark", frames)
    hold = ScriptWork(script, plans, sinks, replace(options, report=None)).hold
    return _start(spark, script, options, partial(_script_work, planned, sinks), hold, frames)


def _query_work(planned: Callable[[], tuple[Plan, RunOptions]]) -> Work:
    return QueryWork(*planned())


def _script_work(
    planned: Callable[[], tuple[PlannedScript, RunOptions]], sinks: Mapping[str, Sink]
) -> Work:
    found, options = planned()
    return ScriptWork(found.script, found.plans, sinks, options)


def _start(
    spark: SparkSession,
    asked: Query | Script,
    options: RunOptions,
    planned: Planned,
    hold: Callable[[int], Held],
    frames: Mapping[str, DataFrame],
) -> ConnectRun:
    """What is asked, running on the server; `hold` takes its checkpoint for a moment."""
    _refuse_drain(asked, options)
    store = Store(Place.of(options.checkpoint))
    tasks = _parallelism(spark)
    try:
        check_reach(spark, options, tasks)
    except PySparkException as error:
        raise _explained(error, store.root) from None
    mend_logs(store)
    name = query_name(asked, unique_name())
    since, before = end_of(store), read_head(store)
    batches = Batches(planned, tasks=tasks, name=name, session=spark.session_id)
    inflow = Inflow(spark, asked, frames_of(spark, asked, frames), store)
    try:
        if any(source.is_table and source.is_of_spark for source in asked.sources.values()):
            _spool_tables(inflow, hold(tasks))
        writer = inflow.packets(tasks).writeStream.foreachBatch(batches).queryName(name)
        writer = writer.option("checkpointLocation", (store.root / "spark").for_spark)
        streaming = _started(triggered(writer, options, inflow))
    except PySparkException as error:
        raise _explained(error, store.root) from None
    return ConnectRun(streaming, store, since, before, options.report)


def _refuse_drain(asked: Query | Script, options: RunOptions) -> None:
    """Refuse to drain what comes through Spark: its query ends after the last of the data, and its
    process with it, before anybody could."""
    through = [s for s in asked.sources.values() if s.is_of_spark and not s.is_table]
    if options.drain and through:
        raise UsageError(
            f"on Spark Connect a query over a DataFrame, as {through[0].name} is, has no drain",
            hint="leave drain out, or start it on a session of the classic kind",
        )


def _explained(error: PySparkException, root: Place) -> PenstockError:
    """What is to be said of a start that failed on the server."""
    if _NOT_THERE in str(error):
        return SetupError(
            "the Python of the Spark Connect server has no penstock",
            hint="install this version there too; PYSPARK_PYTHON says which Python a server takes",
        )
    if _TOO_SLOW in str(error):
        return SetupError(
            "the server's Python process took longer than the ten seconds that Spark gives it",
            hint="start again when the server is less busy",
        )
    other = EngineError(
        f"Spark cannot start the query: {reason_of(error)}", hint="the server's log has more"
    )
    return explained_start(error, root) or other


def _spool_tables(inflow: Inflow, held: Held) -> None:
    """Spool the tables before the first batch: frames are of this process, batches run in the
    server's. The checkpoint is that of what is asked from then on."""
    with closing(held):
        found = manifests.latest(held.store)
        inflow.prepare({} if found is None else found.offsets)


def _started(writer: DataStreamWriter) -> StreamingQuery:
    """A query that has been started. Spark gives its process ten seconds to load what it needs,
    which is little on a machine that is busy: what was loaded once comes sooner the next time."""
    for _ in range(_STARTS - 1):
        try:
            return writer.start()
        except PySparkException as error:
            if _TOO_SLOW not in str(error):
                raise
    return writer.start()


def _parallelism(spark: SparkSession) -> int:
    """The cores of the cluster: a client sees them only by how Spark splits its own rows."""
    return int(spark.range(1 << 16).select(F.spark_partition_id()).distinct().count())


def _is_unanswered(error: PySparkException) -> bool:
    """Whether it was not the server that told of an error."""
    from pyspark.errors.exceptions.connect import SparkConnectGrpcException

    return type(error) is SparkConnectGrpcException


class ConnectRun(Run):
    """A query running on a Spark Connect server."""

    def __init__(
        self,
        streaming: StreamingQuery,
        store: Store,
        since: Position,
        before: RunHead | None,
        report: Callable[[Report], None] | None,
    ):
        self.streaming = streaming
        self._store = store
        self._position = since
        self._before = before
        self._report = report
        self._reports: deque[Report] = deque(maxlen=MOST_REPORTS)
        self._failure: Exception | None = None
        self._is_raised = False
        self._is_over = False
        self._is_lost = False
        self._follower = Thread(target=self._follow, daemon=True)
        self._follower.start()

    @property
    def is_active(self) -> bool:
        try:
            return not self._is_lost and bool(self.streaming.isActive)
        except PySparkException as error:
            self._lose(error)
            return False

    @property
    def exception(self) -> Exception | None:
        if self._failure is None and not self.is_active:
            error = self.streaming.exception()
            self._failure = None if error is None else self._explained(error)
        return self._failure

    @property
    def reports(self) -> Sequence[Report]:
        return self._reports

    @property
    def last_report(self) -> Report | None:
        return self._reports[-1] if self._reports else None

    def replan(self, plan: Plan | PlannedQuery | str) -> None:
        """Order another plan; it stays pinned in the checkpoint."""
        if not self.is_active:
            raise has_ended()
        given = plan if isinstance(plan, Plan | str) else plan.plan
        give(self._store, "pin", given if isinstance(given, str) else render_plan(given))

    def stop(self) -> None:
        if self._follower.ident == get_ident():
            give(self._store, "stop")  # The report that stops its run cannot wait for the end.
            return
        order: Order | None = None
        while self.is_active:
            if self._is_served and (order is None or not self._waits(order)):
                order = give(self._store, "stop")
            self._wait(_LONGEST_WAIT)
        self._end()

    def await_termination(self, timeout: float | None = None) -> bool:
        seconds = math.inf if timeout is None else as_seconds(timeout, "timeout", may_be_zero=True)
        until = time.monotonic() + seconds
        while self._failure is None and not self._wait(until - time.monotonic()):
            if time.monotonic() >= until:
                return False
        self._end()
        if self.exception is not None:
            self._is_raised = True
            raise self.exception
        return True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object = None, *_: object) -> None:
        self.stop()
        if kind is None and not self._is_raised and self.exception is not None:
            self._is_raised = True
            raise self.exception

    @property
    def _is_served(self) -> bool:
        """Whether the server has taken the checkpoint, so that orders are meant for this run."""
        return is_running(self._store, read_head(self._store), time.time())

    def _waits(self, order: Order) -> bool:
        """Whether an order has not been obeyed or refused yet."""
        return self._store.exists(file_of(order.name))

    def _wait(self, seconds: float) -> bool:
        """Wait a little for the end; an error of the query is one too."""
        try:
            wait = min(max(seconds, 0.001), _LONGEST_WAIT)
            return bool(self.streaming.awaitTermination(wait))
        except PySparkException as error:
            self._lose(error) if _is_unanswered(error) else self._fail(error)
            return True

    def _fail(self, error: Exception) -> None:
        self._failure = self._explained(error)

    def _lose(self, error: Exception) -> None:
        """Have the run ended here: what has become of it on the server cannot be known."""
        self._is_lost = True
        self._failure = self._failure or EngineError(
            f"the Spark Connect server has gone: {reason_of(error)}",
            hint="nothing is lost: see `penstock status` of the checkpoint, and run again on it",
        )

    def _end(self) -> None:
        """Have all reports, once the query has ended."""
        self._is_over = True
        self._follower.join()

    def _explained(self, error: Exception) -> Exception | None:
        """The error that really happened, which the server has put into the log; None if it says
        that the run ended well, and only Spark's last batch was broken off."""
        head = read_head(self._store)
        head = None if head == self._before else head
        if head is not None and head.ended_at is not None and head.error is None:
            return None
        said, own = None if head is None else head.error, own_error(error)
        hint = "nothing is lost: run again on this checkpoint; the server's log has the details"
        if own is not None and (said is None or said.startswith(own.message)):
            return type(own)(said or own.message, hint=own.hint or hint)
        return EngineError(said or f"the batch failed on Spark: {reason_of(error)}", hint=hint)

    def _follow(self) -> None:
        """Collect the reports that the server writes, until all have come."""
        is_last = False
        while not is_last:
            is_last = self._is_over
            try:
                found, self._position = entries_after(self._store, self._position)
            except (OSError, PenstockError):
                found = []  # The next look will tell.
            for entry in found:
                if isinstance(entry, Report):
                    self._tell(entry)
            if not is_last:
                time.sleep(_LOOK)

    def _tell(self, report: Report) -> None:
        self._reports.append(report)
        try:
            if self._report is not None and self._failure is None:
                self._report(report)
        except Exception as error:  # Whoever waits for the run is told of it.
            self._failure = error
            give(self._store, "stop")

"""The handle over a query that runs on Spark."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from threading import TIMEOUT_MAX, Event, RLock, Thread, get_ident

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StreamingQuery

from penstock.arguments import as_seconds
from penstock.engine.measures.trigger_wait import TriggerWait
from penstock.engine.reports.announce import message_of
from penstock.engine.run.handle import Batches, Handle, fenced_first, within_itself
from penstock.engine.run.job import Runner, Staged
from penstock.engine.run.options import RunOptions
from penstock.engine.sources.feed import SPLIT_BYTES, Feed, Serving
from penstock.engine.sources.slices import packets_of
from penstock.engine.spark.inflow import Inflow, SparkLogs
from penstock.engine.spark.jvm import is_crash, is_lost, lost_error, reason_of, storage_error
from penstock.engine.spark.naming import job_text, query_name
from penstock.engine.spark.runner import Lightness, on_spark, placement_on
from penstock.engine.wire.attempts import attempted
from penstock.engine.wire.facts import Drain, Fact
from penstock.engine.wire.packets import pack_fact
from penstock.errors import MemoryLimitError, StateError, UnreachableError

_SETTINGS = {"spark.sql.adaptive.enabled": "false"}
# Of DataFrames a task gets more rows at a time.
_MORE_ROWS = {"spark.sql.execution.arrow.maxRecordsPerBatch": "65536"}
# The number by which Spark does not look after each row how many bytes there are by now, which
# takes longer than to write the row. So many rows of a few numbers are no danger.
_ANY_SIZE = {"spark.sql.execution.arrow.maxBytesPerBatch": str((1 << 31) - 1)}
_COMPILED = "spark.sql.codegen.wholeStage"
"""Our own stages are functions that Spark knows nothing of: code for them is made in vain. The
DataFrames of users are read faster by what it compiles for them."""
LONGEST_NAP = 0.1
"""Seconds between two looks for orders, and at whether to go on."""
_SHORTEST_PACE = 0.02
"""Seconds between two looks at sources with nothing new, where the trigger does not say so."""
_LOOK = 0.5
"""Seconds between two looks for orders while Spark waits for its trigger."""
_SHORTEST_WAIT = 0.001
"""Seconds; Spark refuses to wait for none."""


class SparkRun(Handle):
    """A query running on Spark.

    Whoever runs a batch, drains or lets go of the checkpoint holds `_busy`. A thread waits for the
    end and lets go, whether or not somebody else waits, unless the streams are yet to be drained.
    """

    def __init__(
        self,
        spark: SparkSession,
        batches: Batches,
        feed: Feed,
        *,
        tasks: int,
        options: RunOptions,
        inflow: Inflow,
        logs: SparkLogs | None = None,
    ):
        super().__init__(batches, options, "spark")
        self._logs = logs
        batches.watch.backlog = feed.backlog
        feed.may_split = options.may_split
        feed.tasks = tasks
        batches.watch.is_parallel = True
        self._streaming: StreamingQuery | None = None
        self._spark = spark
        self._feed = feed
        self._tasks = tasks
        self._pace = max(options.trigger.seconds, _SHORTEST_PACE)
        self._ends = options.available_now
        self._trigger = TriggerWait(0.0 if self._ends else options.trigger.seconds)
        self._drains = options.drain and options.available_now
        self._inflow = inflow
        self._error: Exception | None = None
        self._is_stopped = False
        self._is_released = False
        self._busy = RLock()
        self._batch_thread: int | None = None
        self._has_begun = Event()
        self._is_ending = False
        self._end_error: Exception | None = None
        self._helpers: list[Thread] = []
        self._is_set_up = False
        self._lightness = Lightness()
        self._placement = placement_on(spark)
        self.starting = ExitStack()
        """What is for the start alone. Spark opens sources after it has said that it started, so
        this ends with the first batch, or with all of them."""

    @property
    def name(self) -> str:
        """Its name in Spark's pages."""
        return query_name(self.batches.asked, self.batches.checkpoint.mark)

    @property
    def streaming(self) -> StreamingQuery:
        """Spark's own handle."""
        assert self._streaming is not None, "it is there once the query has been started"
        return self._streaming

    def begin(self, streaming: StreamingQuery) -> None:
        """Take charge of a query that has just been started."""
        self._streaming = streaming
        self._has_begun.set()
        self._in_a_thread(self._release_at_end)

    def wait_also_for(self, thread: Thread) -> None:
        """Say that the query has ended only when a thread that uses the session has ended too."""
        self._helpers.append(thread)

    @property
    def is_active(self) -> bool:
        return self._streaming is None or bool(self._streaming.isActive)

    @property
    def exception(self) -> Exception | None:
        if self._failure is None and self._streaming is not None:
            try:
                error = None if self._streaming.isActive else self._streaming.exception()
            except (Py4JError, OSError) as lost:
                error = lost
            if error is not None and not self._is_interrupted:
                self._failure = self._explained(error)
        return self._failure

    @property
    def _is_interrupted(self) -> bool:
        """Whether its last batch was left undone because it is being stopped, or is over: Spark may
        say that a query has ended when it has just begun another batch."""
        is_over = self._is_stopped or self._is_ending
        return is_over and isinstance(self._error, InterruptedError)

    def stop(self) -> None:
        self._is_stopped = True
        if self._batch_thread == get_ident():
            self._end_soon()
            return
        with self._busy:
            pass  # The batch under way is done; one that begins now finds out that it need not.
        try:
            self.streaming.stop()
            self._join_helpers()
        except (Py4JError, OSError) as error:
            if is_lost(error) or self.is_active:
                raise self._explained(error) from None
        finally:
            self._release()

    def await_termination(self, timeout: float | None = None) -> bool:
        """Wait until the query has ended, then drain it if that was asked for.

        True if it has ended, False after `timeout` seconds. The error that ended it is raised.
        """
        seconds = math.inf if timeout is None else as_seconds(timeout, "timeout", may_be_zero=True)
        until = time.monotonic() + seconds
        if self._batch_thread == get_ident():
            raise within_itself()
        if self._failure is not None:
            raise self._failed(self._failure)
        try:
            wait = min(max(seconds, _SHORTEST_WAIT), TIMEOUT_MAX)
            if not self.streaming.awaitTermination(wait):
                return False
            self._join_helpers()
        except (PySparkException, Py4JError, OSError) as error:
            self._release()
            if self._is_interrupted:
                return True
            raise self._failed(self._explained(error)) from None
        return self._finish(until)

    def _finish(self, until: float) -> bool:
        """Drain if that is still to be done, and let go; False if others do so for too long."""
        seconds = min(max(0.0, until - time.monotonic()), TIMEOUT_MAX)
        if not self._busy.acquire(timeout=seconds):
            return False
        try:
            with self._batch():
                if self._failure is not None:
                    raise self._failed(self._failure)
                if self._drains and not self._is_stopped:
                    self._drains = False
                    self._is_ending = True  # Spark's query is over: a report has none to stop.
                    self._drain()
        except (PySparkException, Py4JError, OSError) as error:
            raise self._failed(self._explained(error)) from None
        except Exception as error:
            self._failed(error)
            raise
        finally:
            self._release()
            self._busy.release()
        return True

    def _drain(self) -> None:
        drain = [pack_fact(0, Drain())]
        light, placed = self._lightness, self._placement
        run = on_spark(self._spark, drain, self._tasks, lightness=light, placement=placed)
        self.batches.drain(run)

    @contextmanager
    def _batch(self) -> Iterator[None]:
        """Mark this thread as the one in a batch: what its report may not do is refused by that."""
        self._batch_thread = get_ident()
        try:
            yield
        finally:
            self._batch_thread = None

    def _release_at_end(self) -> None:
        """Let go of the checkpoint once Spark's query has ended, unless a drain is to come."""
        try:
            while not self.streaming.awaitTermination(_LOOK):
                self._attend_between_batches()
            is_last = not self._drains
        except (PySparkException, Py4JError, OSError):
            is_last = True  # Whoever waits is told why.
        if is_last or self._is_stopped:
            self._release()

    def _attend_between_batches(self) -> None:
        """Obey orders while Spark waits for its trigger, which may be long."""
        if self._busy.acquire(blocking=False):
            try:
                if not self._is_released:
                    self._attendant.attend()
            finally:
                self._busy.release()

    def _halt(self) -> None:
        self._is_stopped = True
        self._end_soon()

    def _release(self) -> None:
        """Let go of the checkpoint when the batch under way is done; there will be no other."""
        with self._busy:
            self.starting.close()
            self._is_released = True
            error = None if self._is_interrupted else self._failure or self._error
            self.batches.close(message_of(error))
            if self._logs is not None:
                self._logs.remove()

    def _join_helpers(self) -> None:
        """Wait for the threads that still use the session: whoever stops it next may do so."""
        for thread in self._helpers:
            thread.join()
        if self._end_error is not None and self.is_active:
            raise self._end_error

    def _explained(self, error: Exception) -> Exception:
        """The error that really happened, without Spark's stack trace if it is known."""
        if is_lost(error):
            return lost_error()
        if self._error is not None and not isinstance(self._error, PySparkException | Py4JError):
            return self._error
        unwritten = storage_error(error, self.batches.checkpoint.store.root)
        if unwritten is not None and self._error is None:
            return unwritten
        return StateError(
            f"the batch failed on Spark: {reason_of(self._error or error)}",
            hint="nothing is lost: run again on this checkpoint; Spark's log has the details",
        )

    def on_batch(self, frame: DataFrame, number: int) -> None:
        """Run a micro-batch; Spark calls this for each."""
        self.batches.watch.add("wait", self._trigger.begin())
        try:
            self._run_batch(frame, number + (0 if self._logs is None else self._logs.first))
        except Exception as error:
            self._error = fenced_first(error, self.batches.checkpoint.store)
            if self._error is not error:
                raise self._error from None
            raise
        finally:
            self._trigger.end()

    def _run_batch(self, frame: DataFrame, number: int) -> None:
        serving = self._serving(number)
        with self._busy:
            if self._is_released or (self._is_stopped and self._inflow.has_streams):
                # To return would tell Spark that the rows of its own sources are done with. What
                # comes from the feed is safe: how far that was read is in our manifest.
                raise InterruptedError("the query is being stopped")
            if not self._is_stopped and serving is not None:
                session = frame.sparkSession
                self._set_up(session)
                serving = self._with_inflow(frame, number, serving)
                ticks = None if self._inflow.has_streams else frame
                with self._batch(), self._uncompiled(session):
                    serving = self._processed(number, serving, session, ticks)
                self._feed.passed(serving.offsets)
                self._inflow.sweep(self.batches.manifest.batch)
                if self._is_last(number, serving):
                    self._end_soon(after=number)
        if self._ends and serving is None:
            self._end_soon()

    def _is_last(self, number: int, serving: Serving) -> bool:
        """Whether nothing is left to read after a batch: Spark's next one would find that out, and
        its start takes as long as many a batch."""
        if not self._ends or self._inflow.is_due(serving.offsets):
            return False
        return self._feed.is_over(number + 1, serving.offsets)

    def _processed(
        self, number: int, serving: Serving, session: SparkSession, ticks: DataFrame | None
    ) -> Serving:
        """Run a batch, again where that may help, and by halves where it is too much; what was
        read in the end."""
        done = self.batches.manifest.offsets
        while True:
            weight = sum(piece.weight for piece in serving.slices)
            run = on_spark(
                session,
                packets_of(serving.slices),
                self._tasks,
                weight,
                ticks,
                self._lightness,
                self._placement,
            )
            work = partial(
                self.batches.process,
                number,
                self._described(session, run),
                offsets=serving.offsets,
            )
            try:
                attempted(work, partial(_may_pass, weight), self._wait)
                return serving
            except Exception as error:
                is_too_much = isinstance(error, MemoryLimitError)
                half = None
                if is_too_much or (is_crash(error) and weight > SPLIT_BYTES):
                    half = self._feed.halved(number, done)
                if half is None:
                    raise
                serving = _with_spooled(half, serving)

    def _wait(self, seconds: float) -> bool:
        """Wait, unless the query is being stopped; whether it goes on."""
        until = time.monotonic() + seconds
        while not self._is_stopped and (left := until - time.monotonic()) > 0:
            time.sleep(min(LONGEST_NAP, left))
        return not self._is_stopped

    def _set_up(self, session: SparkSession) -> None:
        """Have Spark run our stages, and from the next batch on read DataFrames, as suits us."""
        if self._is_set_up:
            return
        settings = dict(_SETTINGS)
        if self._inflow.has_streams:
            settings |= _MORE_ROWS
        if self._inflow.is_narrow:
            settings |= _ANY_SIZE
        for key, value in settings.items():
            session.conf.set(key, value)
        self.starting.close()
        self._is_set_up = True

    @contextmanager
    def _uncompiled(self, session: SparkSession) -> Iterator[None]:
        """Have Spark make no code for our stages; for the DataFrames of the next batch it does."""
        session.conf.set(_COMPILED, "false")
        try:
            yield
        finally:
            if self._inflow.has_streams:
                session.conf.set(_COMPILED, "true")

    def _with_inflow(self, frame: DataFrame, number: int, serving: Serving) -> Serving:
        """What a batch reads, with the rows that come through Spark."""
        manifest = self.batches.manifest
        if number <= manifest.batch:
            self._inflow.pass_over(frame)
            return serving
        began = time.time()
        self._describe(frame.sparkSession, f"{self.name} batch {number}: spool")
        with self.batches.watch.phase("feed"):
            slices, after = self._inflow.take(
                frame, number, manifest.offsets, self._tasks, serving.clock
            )
        if slices and not self._ends:
            oldest = began if serving.oldest is None else min(began, serving.oldest)
            self.batches.watch.oldest = oldest
        return replace(
            serving, slices=(*serving.slices, *slices), offsets={**serving.offsets, **after}
        )

    def _described(self, session: SparkSession, run: Runner) -> Runner:
        """A runner whose jobs have descriptions in Spark's pages."""
        name = self.name

        def described(job: Staged) -> Sequence[Fact]:
            self._describe(session, job_text(name, job))
            return run(job)

        return described

    def _describe(self, session: SparkSession, text: str) -> None:
        session.sparkContext.setJobDescription(text)

    def _end_soon(self, after: int | None = None) -> None:
        """Stop in a thread, since Spark waits for the batch under way before it stops; if that is
        the one `after` which nothing comes, once Spark has written down that it is done."""
        if not self._is_ending:
            self._is_ending = True
            self._in_a_thread(partial(self._end, after))

    def _in_a_thread(self, work: Callable[[], None]) -> None:
        """Do something in a thread that ends before the query is said to have ended."""
        thread = Thread(target=work, daemon=True)
        thread.start()
        self.wait_also_for(thread)

    def _end(self, after: int | None) -> None:
        self._has_begun.wait()
        if after is not None:
            self._await_commit(after)
        try:
            self.streaming.stop()
        except (Py4JError, OSError) as error:
            self._end_error = error  # For whoever waits for the end: a thread has nobody to tell.

    def _await_commit(self, number: int) -> None:
        """Wait for Spark to be done with a batch, for a while: one that it does not know to be done
        it would run again."""
        if self._logs is None:
            return
        entry = self._logs.folder / f"commits/{number - self._logs.first}"
        until = time.monotonic() + _LOOK
        while time.monotonic() < until and not entry.exists:
            time.sleep(_SHORTEST_WAIT)

    def _serving(self, number: int) -> Serving | None:
        """The input of the batch, as soon as there is some."""
        if number <= self.batches.manifest.batch:
            return Serving((), self.batches.manifest.offsets)
        next_look = -math.inf
        while True:
            self._attendant.attend()
            serving = None
            if time.monotonic() >= next_look:
                serving = self._look(number)
                # However long a look takes, half of the time is not spent looking.
                next_look = time.monotonic() + max(self._pace, self._feed.look_seconds)
            is_over = self._ends or self._is_stopped or not self.is_active
            if serving is not None or is_over:
                return serving
            time.sleep(min(self._pace, LONGEST_NAP))

    def _look(self, number: int) -> Serving | None:
        """The input of the batch, if there is some by now."""
        done = self.batches.manifest.offsets
        # DataFrames may have rows in every batch, of which the feed knows nothing.
        is_due = self._inflow.is_due(done) or (not self._ends and self.batches.is_due)
        return self.batches.watch.feed(partial(self._feed.serve, number, done, is_due=is_due))


def _may_pass(weight: int, error: Exception) -> bool:
    """Whether a batch that reads so many bytes may succeed the next time.

    One that reads many may have been killed because of that.
    """
    return isinstance(error, UnreachableError) or (weight <= SPLIT_BYTES and is_crash(error))


def _with_spooled(half: Serving, whole: Serving) -> Serving:
    """A half of a batch, with all of its rows that came through Spark."""
    spooled = tuple(piece for piece in whole.slices if piece.checksum is not None)
    return replace(half, slices=(*half.slices, *spooled), offsets={**whole.offsets, **half.offsets})

"""Batches in one process: the stages of the Spark engine, without Spark."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from threading import TIMEOUT_MAX, RLock

from penstock.arguments import as_flag, as_seconds
from penstock.engine.reports.announce import announced, message_of
from penstock.engine.run.handle import (
    Batches,
    Handle,
    fenced_first,
    has_ended,
    head_of,
    within_itself,
)
from penstock.engine.run.job import Runner, run_here
from penstock.engine.run.options import RunOptions
from penstock.engine.run.pipeline import Pipeline
from penstock.engine.run.tables.columns_read import columns_read
from penstock.engine.script.script_start import (
    check_sinks,
    hold_script,
    pipeline_of,
    queries_of,
)
from penstock.engine.sinks.sink import Sink
from penstock.engine.sources.feed import Feed, Serving, refuse_sources_of_spark
from penstock.engine.sources.slices import packets_of
from penstock.engine.state.checkpoint import Checkpoint
from penstock.engine.wire.attempts import attempted
from penstock.engine.wire.facts import Drain
from penstock.engine.wire.freed_memory import keep_freed_memory
from penstock.engine.wire.packets import Packet, pack_fact
from penstock.errors import MemoryLimitError, SinkError, UnreachableError
from penstock.plan.plan import Plan
from penstock.query.script import Script


def in_process(pieces: Sequence[Packet]) -> Runner:
    """A runner that takes a batch's pieces through all stages, one partition after another."""

    return partial(run_here, pieces=pieces)


def open_run(plan: Plan, options: RunOptions) -> LocalRun:
    """A plan ready to run in this process."""
    query, sink, partitions = plan.query, options.sink, options.partitions
    refuse_sources_of_spark(query.sources.values())
    _refuse_frames(sink)
    held = Checkpoint(
        options.checkpoint,
        query,
        partitions or 1,
        engine="local",
        is_given=partitions is not None,
        change=options.change,
    )
    try:
        with announced(held.store, head_of(query, options, "local")):
            feed = Feed(query.sources.values(), held.store, columns_read(query))
            pipeline = Pipeline(
                plan,
                held,
                sink,
                overwrite=options.overwrite,
                supervisor=options.supervisor,
                keeps_boxes=options.delay is not None,
                rebuilt_at_once=options.rebuilt_at_once,
                pin=options.pin,
            )
            return LocalRun(pipeline, feed, options)
    except BaseException:
        held.close()
        raise


def open_script(
    script: Script, plans: Mapping[str, Plan], sinks: Mapping[str, Sink], options: RunOptions
) -> LocalRun:
    """The planned queries of a script, ready to run in this process; each that is shown has a sink,
    by its name."""
    sources = script.sources.values()
    refuse_sources_of_spark(sources)
    check_sinks(script, sinks)
    for sink in sinks.values():
        _refuse_frames(sink)
    options = replace(options, sinks=sinks)
    held = hold_script(script, queries_of(script, plans), options, "local", 1)
    try:
        with announced(held.store, head_of(script, options, "local")):
            feed = Feed(sources, held.store, columns_read(script))
            return LocalRun(pipeline_of(script, plans, held, options), feed, options)
    except BaseException:
        held.close()
        raise


def _refuse_frames(sink: Sink) -> None:
    if sink.kind == "foreach_batch":
        raise SinkError("a foreach_batch sink gets Spark DataFrames", hint="start it on Spark")


class LocalRun(Handle):
    """A query in this process: it runs in the thread that waits for it, and only while it does.

    `await_termination` runs it by its options; `available_now` and `every` by their own.
    """

    def __init__(self, batches: Batches, feed: Feed, options: RunOptions):
        super().__init__(batches, options, "local")
        keep_freed_memory()
        batches.watch.backlog = feed.backlog
        feed.may_split = options.may_split
        self._feed = feed
        self._options = options
        # Whoever stops it from another thread waits for the batch under way; the thread that runs
        # the batches may stop it too, in a report or a signal, and need not. That is all it may do.
        self._busy = RLock()
        self._is_running = False
        self._is_stopping = False
        self._is_frozen = False
        self._has_ended = False
        self._next_look = 0.0

    @property
    def is_active(self) -> bool:
        return not self._has_ended

    def stop(self) -> None:
        self._is_stopping = True
        with self._busy:
            if not self._is_running:
                self._end()

    def await_termination(self, timeout: float | None = None) -> bool:
        """Run until all there is has been read, or until stopped, as the options say.

        True once it has ended, False after `timeout` seconds; the batch under way then is done.
        """
        seconds = math.inf if timeout is None else as_seconds(timeout, "timeout", may_be_zero=True)
        until = time.monotonic() + seconds
        if not self._busy.acquire(timeout=min(seconds, TIMEOUT_MAX)):
            return False
        try:
            self._refuse_itself()
            if self._failure is not None:
                raise self._failed(self._failure)
            if not self._has_ended:
                self._run(lambda: self._work(until))
            return self._has_ended
        finally:
            self._busy.release()

    def available_now(self, *, drain: bool = False) -> None:
        """Read all there is, then return."""
        drain = as_flag(drain, "drain")
        self._run(lambda: self._read_all(drain))

    def every(self, seconds: float) -> None:
        """Look for new data at this interval, until stopped."""
        seconds = as_seconds(seconds, "seconds")
        self._run(lambda: self._follow(seconds))

    def _work(self, until: float) -> bool:
        """Run by the options; False if time was up before the end."""
        if self._options.available_now:
            return self._read_all(self._options.drain, until)
        return self._follow(self._options.trigger.seconds, until)

    def _run(self, work: Callable[[], bool]) -> None:
        """Run batches; the checkpoint is let go of when there will be no more."""
        with self._busy:
            self._refuse_itself()
            self._is_running, is_over = True, True
            try:
                # Only now, as a signal may have ended it just before.
                self._refuse_ended()
                is_over = work()
            except Exception as error:
                told = fenced_first(error, self.batches.checkpoint.store)
                if not self._has_ended:
                    self._failed(told)
                if told is not error:
                    raise told from None
                raise
            finally:
                self.batches.watch.rest()
                self._is_running = False
                if is_over:
                    self._end()

    def _refuse_itself(self) -> None:
        """Refuse the run's own thread, which would run the next batch inside of this one."""
        if self._is_running:
            raise within_itself()

    def _refuse_ended(self) -> None:
        """Refuse a run without its checkpoint: another one may have that by now."""
        if self._failure is not None:
            raise self._failed(self._failure)
        if self._has_ended:
            raise has_ended()

    def _end(self) -> None:
        self._has_ended, self._is_frozen = True, False
        self.batches.close(message_of(self._failure))

    def _read_all(self, drain: bool, until: float = math.inf) -> bool:
        """Run batches while there is something to read; False if time was up before the end."""
        if not self._is_frozen:
            self._feed.freeze()
            self._is_frozen = True
        while self._goes_on() and self._step():
            if time.monotonic() >= until:
                return False
        if drain and not self._is_stopping:
            self.batches.drain(in_process([pack_fact(0, Drain())]))
        return True

    def _follow(self, seconds: float, until: float = math.inf) -> bool:
        """Run a batch every so many seconds; False if time was up before it was stopped."""
        while self._goes_on():
            now = time.monotonic()
            if now < self._next_look:
                self.batches.watch.rest()
                time.sleep(max(0.0, min(_NAP, self._next_look - now, until - now)))
            else:
                is_new = self._step()
                pause = max(seconds or _NAP, self._feed.look_seconds)
                self._next_look = now + (seconds if is_new else pause)
            if time.monotonic() >= until:
                return self._is_stopping
        return True

    def _halt(self) -> None:
        self._is_stopping = True

    def _goes_on(self) -> bool:
        """Whether it has not been stopped, by its handle or by an order."""
        if not self._is_stopping:
            self._attendant.attend()
        return not self._is_stopping

    def _step(self) -> bool:
        """Run one batch, if there is something new."""
        number = self.batches.manifest.batch + 1
        is_due = not self._is_frozen and self.batches.is_due
        serve = partial(self._feed.serve, number, self.batches.manifest.offsets, is_due=is_due)
        serving = self.batches.watch.feed(serve)
        if serving is None:
            return False
        done = self.batches.manifest.offsets
        while serving is not None:
            served, serving = serving, None
            try:
                attempted(partial(self._process, number, served), _may_pass, self._wait)
            except MemoryLimitError:
                serving = self._feed.halved(number, done)
                if serving is None:
                    raise
        self._feed.passed(served.offsets)
        return True

    def _process(self, number: int, serving: Serving) -> None:
        run = in_process(packets_of(serving.slices))
        self.batches.process(number, run, offsets=serving.offsets)

    def _wait(self, seconds: float) -> bool:
        """Wait, unless it is being stopped; whether it goes on."""
        until = time.monotonic() + seconds
        while not self._is_stopping and (left := until - time.monotonic()) > 0:
            time.sleep(min(_NAP, left))
        return not self._is_stopping


def _may_pass(error: Exception) -> bool:
    return isinstance(error, UnreachableError)


_NAP = 0.05
"""Seconds between two looks at whether to go on, and between two at sources with nothing new."""

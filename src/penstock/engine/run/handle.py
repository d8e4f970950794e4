"""The handle over a running query, alike on both engines."""

from __future__ import annotations

from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol, Self, runtime_checkable

from penstock.engine.control.attendant import Attendant
from penstock.engine.control.order import Order
from penstock.engine.measures.watch import Watch
from penstock.engine.reports.entries import Answer
from penstock.engine.reports.log import ReportLog
from penstock.engine.reports.parts import Change
from penstock.engine.reports.report import Report
from penstock.engine.reports.run_head import RunHead
from penstock.engine.run.given_plan import Planned
from penstock.engine.run.job import Runner
from penstock.engine.run.options import RunOptions
from penstock.engine.run.pipeline import Pipeline
from penstock.engine.state.hold import Hold
from penstock.engine.state.manifest import Manifest
from penstock.engine.state.store import Store
from penstock.engines import BatchEngine
from penstock.errors import FencedError, PenstockError, UsageError, without_passwords
from penstock.plan.plan import Plan
from penstock.query import Query
from penstock.query.script import Script

MOST_REPORTS = 8_640
"""Enough for a day at a batch every ten seconds; older ones are forgotten."""


@runtime_checkable
class Run(Protocol):
    """A query that runs, on either engine; a `with` block over it stops it at its end."""

    @property
    @abstractmethod
    def is_active(self) -> bool:
        """Whether it has not ended yet."""

    @property
    @abstractmethod
    def exception(self) -> Exception | None:
        """The error that ended it; None while it goes on, and if it ended well."""

    @property
    @abstractmethod
    def reports(self) -> Sequence[Report]:
        """The reports of the latest batches, one for each."""

    @property
    @abstractmethod
    def last_report(self) -> Report | None:
        """The report of the latest batch; None before the first."""

    @abstractmethod
    def replan(self, plan: Plan | Planned | str) -> None:
        """Follow another plan for the same query from the next batch on.

        It may be given as a text as explain prints it, or as a query that has been planned.
        """

    @abstractmethod
    def stop(self) -> None:
        """Stop once the batch under way is done; the report of that batch may do so too."""

    @abstractmethod
    def await_termination(self, timeout: float | None = None) -> bool:
        """Wait until it has ended: True, or False after `timeout` seconds.

        The error that ended it is raised.
        """

    @abstractmethod
    def __enter__(self) -> Self: ...

    @abstractmethod
    def __exit__(self, *error: object) -> None: ...


class Claimed(Protocol):
    """A checkpoint that a run holds."""

    @property
    def store(self) -> Store:
        """Its files."""

    @property
    def hold(self) -> Hold:
        """The hold on its folder."""

    @property
    def mark(self) -> str:
        """What its files are signed with."""

    @property
    def partitions(self) -> int:
        """Partitions of each space."""


class Batches(Protocol):
    """What runs the batches of a run: the pipeline of a query, or of a script."""

    @property
    def asked(self) -> Query | Script:
        """What is asked."""

    @property
    def checkpoint(self) -> Claimed:
        """The checkpoint that it goes on from."""

    @property
    def manifest(self) -> Manifest:
        """The state after the last batch."""

    @property
    def is_due(self) -> bool:
        """Whether a batch is due although nothing came: a stream is silent that others wait for."""

    @property
    def watch(self) -> Watch:
        """The times of the batch under way."""

    @property
    def log(self) -> ReportLog:
        """Where it tells what it does."""

    def on_report(self, report: Callable[[Report], None]) -> None:
        """Have a function called with the report of each batch."""

    def note(self, change: Change) -> None:
        """Have the report of the next batch tell of a change."""

    def obey(self, order: Order) -> str:
        """Do as an order says; the answer in words, or a PenstockError."""

    def replan(self, given: Plan | Planned | str) -> None:
        """Have the batches from the next one on follow another plan."""

    def process(
        self, number: int, run: Runner, *, offsets: Mapping[str, int] | None = None
    ) -> None:
        """Run a batch, or show its results again if it is final already."""

    def drain(self, run: Runner) -> None:
        """Answer whatever waits for the frontier, and close the checkpoint."""

    def close(self, error: str | None = None) -> None:
        """Let go of the checkpoint; `error` is what ended the run, if something did."""


class Handle(Run):
    """The part of a run that is the same on both engines."""

    def __init__(self, batches: Batches, options: RunOptions, engine: BatchEngine):
        self.batches = batches
        self._reports: deque[Report] = deque(maxlen=MOST_REPORTS)
        self._report = options.report
        self._failure: Exception | None = None
        self._is_raised = False
        batches.on_report(self._tell)
        batches.log.begin(_head(batches, options, engine))
        self._attendant = Attendant(batches.checkpoint.store, self._obey, self._answered)
        self._attendant.refuse_stale(batches.checkpoint.hold.orders)

    @property
    def pipeline(self) -> Pipeline:
        """The pipeline of a run of one query; a script has another kind of batches."""
        assert isinstance(self.batches, Pipeline), "it is a script that runs"
        return self.batches

    def _tell(self, made: Report) -> None:
        self._reports.append(made)
        if self._report is not None:
            self._report(made)

    @abstractmethod
    def _halt(self) -> None:
        """End after the batch under way; whoever calls this does not wait for it."""

    def _obey(self, order: Order) -> str:
        if order.kind != "stop":
            return self.batches.obey(order)
        self._halt()
        return f"the run ends after batch {self.batches.manifest.batch}"

    def _answered(self, answer: Answer) -> None:
        self.batches.log.tell(answer)
        self.batches.note(answer.change)

    def _failed(self, error: Exception) -> Exception:
        """An error that ended the run and is about to be raised."""
        self._failure, self._is_raised = error, True
        return error

    @property
    def exception(self) -> Exception | None:
        return self._failure

    @property
    def reports(self) -> Sequence[Report]:
        return self._reports

    @property
    def last_report(self) -> Report | None:
        return self._reports[-1] if self._reports else None

    def replan(self, plan: Plan | Planned | str) -> None:
        if not self.is_active:
            raise has_ended()
        self.batches.replan(plan)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object = None, *_: object) -> None:
        """Stop it; the error that ended it is raised, unless somebody was told of one."""
        self.stop()
        if kind is None and not self._is_raised and self.exception is not None:
            raise self._failed(self.exception)


def head_of(asked: Query | Script, options: RunOptions, engine: BatchEngine) -> RunHead:
    """What a run says of itself at first."""
    sinks = ", ".join(f"{name}={sink}" for name, sink in options.sinks.items())
    return RunHead(
        query=without_passwords(asked.text),
        engine=engine,
        sink=sinks or str(options.sink),
        trigger=options.trigger.seconds,
        available_now=options.available_now,
        delay=None if options.delay is None else options.delay.seconds,
        drain=options.drain,
        partitions=options.partitions or 0,
    )


def _head(batches: Batches, options: RunOptions, engine: BatchEngine) -> RunHead:
    head = head_of(batches.asked, options, engine)
    partitions = batches.checkpoint.partitions
    return replace(head, partitions=partitions, batch=batches.manifest.batch + 1)


def fenced_first(error: Exception, store: Store) -> Exception:
    """An error of a run, or that another run has taken its checkpoint over: then whatever went
    wrong came of that, as chunks that are gone."""
    try:
        store.refuse_fenced()
    except FencedError as fenced:
        return fenced
    except PenstockError:
        return error  # A store that cannot be asked tells nothing.
    return error


def has_ended() -> UsageError:
    """The error of using a run after its end."""
    return UsageError(
        "this run has ended", hint="open another with query.start(…) or query.local(…)"
    )


def within_itself() -> UsageError:
    """The error of a report that waits for its own run."""
    return UsageError(
        "a run cannot be waited for, or run, inside its own batch",
        hint="a report may stop() the run; wait for it where it was started",
    )

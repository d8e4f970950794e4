"""The options of a run, the same on both engines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from penstock.arguments import as_callback, as_count, as_duration, as_flag, as_path
from penstock.duration import MICROS, Duration
from penstock.engine.reports.report import Report
from penstock.engine.run.supervisor import Supervisor
from penstock.engine.sinks.sink import Sink
from penstock.engine.sinks.sink_text import sink_of
from penstock.errors import UsageError

_SECOND = Duration(MICROS)


@dataclass(frozen=True)
class RunOptions:
    """Where the results and the state of a run go, and when it looks for data and ends.

    `partitions` of None are as many as the engine or the checkpoint has. Without a `supervisor` the
    plan stays as it is.
    """

    sink: Sink
    checkpoint: str
    trigger: Duration = _SECOND
    available_now: bool = False
    drain: bool = False
    partitions: int | None = None
    overwrite: bool = False
    report: Callable[[Report], None] | None = None
    supervisor: Supervisor | None = None

    @classmethod
    def of(
        cls,
        *,
        sink: object,
        checkpoint: object,
        trigger: object = "1 second",
        available_now: object = False,
        drain: object = False,
        partitions: object = None,
        overwrite: object = False,
        report: object = None,
    ) -> RunOptions:
        """The options that a caller gives, in any of their spellings, checked."""
        made = cls(
            sink=sink_of(sink),
            checkpoint=as_path(checkpoint, "checkpoint"),
            trigger=as_duration(trigger, "trigger", may_be_zero=True),
            available_now=as_flag(available_now, "available_now"),
            drain=as_flag(drain, "drain"),
            partitions=None if partitions is None else as_count(partitions, "partitions"),
            overwrite=as_flag(overwrite, "overwrite"),
            report=None if report is None else as_callback(report, "report", "one Report"),
        )
        if made.drain and not made.available_now:
            hint = "give both, or leave drain out: a query that goes on has no end to be drained at"
            raise UsageError("drain goes with available_now", hint=hint)
        return made

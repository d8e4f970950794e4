"""The options of a run, the same on both engines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from penstock.arguments import as_callback, as_count, as_duration, as_flag, as_path
from penstock.duration import MICROS, Duration
from penstock.engine.reports.report import Report
from penstock.engine.run.supervisor import ScriptSupervisor, Supervisor
from penstock.engine.sinks.sink import Sink
from penstock.engine.sinks.sink_text import sink_of
from penstock.errors import UsageError

_SECOND = Duration(MICROS)

REBUILT_AT_ONCE = 1 << 16
"""Rows in the windows of a plan's inner joins up to which these are rebuilt at once: that many are
joined in about a tenth of a second, and the plan is in force a window's length earlier."""


@dataclass(frozen=True)
class RunOptions:
    """Where the results and the state of a run go, and when it looks for data and ends.

    `partitions` of None are as many as the engine or the checkpoint has. Without a `supervisor` the
    plan stays as it is. With a `delay`, drop boxes are led while it runs so that results are not
    later than that.
    """

    sink: Sink
    checkpoint: str
    trigger: Duration = _SECOND
    available_now: bool = False
    drain: bool = False
    partitions: int | None = None
    overwrite: bool = False
    change: bool = False
    """Whether a query that asks otherwise than the one before goes on with its state."""

    report: Callable[[Report], None] | None = None
    supervisor: Supervisor | None = None
    delay: Duration | None = None
    rebuilt_at_once: int = REBUILT_AT_ONCE
    """Rows in windows up to which the inner state of a new plan is rebuilt at once; where there are
    more it fills itself."""

    pin: str | None = None
    """The text of the plan, if it is the one that an earlier run was ordered to follow; else what
    was pinned there is pinned no more."""

    sinks: Mapping[str, Sink] = field(default_factory=dict)
    """Of a script, where the results of its queries go, by name; `sink` does not count there."""

    followed_by: ScriptSupervisor | None = None
    """Of a script, who follows its streams; without, its plans stay as they are. `supervisor` does
    not count there."""

    @property
    def may_split(self) -> bool:
        """Whether a batch that was begun may become two. Not where its results may have been seen
        by its number and cannot be taken back: by a function of the user's, or in a topic."""
        sinks = [*self.sinks.values()] or [self.sink]
        return not any(sink.kind in ("foreach_batch", "kafka") for sink in sinks)

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
        change: object = False,
        report: object = None,
        delay: object = None,
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
            change=as_flag(change, "change"),
            report=None if report is None else as_callback(report, "report", "one Report"),
            delay=None if delay is None else as_duration(delay, "delay"),
        )
        if made.delay is not None:
            _check_delay(made.delay, made)
        if made.drain and not made.available_now:
            hint = "give both, or leave drain out: a query that goes on has no end to be drained at"
            raise UsageError("drain goes with available_now", hint=hint)
        return made


def _check_delay(delay: Duration, options: RunOptions) -> None:
    """Refuse a delay that no shedding leads to."""
    if options.available_now:
        hint = "leave it out: where all there is gets read, nothing waits for its turn"
        raise UsageError(
            "a delay is for a run that goes on, not for one over all there is", hint=hint
        )
    if delay.micros <= options.trigger.micros:
        raise UsageError(
            f"results cannot have a delay of {delay} if data is looked for every {options.trigger}",
            hint="give a delay of twice the trigger or more, or a shorter trigger",
        )

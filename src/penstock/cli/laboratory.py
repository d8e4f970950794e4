"""`penstock run --engine local --eager` or `--every`: the laboratory's way of running."""

from __future__ import annotations

import sys
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

import typer

from penstock.cli.durations import positive_duration
from penstock.duration import Duration

if TYPE_CHECKING:
    from penstock.api import ContinuousQuery
    from penstock.engine.sinks.sink import Sink
    from penstock.lab.clock import Clock
    from penstock.lab.laboratory import Outcome

_NEVER = 1e10
"""Seconds between two cleanings: after three centuries nobody asks."""


@dataclass(frozen=True)
class Laboratory:
    """The options of the laboratory as they were written; without `every`, tuple by tuple."""

    every: str | None
    expire: str | None
    costs: list[str] | None


def run_in_laboratory(
    query: ContinuousQuery, laboratory: Laboratory, sink: Sink, *, overwrite: bool
) -> None:
    """Run a plan tuple by tuple, or every so often, and say what work it took."""
    from penstock.lab.experiment import run_experiment
    from penstock.lab.schedule import Eager, Lazy

    mode: Eager | Lazy = Eager()
    if laboratory.every is not None:
        interval = positive_duration(laboratory.every, "--every")
        mode = Lazy(interval.micros)
        query = replace(query, options=replace(query.options, interval=interval.seconds))
    physical = query.decision.physical
    expiration = Duration.of_seconds(min(physical.expiration, _NEVER))
    if laboratory.expire is not None:
        expiration = positive_duration(laboratory.expire, "--expire")
    outcome = run_experiment(
        query.plan,
        sink,
        mode,
        expiration=expiration.micros,
        clock=_clock(laboratory.costs),
        buckets=physical.buckets,
        overwrite=overwrite,
    )
    _report(outcome, is_simulated=laboratory.costs is not None)


def _clock(costs: list[str] | None) -> Clock:
    from penstock.lab.clock import ClockCosts, RealClock, SimulatedClock

    if not costs:
        return RealClock()
    known = [field.name for field in fields(ClockCosts)]
    given: dict[str, float] = {}
    for text in costs:
        kind, _, value = text.partition("=")
        try:
            given[kind] = float(value)
        except ValueError:
            given[kind] = -1.0
        if kind not in known or not given[kind] >= 0:
            hint = f"KIND=SECONDS with one of {', '.join(known)}"
            raise typer.BadParameter(f"{text!r} is not {hint}", param_hint="--cost")
    return SimulatedClock(ClockCosts(**given))


def _report(outcome: Outcome, *, is_simulated: bool) -> None:
    kinds = {f.name: getattr(outcome.work, f.name) for f in fields(outcome.work)}
    work = ", ".join(f"{count:,} {kind}" for kind, count in kinds.items())
    how = "simulated" if is_simulated else "measured"
    print(work, file=sys.stderr)
    print(
        f"busy {outcome.busy:.3f} s ({how}) for {outcome.elapsed:.3f} s of input and backlog; "
        f"utilization {outcome.utilization:.3g}",
        file=sys.stderr,
    )
    peaks = ", ".join(f"{alias} {count:,}" for alias, count in outcome.peaks.items())
    print(f"most tuples in a window: {peaks}", file=sys.stderr)
    if any(outcome.shed.values()):
        shed = ", ".join(f"{alias} {count:,}" for alias, count in outcome.shed.items())
        print(f"shed: {shed}", file=sys.stderr)

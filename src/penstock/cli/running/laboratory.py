"""`penstock run --engine local --eager` or `--every`: the laboratory's way of running."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

import typer

from penstock.cli.durations import positive_duration
from penstock.cli.show.stopping import stoppable
from penstock.duration import Duration

if TYPE_CHECKING:
    from penstock.api import ContinuousQuery
    from penstock.engine.sinks.sink import Sink
    from penstock.lab.clock import Clock, Servers
    from penstock.lab.laboratory import Outcome
    from penstock.stats.known import Known

_KNOWN = "known"
"""`--cost known`: the costs that the plan was made with."""
_NEVER = 1e10
"""Seconds between two cleanings: after three centuries nobody asks."""


@dataclass(frozen=True)
class Laboratory:
    """The options of the laboratory as they were written; without `every`, tuple by tuple."""

    every: str | None
    expire: str | None
    costs: list[str] | None
    servers: Servers | None = None
    buckets: tuple[str, ...] = ()
    by_bucket: bool = False


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
    clock = _clock(laboratory.costs, laboratory.servers, query.known)
    buckets = {**physical.buckets, **_buckets(laboratory.buckets, query)}
    print("in the laboratory, which tells its figures at the end …", file=sys.stderr, flush=True)
    with stoppable("the laboratory keeps nothing of what it had done"):
        outcome = run_experiment(
            query.plan,
            sink,
            mode,
            expiration=expiration.micros,
            clock=clock,
            buckets=buckets,
            by_bucket=laboratory.by_bucket,
            overwrite=overwrite,
        )
    _report(outcome, clock)


def _buckets(texts: tuple[str, ...], query: ContinuousQuery) -> dict[str, int]:
    """The bucket counts that were given, `A=16`, by alias."""
    given = {}
    for text in texts:
        alias, _, count = text.partition("=")
        if alias not in query.query.aliases or not count.isdecimal() or int(count) < 1:
            hint = f"ALIAS=COUNT with one of {', '.join(query.query.aliases)}, from 1 on"
            raise typer.BadParameter(f"{text!r} is not {hint}", param_hint="--buckets")
        given[alias] = int(count)
    return given


def _clock(texts: list[str] | None, servers: Servers | None, known: Known) -> Clock:
    """A simulated clock if costs or servers are given, with what predicates take by themselves."""
    from penstock.calibration.planned_clock import as_planned, own_costs, window_charges
    from penstock.lab.clock import ClockCosts, JoinCosts, RealClock, SimulatedClock, WindowCharge

    if not texts and servers is None:
        return RealClock()
    every, single = dict[str, float](), dict[frozenset[str], dict[str, float]]()
    costs, windows = ClockCosts(), dict[str, WindowCharge]()
    for text in texts or []:
        if text == _KNOWN:
            costs, windows = as_planned(known.costs), window_charges(known)
            continue
        inputs, kind, seconds = _read(text)
        (single.setdefault(inputs, {}) if inputs else every)[kind] = seconds
    given = {f.name: every.get(f.name, getattr(costs, f.name)) for f in fields(ClockCosts)}
    joins: dict[frozenset[str], JoinCosts] = {i: JoinCosts(**each) for i, each in single.items()}
    own = own_costs(known)
    return SimulatedClock(ClockCosts(**given), servers or "shared", own, joins, windows)


def _read(text: str) -> tuple[frozenset[str], str, float]:
    """`probes=1e-6` or, of the join over some inputs, `A C:probes=1e-6`."""
    from penstock.lab.clock import ClockCosts, JoinCosts

    name, _, value = text.partition("=")
    inputs, _, kind = name.rpartition(":")
    kinds = [field.name for field in fields(JoinCosts if inputs else ClockCosts)]
    try:
        seconds = float(value)
    except ValueError:
        seconds = -1.0
    if kind not in kinds or not seconds >= 0:
        hint = f"known, or KIND=SECONDS with one of {', '.join(kinds)}"
        raise typer.BadParameter(f"{text!r} is not {hint}", param_hint="--cost")
    return frozenset(inputs.split()), kind, seconds


def busy_text(outcome: Outcome, clock: Clock) -> str:
    """One line: how long the work took, of one server or of all, and the part of the time."""
    from penstock.lab.clock import SimulatedClock

    has_many = isinstance(clock, SimulatedClock) and clock.servers == "each"
    of_all, of_one = (" of all servers", " of the busiest server") if has_many else ("", "")
    how = "simulated" if isinstance(clock, SimulatedClock) else "measured"
    utilization = f"utilization {outcome.utilization:.3g}{of_one}"
    if not math.isfinite(outcome.utilization):
        utilization = "no utilization: all input has one time"
    return (
        f"busy {outcome.busy:.3f} s{of_all} ({how}) for {outcome.elapsed:.3f} s of input and "
        f"backlog; {utilization}"
    )


def _report(outcome: Outcome, clock: Clock) -> None:
    kinds = {f.name: getattr(outcome.work, f.name) for f in fields(outcome.work)}
    work = ", ".join(f"{count:,} {kind}" for kind, count in kinds.items())
    print(work, file=sys.stderr)
    if outcome.aggregation is not None:
        done = outcome.aggregation
        print(
            f"of what was compared {done.compares:,} in search of partners, "
            f"{done.fold_compares:,} of rows to fold into, {done.group_compares:,} of groups; "
            f"{done.join_rows:,} join rows",
            file=sys.stderr,
        )
    print(busy_text(outcome, clock), file=sys.stderr)
    if outcome.own:
        what = "filters, predicates and windows with costs of their own by themselves"
        print(f"of it {what} {outcome.own:.3f} s", file=sys.stderr)
    peaks = ", ".join(f"{alias} {count:,}" for alias, count in outcome.peaks.items())
    print(f"most tuples in a window: {peaks}", file=sys.stderr)
    if any(outcome.shed.values()):
        shed = ", ".join(f"{alias} {count:,}" for alias, count in outcome.shed.items())
        print(f"shed: {shed}", file=sys.stderr)

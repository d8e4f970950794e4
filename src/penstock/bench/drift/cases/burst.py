"""A burst: the load comes to five times the capacity, and goes again, by the clock.

Two streams of equal rates are joined, so that the best drop boxes keep as much of the one as of the
other, and never change while the burst lasts.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from penstock.bench.drift.cases.capacity import Capacity, Kept
from penstock.bench.drift.cases.follower import follower
from penstock.bench.drift.cases.following import Setting
from penstock.bench.drift.streams.feeder import Feeder, hide
from penstock.bench.drift.streams.keys import uniform
from penstock.bench.drift.streams.scenario import Flow, Regime, Scenario, Stretch
from penstock.bench.drift.streams.truth import known_in
from penstock.duration import Duration
from penstock.engine.reports.report import Report
from penstock.engine.run.options import RunOptions
from penstock.engine.sinks.sink import parquet
from penstock.engines import BatchEngine
from penstock.optimize.options import PlanOptions
from penstock.optimize.planner import decide
from penstock.stats.calibration import calibrated

STEP, WINDOW = 0.25, 2.0
"""Seconds of a file of each stream, and of the windows."""
KEYS = 20
LOW, HIGH = 20, 2_000
"""`B.u` is below the one, `A.v` below the other: most pairs with equal keys fail `A.v < B.u`, so
that it is looking at pairs that takes the time, not writing results."""
CALM, OVER = 0.3, 5.0
"""Loads before and after the burst, and in it: seconds of work for a second of event time."""
MOST = 5
"""Batches by which what was kept is compared: they take as long as they did in the burst."""
NEAR = 0.2
"""By this part the delay may be off when it counts as settled."""
FEW = 5
"""Batches of which the mean tells whether it is: the machine's own hiccups make one or two late."""


@dataclass(frozen=True)
class Pace:
    """Seconds between batches, and of the delay that is wanted."""

    trigger: float
    delay: float


PACES: Mapping[BatchEngine, Pace] = {"local": Pace(0.5, 3.0), "spark": Pace(1.0, 6.0)}
"""On Spark a batch takes some tenths of a second, however little is in it."""


@dataclass(frozen=True)
class Size:
    """Seconds before the burst, in it and after it, for a wanted delay of three seconds."""

    before: float = 10.0
    burst: float = 60.0
    after: float = 30.0

    def at(self, delay: float) -> Size:
        """As many batches for another wanted delay."""
        times = delay / PACES["local"].delay
        return Size(times * self.before, times * self.burst, times * self.after)


QUICK = Size(4.0, 20.0, 8.0)


@dataclass(frozen=True)
class Seen:
    """A batch as it was seen: seconds since the start when it was final, what it took, the delay,
    the newest event time, what was kept of the streams, and its results."""

    at: float
    seconds: float
    delay: float
    newest: float
    kept: Kept
    results: int = 0


@dataclass(frozen=True)
class Burst:
    """The batches of a run through a burst from `first` to `last`, seconds of event time.

    `target` is the delay that is wanted; `kept_vs_best` are the results in the last half of the
    burst beside those of the best drop boxes.
    """

    batches: Sequence[Seen]
    target: float
    first: float
    last: float
    kept_vs_best: float = 0.0

    @property
    def during(self) -> list[Seen]:
        return [each for each in self.batches if self.first < each.newest <= self.last]

    @property
    def settle_batches(self) -> int | None:
        """Batches of the burst before the first one near the target, from which on the mean of any
        few on end is near it too; None if there are not so many."""
        off = [each.delay / self.target - 1.0 for each in self.during]
        means = [sum(off[n : n + FEW]) / FEW for n in range(len(off) - FEW + 1)]
        for number in range(len(means)):
            if max(abs(each) for each in (off[number], *means[number:])) <= NEAR:
                return number
        return None

    @property
    def overshoot(self) -> float:
        """By what part of the target the delay was above it at the most."""
        return max(0.0, max(each.delay for each in self.during) / self.target - 1.0)

    @property
    def busy(self) -> float:
        """The part of the last half of the burst in which batches were under way."""
        half = self._last_half
        passed = half[-1].at - half[0].at
        return min(1.0, sum(each.seconds for each in half[1:]) / passed) if passed > 0 else 1.0

    def kept_by(self, step: float) -> list[Kept]:
        """What was kept in the last half of the burst, every so many seconds of event time."""
        half = self._last_half
        times = np.arange((self.first + self.last) / 2, half[-1].newest, step)
        return [next(each.kept for each in half if each.newest >= time) for time in times]

    @property
    def _last_half(self) -> list[Seen]:
        return [each for each in self.during if each.newest > (self.first + self.last) / 2]

    @property
    def clear_batches(self) -> int | None:
        """Batches after the burst until all is kept; None if that does not come."""
        kept = [min(each.kept.values()) for each in self.batches if each.newest > self.last]
        if not kept or kept[-1] < 1.0:
            return None
        return max((number for number, each in enumerate(kept, 1) if each < 1.0), default=0)


def burst(size: Size, setting: Setting) -> Burst:
    """Find the capacity, then run through the burst in real time."""
    setting.progress("burst: how much this machine can do")
    pace = PACES[setting.engine]
    size = size.at(pace.delay)
    # Batches as long as they are when the delay is at its target.
    capacity = Capacity(probe, WINDOW, pace.delay / 2.0, setting)
    load = capacity.load()
    calm, high = load.rate(CALM), load.rate(OVER)
    seconds = size.before + size.burst + size.after
    setting.progress(f"burst: {seconds:.0f} s by the clock, {calm:,.0f} and {high:,.0f} tuples/s")
    stretches = [(calm, size.before), (high, size.burst), (calm, size.after)]
    scenario = replace(join_of("burst", stretches), takes_all=True)
    seen = play(scenario, setting, pace)
    found = Burst(seen, pace.delay, size.before, size.before + size.burst)
    kept = found.kept_by(capacity.step)
    if not kept:
        return found
    setting.progress(f"burst: what the best drop boxes keep, {len(kept)} batches")
    kept_vs_best = capacity.kept_vs_best(load, high, kept[:MOST])
    idle = found.busy ** load.growth(high, min(kept[-1].values()))
    return replace(found, kept_vs_best=kept_vs_best * idle)


def probe(rate: float, seconds: float, step: float) -> Scenario:
    """The streams at one rate, to see what it takes."""
    return join_of("burst-probe", [(rate, seconds)], step)


def join_of(name: str, stretches: Sequence[tuple[float, float]], step: float = STEP) -> Scenario:
    """The streams at rates that each last for so many seconds."""
    return Scenario(
        name,
        {"A": WINDOW, "B": WINDOW},
        ("A.k = B.k",),
        {"A.v < B.u": (LOW - 1) / 2 / HIGH},
        tuple(Stretch(_regime(rate), round(seconds / step)) for rate, seconds in stretches),
        step,
    )


def _regime(rate: float) -> Regime:
    key = {"k": uniform(KEYS)}
    return {
        "A": Flow(rate, {**key, "v": uniform(HIGH)}),
        "B": Flow(rate, {**key, "u": uniform(LOW)}),
    }


def play(scenario: Scenario, setting: Setting, pace: Pace, *, sheds: bool = True) -> list[Seen]:
    """A run in real time, which may shed or not; it ends with the batch under way."""
    reports = list[Report]()
    with tempfile.TemporaryDirectory(prefix="penstock-bench-") as scratch:
        files = hide(scenario, Path(scratch, "in"))
        query = scenario.query(Path(scratch, "in"))
        costs = calibrated(setting.engine)
        known = known_in(scenario, scenario.stretches[0].regime, query, costs)
        planning = PlanOptions(sheds=sheds, engine=setting.engine)
        plan = decide(known, planning).plan
        options = RunOptions(
            parquet(f"{scratch}/results"),
            f"{scratch}/state",
            trigger=Duration.of_seconds(pace.trigger),
            delay=Duration.of_seconds(pace.delay) if sheds else None,
            report=reports.append,
        )
        supervisor = follower(known, planning, "background")(plan, options)
        run = setting.open(plan, replace(options, supervisor=supervisor))
        with Feeder(files) as feeder:
            run.await_termination(scenario.batches * scenario.step + pace.delay)
            run.stop()
            return [_seen(each, feeder.started) for each in reports]


def _seen(report: Report, started: float) -> Seen:
    newest = min((time or 0) for time in report.newest.values()) / 1e6
    kept = {alias: each.keep for alias, each in report.inputs.items()}
    delay = report.delay or 0.0
    return Seen(report.at - started, report.seconds, delay, newest, kept, report.results)

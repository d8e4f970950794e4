"""The capacity of this machine for the burst: rates that make a load, and what the best boxes keep.

The work for a second of event time is taken to be `start + row·rate + pair·rate²`, by runs at three
rates. For the drop boxes that need just a second for a second that is a first guess; a run with
such boxes, that never change, tells what they really need, and if that is far off, a run with
better ones.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import ceil, log, sqrt
from pathlib import Path
from statistics import median

from penstock.bench.drift.cases.following import Setting
from penstock.bench.drift.streams.data import ensure_files
from penstock.bench.drift.streams.scenario import Scenario
from penstock.bench.drift.streams.truth import known_in
from penstock.optimize.options import PlanOptions
from penstock.optimize.planner import decide
from penstock.plan.drops import NO_DROPS, DropBoxes
from penstock.stats.calibration import calibrated

PROBES = (100.0, 5_000.0, 15_000.0)
"""Tuples/s of each stream in the runs that tell what load rates are: at the first of them it is
starting batches that takes the time."""
_HIGHEST = 10.0
"""How many times the last of these a rate may be: farther away nothing is known."""
_FULL = 3
"""Batches that are measured once windows are full."""
_READING = 0.3
"""The part of what a row takes besides its pairs that it takes also if it is shed."""
_NEAR = 0.2
"""Logarithm by which the load of the best boxes may be off one: from there their results can be
told by how results grow with the load."""
_TRIES = 3

Probe = Callable[[float, float, float], Scenario]
"""The scenario of a rate that lasts for so many seconds, in batches of some."""


@dataclass(frozen=True)
class Load:
    """The seconds that a second of event time takes: by rate, `start + row·rate + pair·rate²`."""

    start: float
    row: float
    pair: float

    @classmethod
    def of(cls, seconds: Sequence[float]) -> Load:
        """The load by which the three rates take so many seconds."""
        start = min(seconds)
        _, low, high = PROBES
        by_rate = (seconds[1] - start) / low, (seconds[2] - start) / high
        pair = max((by_rate[1] - by_rate[0]) / (high - low), 1e-15)
        return cls(start, max(by_rate[0] - pair * low, 0.0), pair)

    def rate(self, load: float) -> float:
        """Tuples/s of each stream that make a load."""
        left = max(load - self.start, 0.1 * load)
        return min(_root(self.pair, self.row, left), _HIGHEST * PROBES[-1])

    def kept(self, rate: float, load: float) -> float:
        """The part of a rate that is kept if it is shed to a load."""
        row = (1.0 - _READING) * self.row
        left = max(load - self._lost(rate), 0.1 * load)
        return min(1.0, _root(self.pair, row, left) / rate)

    def _lost(self, rate: float) -> float:
        """What shedding does not save."""
        return self.start + _READING * self.row * rate

    def growth(self, rate: float, keep: float) -> float:
        """By what power of the load results grow, near what is kept of a rate."""
        kept, row = keep * rate, (1.0 - _READING) * self.row
        pairs, rows = self.pair * kept * kept, row * kept
        return 2.0 * (self._lost(rate) + rows + pairs) / (rows + 2.0 * pairs)


def _root(square: float, linear: float, value: float) -> float:
    """The x > 0 at which square·x² + linear·x has a value."""
    return (-linear + sqrt(linear * linear + 4.0 * square * value)) / 2.0 / square


@dataclass(frozen=True)
class Capacity:
    """What this machine can do with the scenarios of `probe`, in batches of `step` seconds over
    windows of `window` seconds."""

    probe: Probe
    window: float
    step: float
    setting: Setting

    def load(self) -> Load:
        """What the load of rates is."""
        return Load.of([self._spent(rate, 1.0, 2)[0] for rate in PROBES])

    def best_results(self, load: Load, rate: float) -> float:
        """Results for a second of event time that the best boxes, alike for both streams, keep of a
        rate."""
        keep = load.kept(rate, 1.0)
        for attempt in range(_TRIES):
            spent, results = self._spent(rate, keep, _FULL)
            growth = load.growth(rate, keep)
            if abs(log(spent)) <= _NEAR or attempt == _TRIES - 1:
                break
            keep = min(1.0, keep * spent ** (-growth / 2.0))
        return float(results * spent**-growth)

    def _spent(self, rate: float, keep: float, full: int) -> tuple[float, float]:
        """Seconds, and results, for a second of event time where so much is kept of both
        streams."""
        filled = ceil(self.window / self.step)
        scenario = self.probe(rate, (filled + full) * self.step, self.step)
        boxes = NO_DROPS
        if keep < 1.0:
            boxes = DropBoxes(tuple((name, keep) for name in scenario.windows))
        with tempfile.TemporaryDirectory(prefix="penstock-bench-") as scratch:
            query = scenario.query(ensure_files(scenario, Path(scratch)))
            costs = calibrated(self.setting.engine)
            known = known_in(scenario, scenario.stretches[0].regime, query, costs)
            plan = decide(known, PlanOptions(engine=self.setting.engine)).plan
            reports = self.setting.run({0: replace(plan, drops=boxes)}).reports[filled:]
        results = sum(report.results for report in reports) / len(reports)
        return median(report.seconds for report in reports) / self.step, results / self.step

"""The capacity of this machine for the burst: rates that make a load, and what the best boxes keep.

The work for a second of event time is taken to be `start + row·rate + pair·rate²`, by runs at three
rates. The best drop boxes are alike for both streams and never change. What a run kept is compared
with theirs by two more runs, batch by batch in turn: one with boxes like its own at each moment,
one with boxes that never change. So it does not count that machines are now faster, now slower.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, exp, log, sqrt
from pathlib import Path
from statistics import fmean, median

from penstock.bench.drift.cases.following import Setting
from penstock.bench.drift.cases.trace import Entry, Schedule
from penstock.bench.drift.streams.data import ensure_files
from penstock.bench.drift.streams.scenario import Scenario
from penstock.bench.drift.streams.truth import known_in
from penstock.engine.reports.report import Report
from penstock.optimize.estimate import estimate_of_kept
from penstock.optimize.model.problem import Problem
from penstock.optimize.options import PlanOptions
from penstock.optimize.planner import decide
from penstock.plan.drops import DropBoxes
from penstock.plan.plan import Plan
from penstock.query import Query
from penstock.stats.calibration import calibrated
from penstock.stats.known import Known

PROBES = (100.0, 5_000.0, 15_000.0)
"""Tuples/s of each stream in the runs that tell what load rates are: at the first of them it is
starting batches that takes the time."""
_HIGHEST = 10.0
"""How many times the last of these a rate may be: farther away nothing is known."""
_READING = 0.3
"""The part of what a row takes besides its pairs that it takes also if it is shed."""
Probe = Callable[[float, float, float], Scenario]
"""The scenario of a rate that lasts for so many seconds, in batches of some."""
Kept = Mapping[str, float]
"""The parts of streams that are kept, by alias; all of others."""


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
        return Load.of([self._spent(rate) for rate in PROBES])

    def kept_vs_best(self, load: Load, rate: float, kept: Sequence[Kept]) -> float:
        """The results of boxes that keep so much of a rate, batch after batch, beside those of the
        best boxes, which take as long."""
        mean = exp(fmean(log(part) for each in kept for part in each.values()))
        before = [kept[0]] * self._filled
        same = dict.fromkeys(kept[0], mean)
        own, best = self._race(rate, [[*before, *kept], [same] * (len(before) + len(kept))])
        seconds, results = (
            [sum(getattr(report, name) for report in each) for each in (own, best)]
            for name in ("seconds", "results")
        )
        growth = load.growth(rate, mean)
        return float(results[0] / results[1] * (seconds[1] / seconds[0]) ** growth)

    def runs(self, rate: float, boxes: Sequence[Kept], batches: int) -> list[Sequence[Report]]:
        """The reports of so many batches with full windows, of a run for each of the boxes."""
        return self._race(rate, [[kept] * (self._filled + batches) for kept in boxes])

    def predicted(self, rate: float, kept: Kept) -> float:
        """Results/s that the planner expects of boxes that keep so much of a rate."""
        scenario = self.probe(rate, self.step, self.step)
        known = self._known(scenario, scenario.query(Path("nowhere")))
        plan = replace(self._plan(known), drops=DropBoxes(tuple(kept.items())))
        return estimate_of_kept(Problem(known.query, known), plan).output_rate

    @property
    def _filled(self) -> int:
        """Batches after which windows are full."""
        return ceil(self.window / self.step)

    def _spent(self, rate: float) -> float:
        """Seconds for a second of event time."""
        (reports,) = self.runs(rate, [{}], 2)
        return median(report.seconds for report in reports) / self.step

    def _known(self, scenario: Scenario, query: Query) -> Known:
        costs = calibrated(self.setting.engine)
        return known_in(scenario, scenario.stretches[0].regime, query, costs)

    def _plan(self, known: Known) -> Plan:
        return decide(known, PlanOptions(engine=self.setting.engine)).plan

    def _race(self, rate: float, boxes: Sequence[Sequence[Kept]]) -> list[Sequence[Report]]:
        """The reports of runs with boxes by batch, from when windows are full."""
        scenario = self.probe(rate, len(boxes[0]) * self.step, self.step)
        with tempfile.TemporaryDirectory(prefix="penstock-bench-") as scratch:
            query = scenario.query(ensure_files(scenario, Path(scratch)))
            plan = self._plan(self._known(scenario, query))
            runs = self.setting.race([Entry(_schedule(plan, each)) for each in boxes])
        return [run.reports[self._filled :] for run in runs]


def _schedule(plan: Plan, boxes: Sequence[Kept]) -> Schedule:
    """A plan with other boxes for each batch."""
    return {
        number: replace(plan, drops=DropBoxes(tuple(kept.items())))
        for number, kept in enumerate(boxes)
    }

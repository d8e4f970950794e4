"""Streams that do not drift: what following them takes, and whether the plan is left alone; and a
stats file that is wrong from the start."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from penstock.bench.drift.cases.contenders import typical
from penstock.bench.drift.cases.follower import follower
from penstock.bench.drift.cases.following import Setting, goodness
from penstock.bench.drift.cases.measures import batches_to_settle, switches, worst
from penstock.bench.drift.cases.trace import Entry, Trace
from penstock.bench.drift.cases.warm_up import load_training, short
from penstock.bench.drift.streams.data import ensure_files
from penstock.bench.drift.streams.scenario import Scenario, Stretch
from penstock.bench.drift.streams.spans import spans_of
from penstock.bench.drift.streams.steps import STAR3, SWAP, Size, rates_of, scenario_of
from penstock.bench.drift.streams.truth import known_in
from penstock.optimize.options import PlanOptions
from penstock.optimize.planner import decide
from penstock.query import Query
from penstock.stats.calibration import calibrated
from penstock.stats.files.load import load
from penstock.stats.guess import complete
from penstock.stats.known import Known

FIRST = 4
"""Batches that are not looked at where little work is told apart."""


@dataclass(frozen=True)
class Beside:
    """By scenario: runs that were followed, and the same without anybody who follows them."""

    followed: Sequence[Sequence[Trace]]
    alone: Sequence[Sequence[Trace]]

    @property
    def switches(self) -> int:
        """The most of any run."""
        return max(switches(run.plans) for runs in self.followed for run in runs)

    @property
    def overhead(self) -> float:
        """The part by which following takes longer: of each batch the median of its runs, of all
        scenarios the median. In the first batches plans are weighed for the first time, which they
        are once in a run, however long it is; so these are left out."""
        pairs = zip(self.followed, self.alone, strict=True)
        return median(_work(one) / _work(other) for one, other in pairs) - 1.0

    @property
    def is_exact(self) -> bool:
        pairs = zip(self.followed, self.alone, strict=True)
        return all(len({run.answer for run in (*one, *other)}) == 1 for one, other in pairs)


def _work(runs: Sequence[Trace]) -> float:
    return sum(typical([run.cpu for run in runs])[FIRST:])


def beside(scenarios: Sequence[Scenario], setting: Setting) -> Beside:
    """Run each scenario with and without a supervisor, by turns."""
    pairs = []
    for scenario in scenarios:
        setting.progress(f"{scenario.name}, seed {scenario.seed}: {scenario.batches} batches")
        query = scenario.query(ensure_files(scenario, setting.data))
        regime = scenario.stretches[0].regime
        known = known_in(scenario, regime, query, calibrated(setting.engine))
        load_training()
        _both(_few(scenario, setting), setting)
        pairs.append(zip(*(_both(known, setting) for _ in range(setting.repeat)), strict=True))
    return Beside(*zip(*pairs, strict=True))


def _few(scenario: Scenario, setting: Setting) -> Known:
    """What is known of a few batches, by which all code is loaded."""
    few = short(scenario, spans_of(scenario))
    query = few.query(ensure_files(few, setting.data))
    return known_in(few, few.stretches[0].regime, query, calibrated(setting.engine))


def _both(known: Known, setting: Setting) -> list[Trace]:
    """A run that is followed, and one that is not."""
    options = PlanOptions(engine=setting.engine)
    plan = decide(known, options).plan
    return setting.race([Entry({0: plan}, follower(known, options)), Entry({0: plan})])


@dataclass(frozen=True)
class Righted:
    """Batches until a wrong plan was given up for a right one, and CPU-seconds beside those of the
    wrong plan all along."""

    batches: float | None
    gain: float
    is_exact: bool


def wrong_stats(size: Size, setting: Setting) -> Righted:
    """Two rates of the stats file are wrong by a factor of a hundred, one up and one down."""
    scenario = wrongly_declared(size)
    setting.progress(f"{scenario.name}: {scenario.batches} batches")
    query = scenario.query(ensure_files(scenario, setting.data))
    told = _told(scenario, query, setting)
    options = PlanOptions(engine=setting.engine)
    wrong = decide(told, options).plan
    regime = scenario.stretches[0].regime
    truth = known_in(scenario, regime, query, calibrated(setting.engine))
    runs = []
    for _ in range(setting.repeat):
        runs.append(setting.race([Entry({0: wrong}), Entry({0: wrong}, follower(told, options))]))
    is_good, end = goodness(truth, options), scenario.batches
    return Righted(
        worst([batches_to_settle(run.followed, 0, end, is_good) for _, run in runs]),
        median(alone.work / run.work for alone, run in runs),
        all(alone.answer == run.answer for alone, run in runs),
    )


def wrongly_declared(size: Size) -> Scenario:
    """One regime all along."""
    regime = rates_of(STAR3, size.rate, STAR3.pair[1], SWAP)
    return scenario_of("wrong_stats", STAR3, (Stretch(regime, size.batches),))


def _told(scenario: Scenario, query: Query, setting: Setting) -> Known:
    """What a stats file says in which the two rates are swapped."""
    regime = scenario.stretches[0].regime
    first, second = STAR3.pair
    names = {name: name for name in regime} | {first: second, second: first}
    lines = [f"[streams.{name}]\nrate = {regime[names[name]].rate}\n" for name in regime]
    with tempfile.TemporaryDirectory(prefix="penstock-bench-") as scratch:
        file = Path(scratch, "wrong.toml")
        file.write_text("".join(lines), encoding="utf-8")
        return complete(query, load(str(file), query), calibrated(setting.engine))

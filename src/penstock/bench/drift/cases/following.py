"""A scenario followed: plans that never change, the clairvoyant, and a run that adapts itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from penstock.bench.drift.cases.contenders import (
    best_static,
    clairvoyant,
    contenders,
    typical,
)
from penstock.bench.drift.cases.follower import Follower, follower
from penstock.bench.drift.cases.measures import (
    batches_to_notice,
    batches_to_settle,
    most_switches_an_edge,
    switches,
    worst,
)
from penstock.bench.drift.cases.trace import Entry, Open, Schedule, Trace, race
from penstock.bench.drift.cases.warm_up import hopeful, load_training, short
from penstock.bench.drift.streams.data import ensure_files
from penstock.bench.drift.streams.scenario import Scenario
from penstock.bench.drift.streams.spans import spans_of
from penstock.bench.drift.streams.truth import known_in
from penstock.engine.local import open_run
from penstock.engines import BatchEngine
from penstock.optimize.estimate import needed_by
from penstock.optimize.model.problem import Problem
from penstock.optimize.options import PlanOptions
from penstock.optimize.planner import decide
from penstock.plan.drops import NO_DROPS
from penstock.plan.plan import Plan
from penstock.plan.text.parse import forced_plan
from penstock.stats.calibration import calibrated
from penstock.stats.known import Known

Progress = Callable[[str], None]

NEAR = 1.1
"""A plan is as good as the best one up to this many times its work."""


@dataclass(frozen=True)
class Setting:
    """Where data goes, on what and how often all is run, and who is told."""

    data: Path
    progress: Progress
    repeat: int = 3
    engine: BatchEngine = "local"
    open: Open = open_run

    def run(self, schedule: Schedule, follow: Follower | None = None) -> Trace:
        """A run over all there is."""
        return self.race([Entry(schedule, follow)])[0]

    def race(self, entries: Sequence[Entry]) -> list[Trace]:
        """Runs over all there is, by turns."""
        return race(self.open, entries, is_parallel=self.engine == "spark")


@dataclass(frozen=True)
class Followed:
    """All runs of a scenario: those of each static plan, and those that adapted themselves."""

    scenario: Scenario
    static: Mapping[str, Sequence[Trace]]
    adaptive: Sequence[Trace]
    is_good: Mapping[int, Callable[[Plan], bool]]
    """By edge: whether a plan is as good as the best one from there on."""

    @property
    def cpu(self) -> dict[str, list[float]]:
        """What each batch takes under each static plan."""
        return {name: typical([run.cpu for run in runs]) for name, runs in self.static.items()}

    @property
    def adaptive_work(self) -> float:
        """What all batches take, each by the median of its runs: as the clairvoyant's are."""
        return sum(typical([run.cpu for run in self.adaptive]))

    @property
    def clairvoyant_work(self) -> float:
        return clairvoyant(self.cpu, self.scenario.edges).work

    @property
    def best_static(self) -> tuple[str, float]:
        return best_static(self.cpu)

    @property
    def is_exact(self) -> bool:
        """Whether all runs gave the same."""
        runs = [*self.adaptive, *(run for runs in self.static.values() for run in runs)]
        return len({run.answer for run in runs}) == 1

    @property
    def notice(self) -> float | None:
        return worst(
            [
                batches_to_notice(run.reports, edge)
                for run in self.adaptive
                for edge in self.scenario.edges
            ]
        )

    @property
    def settle(self) -> float | None:
        edges = self.scenario.edges
        return worst(
            [
                batches_to_settle(run.followed, edge, end, self.is_good[edge])
                for run in self.adaptive
                for edge, end in zip(edges, [*edges[1:], self.scenario.batches], strict=True)
            ]
        )

    @property
    def switches_an_edge(self) -> int:
        return max(most_switches_an_edge(run.plans, self.scenario.edges) for run in self.adaptive)

    @property
    def switches(self) -> int:
        return max(switches(run.plans) for run in self.adaptive)


def follow(scenario: Scenario, setting: Setting, given: Known | None = None) -> Followed:
    """Run a scenario with every contender and with a supervisor, by turns.

    The supervisor is given the truth about the first regime, or `given`, and plans in the batches'
    way, so that what it takes counts.
    """
    setting.progress(f"{scenario.name}: {scenario.batches} batches")
    query = scenario.query(ensure_files(scenario, setting.data))
    costs = calibrated(setting.engine)
    plans = contenders(scenario, query, costs, setting.engine)
    known = given or known_in(scenario, scenario.stretches[0].regime, query, costs)
    options = PlanOptions(engine=setting.engine)
    first = decide(known, options).plan
    plans = {name: plans[name] for name in warm_up(scenario, plans, setting)}
    entries = [
        Entry({0: first}, follower(known, options)),
        *(Entry({0: plan}) for plan in plans.values()),
    ]
    adaptive, *alone = zip(*(setting.race(entries) for _ in range(setting.repeat)), strict=True)
    static = dict(zip(plans, alone, strict=True))
    regimes = list(scenario.regimes())
    is_good = {
        edge: goodness(known_in(scenario, regimes[edge], query, costs), options)
        for edge in scenario.edges
    }
    return Followed(scenario, static, adaptive, is_good)


def goodness(known: Known, options: PlanOptions) -> Callable[[Plan], bool]:
    """Whether a plan needs hardly more work than the best one for what is known."""
    problem = Problem(known.query, known)
    best = needed_by(problem, decide(known, options).plan)

    def is_good(plan: Plan) -> bool:
        return needed_by(problem, replace(plan, drops=NO_DROPS)) <= NEAR * best

    return is_good


def warm_up(scenario: Scenario, plans: Mapping[str, Plan], setting: Setting) -> list[str]:
    """Run all plans and a supervised one on a few batches, so that no measured run loads code; the
    plans that are worth measuring."""
    spans = spans_of(scenario)
    few = short(scenario, spans)
    query = few.query(ensure_files(few, setting.data))
    load_training()
    options = PlanOptions(engine=setting.engine)
    known = known_in(few, few.stretches[0].regime, query, calibrated(setting.engine))
    setting.run({0: decide(known, options).plan}, follower(known, options))
    cpu = {name: setting.run({0: forced_plan(query, name)}).cpu for name in plans}
    return hopeful(cpu, spans)

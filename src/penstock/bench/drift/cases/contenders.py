"""Contenders: plans that are never changed, and the clairvoyant who changes them for nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from penstock.bench.drift.streams.scenario import Flow, Regime, Scenario
from penstock.bench.drift.streams.spans import spans_of
from penstock.bench.drift.streams.truth import known_in
from penstock.engines import BatchEngine
from penstock.optimize.options import PlanOptions
from penstock.optimize.planner import decide
from penstock.plan.plan import Plan
from penstock.plan.text.parse import render_plan
from penstock.query import Query
from penstock.stats.costs import Costs

KINDS = ("tree", "multiway")


def contenders(
    scenario: Scenario, query: Query, costs: Costs | None, engine: BatchEngine = "local"
) -> dict[str, Plan]:
    """The best plan of each kind for each regime, and for the mean of all, by their texts."""
    regimes = [
        *(span.regime for span in spans_of(scenario)),
        mean_of([each.regime for each in scenario.stretches]),
    ]
    plans = {}
    for regime in regimes:
        known = known_in(scenario, regime, query, costs)
        for kind in KINDS:
            plan = decide(known, PlanOptions(kinds=frozenset({kind}), engine=engine)).plan
            plans[render_plan(plan)] = plan
    return plans


def mean_of(regimes: Sequence[Regime]) -> Regime:
    """Mean rates, with the keys of the first one."""
    first = regimes[0]
    return {
        name: Flow(sum(each[name].rate for each in regimes) / len(regimes), flow.columns)
        for name, flow in first.items()
    }


def typical(runs: Iterable[Sequence[float]]) -> list[float]:
    """The median of each batch over several runs."""
    return [median(batch) for batch in zip(*runs, strict=True)]


@dataclass(frozen=True)
class Clairvoyant:
    """The plan of each stretch, the batch from which on each is followed, and the CPU-seconds."""

    plans: tuple[str, ...]
    since: tuple[int, ...]
    work: float


SLACK = 3
"""Batches after a turn in which the clairvoyant may wait for windows to have the new tuples."""


def clairvoyant(cpu: Mapping[str, Sequence[float]], edges: Sequence[int]) -> Clairvoyant:
    """The best plan of each stretch by what all batches took, with the best moments to change.

    What a batch takes does not depend on the plan of those before it, since state belongs to the
    streams; so to change for nothing is to add up batches of different runs.
    """
    batches = len(next(iter(cpu.values())))
    plans, since, work = [_best(cpu, 0, edges[0] if edges else batches)], [0], 0.0
    for edge, end in pairwise([*edges, batches]):
        plan = _best(cpu, min(edge + SLACK, end - 1), end)
        first = _moment(cpu[plans[-1]], cpu[plan], edge, min(edge + SLACK, end))
        work += sum(cpu[plans[-1]][since[-1] : first])
        plans.append(plan)
        since.append(first)
    return Clairvoyant(tuple(plans), tuple(since), work + sum(cpu[plans[-1]][since[-1] :]))


def _best(cpu: Mapping[str, Sequence[float]], first: int, end: int) -> str:
    return min(cpu, key=lambda name: sum(cpu[name][first:end]))


def _moment(old: Sequence[float], new: Sequence[float], first: int, last: int) -> int:
    """The batch from which on the new plan is followed, for the least work."""
    return min(range(first, last + 1), key=lambda n: sum(old[first:n]) + sum(new[n:last]))


def best_static(cpu: Mapping[str, Sequence[float]]) -> tuple[str, float]:
    """The plan of the least work in all, and that work."""
    name = min(cpu, key=lambda name: sum(cpu[name]))
    return name, sum(cpu[name])

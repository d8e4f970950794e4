"""A burst of load on a simulated plant that sheds: what the delays were, and what was kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from math import inf
from types import MappingProxyType

import numpy as np

from penstock.adapt.shedding.shedder import Shedder
from penstock.adapt.shedding.wish import Wish
from penstock.engine.reports.parts import Change
from penstock.engine.reports.report import Report
from penstock.figure import Figure
from penstock.plan.default_plan import default_plan
from penstock.plan.plan import Plan
from penstock.query import Query
from penstock.stats.costs import Costs
from penstock.stats.guess import complete
from penstock.stats.known import Known
from support.adapt.plant import Nature, Plant, pair_query

SPLIT = {"a": 3.0, "b": 1.0}
"""The rates of the streams beside each other."""
CALM = 0.4
"""The load before and after."""
ESTIMATE = 0.6
"""How many times as much more an estimated result takes for each stream that is shed."""


@dataclass(frozen=True)
class Burst:
    """A load that rises to so many times the capacity, from one second to another."""

    load: float = 5.0
    first: float = 60.0
    last: float = 180.0
    end: float = 260.0
    window: int = 10
    trigger: float = 1.0
    delay: float = 5.0
    limit: float | None = None
    noise: float = 0.15
    seed: int = 0
    mistake: float = 1.0
    """How many times too high the planner thinks all costs to be."""
    behind: float = 0.0
    """Seconds of event time that are there when the run starts."""
    ends: float = inf
    """When no more comes."""
    compiling: Mapping[int, float] = field(default_factory=dict)
    """Seconds that batches compile for."""
    is_view: bool = False
    """Whether results are counted, and estimated while windows hold tuples that were shed."""


@dataclass(frozen=True)
class Moment:
    """A batch: when it started, what it kept, and what was decided after it."""

    at: float
    report: Report
    kept: Mapping[str, float]
    results: float
    change: Change | None


def play(
    burst: Burst,
    *,
    is_on: bool = True,
    orders: Mapping[int, str] = MappingProxyType({}),
    ask: Callable[[], None] = lambda: None,
) -> list[Moment]:
    """All batches of a run over the burst; after some of them orders are given. Who wants to know
    what is known has to `ask`."""
    nature = nature_of(burst)
    query = pair_query(burst.window, burst.limit, is_view=burst.is_view)
    plan: Plan = default_plan(query)
    known = known_of(burst, nature, query)
    wish = Wish(burst.delay, burst.trigger, is_on=is_on)
    shedder, plant = Shedder(query, wish, is_inline=True), _plant(burst, nature)
    moments = []

    def asked() -> Known:
        ask()
        return known

    while plant.clock < burst.end:
        at, before, kept = plant.clock, plant.results, dict(plan.drops.kept)
        report = plant.batch(plan.drops)
        found = shedder.next_boxes(report, asked, plan)
        drops, change = (plan.drops, None) if found is None else found
        moments.append(Moment(at, report, kept, plant.results - before, change))
        plan = replace(plan, drops=drops)
        if len(moments) in orders:
            shedder.obey(orders[len(moments)])
    return moments


def during(burst: Burst, moments: list[Moment]) -> list[Moment]:
    """The batches from the first one on that was told of the burst by the one before."""
    return [m for m in moments if burst.first + burst.trigger <= m.at < burst.last]


def after(burst: Burst, moments: list[Moment]) -> list[Moment]:
    """The batches after it."""
    return [m for m in moments if m.at >= burst.last + burst.trigger]


def best_rate(burst: Burst) -> float:
    """The most results/s that any fixed drop boxes leave in the burst, once windows are full."""
    nature, high = nature_of(burst), _scale(nature_of(burst), burst.load)
    grid = np.geomspace(0.02, 1.0, 60)
    found = (
        _steady(nature, {"a": 3.0 * high * x, "b": high * y}, high) for x in grid for y in grid
    )
    return max(results for work, results in found if work <= 1.0)


def nature_of(burst: Burst) -> Nature:
    """Streams and machine with the loads of the burst."""
    estimate = ESTIMATE if burst.is_view else 0.0
    nature = Nature(lambda second: {}, window=burst.window, noise=burst.noise, estimate=estimate)
    low, high = _scale(nature, CALM), _scale(nature, burst.load)

    def rates(second: float) -> Mapping[str, float]:
        scale = high if burst.first <= second < burst.last else low
        return {alias: scale * share for alias, share in SPLIT.items()}

    return replace(nature, rates=rates)


def known_of(burst: Burst, nature: Nature, query: Query) -> Known:
    """What the planner knows: calm rates, and costs that may be mistaken."""
    costs = Costs(
        "measured",
        insert=nature.keep * burst.mistake,
        result=nature.result * burst.mistake if not burst.is_view else 0.0,
        tally=nature.result * burst.mistake,
    )
    rates = {alias: Figure(rate, "measured") for alias, rate in nature.rates(0.0).items()}
    groups = ({frozenset("ab"): Figure(nature.selectivity, "measured")},)
    return replace(complete(query), rates=rates, groups=groups, costs=costs)


def _plant(burst: Burst, nature: Nature) -> Plant:
    plant = Plant(
        nature,
        burst.trigger,
        burst.limit,
        burst.seed,
        opened=burst.behind,
        ends=burst.ends,
        compiling=burst.compiling,
    )
    plant.clock = burst.behind + burst.trigger
    return plant


def _steady(nature: Nature, kept: Mapping[str, float], scale: float) -> tuple[float, float]:
    """Seconds of work and results, a second, once windows are full."""
    results = nature.selectivity * 2.0 * kept["a"] * kept["b"] * nature.window
    read = nature.read * scale * sum(SPLIT.values())
    return read + nature.keep * sum(kept.values()) + nature.result * results, results


def _scale(nature: Nature, load: float) -> float:
    """The rates, as multiples of the split, that make a load."""
    from scipy.optimize import brentq

    def over(scale: float) -> float:
        kept = {alias: scale * share for alias, share in SPLIT.items()}
        return _steady(nature, kept, scale)[0] - load

    return float(brentq(over, 1e-3, 1e6))

"""Estimates of meshes beside the multi-way join, and beside the laboratory's simulated clock."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import numpy as np
import pyarrow as pa
import pytest

from penstock.calibration.planned_clock import as_planned, own_costs
from penstock.cql.goal import parse_goal
from penstock.duration import MICROS
from penstock.engine.rows.columns import ARRIVAL, TS
from penstock.figure import Figure
from penstock.lab.clock import SimulatedClock
from penstock.lab.laboratory import run
from penstock.lab.schedule import Eager
from penstock.optimize.options import PlanOptions
from penstock.optimize.planner import decide
from penstock.plan.decision import Decision
from penstock.plan.mesh import MeshJoin
from penstock.plan.multiway import MultiwayJoin
from penstock.stats.costs import Costs
from penstock.stats.guess import complete
from penstock.stats.known import Known
from penstock.stats.statistics import GivenCondition, Statistics, StreamFigures
from penstock.stats.training import Training
from support.plans.planning import query_of

A, B = FILTERS = ("S.a > 0", "S.b > 0")
QUERY = query_of(
    f"SELECT S.k FROM S [RANGE 1 SECOND], N [RANGE 1 SECOND] WHERE S.k = N.k AND {A} AND {B}",
    {"S": "k a b c", "N": "k"},
)
SECONDS, RATE, PARTNERS = 40, 100, 40
COSTS = Costs("declared", insert=2e-7, probe=3e-7, expire=1e-7, hash=5e-8, compare=1e-8)
STAY = frozenset({"late-filters", "filter-order"})
"""Filters stay before the joins, in the order in which their figures are given."""
NEAR = 0.1
"""How far an estimate may be from the simulated clock: windows of one second fill in 2.5 % of the
time, and the parts of 4,000 tuples that pass and match are a few per cent from what they are drawn
by. Nothing else should differ, as tuples of S have one partner at the most."""


@dataclass(frozen=True)
class Drawn:
    """S has two costly filters and tuples of two classes, which column c tells apart. `passing` are
    the parts of each class that pass them, `share` is the part of class 0. N has so many `keys`,
    one after the other, so that its window has each once at the most."""

    seed: int
    passing: tuple[tuple[float, float], ...]
    seconds: tuple[float, float]
    share: float
    keys: int

    @property
    def weights(self) -> tuple[float, float]:
        return self.share, 1 - self.share

    def known(self, is_trained: bool = True) -> Known:
        """What a perfect sample would say: the second filter meets what the first lets through."""
        parts = tuple(zip(self.weights, self.passing, strict=True))
        first, both = sum(w * p for w, (p, _) in parts), sum(w * p * q for w, (p, q) in parts)
        passing = zip(FILTERS, (first, both / first), self.seconds, strict=True)
        conditions = {f: GivenCondition(declared(p), declared(s)) for f, p, s in passing}
        rates, distinct = {"S": RATE, "N": PARTNERS}, {"k": declared(self.keys)}
        streams = {a: StreamFigures(declared(r), distinct=distinct) for a, r in rates.items()}
        yields = tuple((*each, PARTNERS / self.keys) for each in self.passing)
        classes = ((0.0,), (1.0,))
        training = Training("S", ("c",), classes, self.weights, (*FILTERS, "N"), yields)
        trained = {"S": training} if is_trained else {}
        given = Statistics(QUERY, streams, conditions=conditions, costs=COSTS, training=trained)
        return complete(QUERY, given)

    def tables(self) -> dict[str, pa.Table]:
        """Such streams."""
        rng, count = np.random.default_rng(self.seed), SECONDS * RATE
        kinds = (rng.random(count) >= self.share).astype(np.int64)
        a, b = (rng.random((count, 2)) < np.array(self.passing)[kinds]).T.astype(np.int64)
        mine = {"k": rng.integers(0, self.keys, count), "a": a, "b": b, "c": kinds}
        return {"S": timed(mine), "N": timed({"k": np.arange(SECONDS * PARTNERS) % self.keys})}

    def clocked(self, decision: Decision) -> float:
        """The utilization by the simulated clock, as `--cost known` has it."""
        clock = SimulatedClock(as_planned(COSTS), own=own_costs(self.known()))
        return run(decision.plan, self.tables(), Eager(), clock=clock).utilization


def drawn(seed: int) -> Drawn:
    rng = Random(f"costly {seed}")
    passing = tuple((rng.uniform(0.05, 0.95), rng.uniform(0.05, 0.95)) for _ in range(2))
    seconds = rng.uniform(5e-6, 3e-5), rng.uniform(5e-6, 3e-5)
    keys = rng.randint(PARTNERS, 8 * PARTNERS)
    return Drawn(seed, passing, seconds, rng.uniform(0.2, 0.8), keys)


def declared(value: float) -> Figure:
    return Figure(value, "declared")


def timed(columns: dict[str, np.ndarray]) -> pa.Table:
    """Columns as the laboratory takes them, evenly spread over the time."""
    count = len(columns["k"])
    times = np.arange(count) * (SECONDS * MICROS // count)
    return pa.table({**columns, TS: times, ARRIVAL: np.arange(count)})


def planned(known: Known, plan: str | None = None) -> Decision:
    return decide(known, PlanOptions(engine="laboratory", off=STAY, plan=plan))


def random_mesh(seed: int) -> str:
    """Two different orders of S's filters and its probe, by class."""
    rng, operators = Random(f"routes {seed}"), [f"[{A}]", f"[{B}]", "N"]
    one, other = rng.sample(operators, 3), rng.sample(operators, 3)
    if one == other:
        other = other[::-1]
    return f"mesh S: {' '.join(one)} or {' '.join(other)} by if c <= 0.5 then 1 else 2; N: S"


@pytest.mark.parametrize("is_trained", [True, False])
@pytest.mark.parametrize("seed", range(8))
def test_a_mesh_of_the_multiway_joins_own_route_costs_as_much(seed: int, is_trained: bool) -> None:
    known = drawn(seed).known(is_trained)
    single = planned(known, "S: N/hash; N: S/hash").chosen.estimate
    mesh = planned(known, f"mesh S: [{A}] [{B}] N; N: S")
    assert isinstance(mesh.plan, MeshJoin)
    assert mesh.chosen.estimate.utilization == pytest.approx(single.utilization, rel=1e-9)
    assert mesh.chosen.estimate.state == pytest.approx(single.state)


@pytest.mark.parametrize("seed", range(12))
def test_a_forced_mesh_is_estimated_as_the_simulated_clock_finds_it(seed: int) -> None:
    case = drawn(seed)
    forced = planned(case.known(), random_mesh(seed))
    assert forced.chosen.estimate.utilization == pytest.approx(case.clocked(forced), rel=NEAR)


@pytest.mark.parametrize("order", [f"[{A}] N [{B}]", f"N [{A}] [{B}]", f"[{B}] [{A}] N"])
def test_one_other_route_is_estimated_as_the_simulated_clock_finds_it(order: str) -> None:
    case = drawn(3)
    forced = planned(case.known(), f"mesh S: {order}; N: S")
    assert forced.chosen.estimate.utilization == pytest.approx(case.clocked(forced), rel=NEAR)


def test_routes_without_training_are_estimated_by_the_figures() -> None:
    """Tuples of one class: what one filter lets through says nothing about the other."""
    case = Drawn(7, ((0.3, 0.6),) * 2, (2e-5, 1e-5), 0.5, 4 * PARTNERS)
    single = planned(case.known(False), "S: N/hash; N: S/hash")
    by_class = "by if c <= 0.5 then 1 else 2"
    for routes in (f"N [{B}] [{A}]", f"N [{A}] [{B}] or N [{B}] [{A}] {by_class}"):
        forced = planned(case.known(False), f"mesh S: {routes}; N: S")
        found = forced.chosen.estimate.utilization
        assert found == pytest.approx(case.clocked(forced), rel=NEAR)
        assert found < 0.8 * single.chosen.estimate.utilization


@pytest.mark.parametrize("seed", range(8))
def test_the_plan_that_is_estimated_best_is_about_the_best_by_the_simulated_clock(
    seed: int,
) -> None:
    case = drawn(seed)
    texts = ["S: N/hash; N: S/hash", f"mesh S: N [{A}] [{B}]; N: S", random_mesh(seed)]
    plans = [planned(case.known(), text) for text in texts]
    taken = [case.clocked(plan) for plan in plans]
    best = min(range(len(plans)), key=lambda n: plans[n].chosen.estimate.utilization)
    assert taken[best] <= (1 + NEAR) * min(taken)
    assert max(taken) > (1 + NEAR) * min(taken)


@pytest.mark.parametrize("goal", ["steady", "by:60s", "first:10"])
def test_of_equal_plans_a_multiway_join_comes_before_a_mesh(goal: str) -> None:
    alike = Drawn(0, ((0.5, 0.5),) * 2, (1e-5, 1e-5), 0.5, PARTNERS)
    options = PlanOptions(off=STAY, goal=parse_goal(goal), alternatives=True)
    decision = decide(alike.known(), options)
    assert isinstance(decision.plan, MultiwayJoin)
    assert any(isinstance(other.plan, MeshJoin) for other in decision.others)

"""What the planner foresees is what happens: estimates against runs in the laboratory.

Keys and values are uniform, and all statistics are declared, so that nothing but the model is
tested. Figures are the mean of a few runs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, cached_property
from random import Random

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from penstock.cql import parse
from penstock.duration import MICROS
from penstock.engine.rows.columns import ARRIVAL, TS
from penstock.lab.clock import ClockCosts, SimulatedClock
from penstock.lab.laboratory import Outcome, run
from penstock.lab.schedule import Eager
from penstock.optimize.curves.curve import curve_of
from penstock.optimize.estimate import estimate, needed_by
from penstock.optimize.joins.candidates import is_product
from penstock.optimize.joins.enumerate import all_trees
from penstock.optimize.joins.probe_search import best_orders
from penstock.optimize.model.problem import Problem
from penstock.optimize.options import PlanOptions
from penstock.optimize.planner import decide
from penstock.plan.multiway import Method, MultiwayJoin, Probe, ProbeOrder
from penstock.plan.plan import Plan
from penstock.plan.tree import Branch, Leaf, Node, TreeJoin, branches, leaves
from penstock.query import Query
from penstock.query.goal import STEADY
from penstock.stats.costs import Costs
from penstock.stats.files.load import from_data
from penstock.stats.guess import complete

Int64s = NDArray[np.int64]
Floats = NDArray[np.float64]

SPAN = 60.0
"""Seconds of input."""
FULL = 24.0
"""Seconds after which all windows are full: two slides of the longest."""
SHAPES = ("chain", "star", "one attribute")
MOST_RESULTS = 40_000
VALUES = (2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 65, 80, 100, 150, 200, 300)
"""Of keys; the least with not too many results is taken."""
TABLE = 400
"""Rows of the table."""
FREE = SimulatedClock(ClockCosts())


@dataclass(frozen=True)
class Setting:
    """A query over streams with uniform keys `k`, `l` and values `v`, `w` in [0, 1)."""

    windows: dict[str, str]
    rates: dict[str, float]
    where: tuple[str, ...]
    values: dict[str, int]
    passes: dict[str, float]
    rows: int = 0
    ends: dict[str, int] | None = None
    select: str = "A.k"

    @cached_property
    def query(self) -> Query:
        streams = "".join(
            f"CREATE STREAM {name} (k BIGINT, l BIGINT, v DOUBLE, w DOUBLE, ts TIMESTAMP) "
            f"WITH (format='synthetic', rate={rate}, timestamp='ts');\n"
            for name, rate in self.rates.items()
        )
        table = (
            "CREATE TABLE T (k BIGINT, l BIGINT, v DOUBLE, w DOUBLE) "
            "WITH (format='csv', path='t.csv');\n"
        )
        froms = [f"{name} [{window}]" for name, window in self.windows.items()]
        froms += ["T"] if self.rows else []
        filters = [f"{name}.v < {p}" for name, p in self.passes.items() if p < 1]
        where = [*self.where, *filters]
        select = f"SELECT {self.select} FROM {', '.join(froms)}"
        return parse(
            f"{streams}{table}{select}" + (f" WHERE {' AND '.join(where)}" if where else "")
        )

    def problem(self, costs: Costs, capacity: float = 1.0) -> Problem:
        streams = {name: {"rate": rate} for name, rate in self.rates.items()}
        for name, count in (self.ends or {}).items():
            streams[name]["cardinality"] = count
        joins = {c: {"selectivity": self.selectivity(c), "cost": 0.0} for c in self.where}
        for text in joins:
            if " = " in text:
                del joins[text]["cost"]
        filters = {
            f"{name}.v < {p}": {"selectivity": p, "cost": 0.0}
            for name, p in self.passes.items()
            if p < 1
        }
        if self.rows:
            streams["T"] = {"cardinality": self.rows}
        data = {"streams": streams, "joins": joins, "filters": filters, "capacity": capacity}
        data["rows_warmup"] = FULL
        known = complete(self.query, from_data(data, self.query), costs)
        return Problem(self.query, known)

    def selectivity(self, condition: str) -> float:
        """Of an equality of keys, or of `A.w < B.w`."""
        return 1 / self.values[condition[2]] if " = " in condition else 0.5

    def tuples(self, seed: int) -> dict[str, pa.Table]:
        rng = np.random.default_rng(seed)
        ends = self.ends or {}
        counts = {n: min(round(r * SPAN), ends.get(n, 10**9)) for n, r in self.rates.items()}
        tables = {n: self._stream(rng, counts[n], self.rates[n]) for n in self.rates}
        if self.rows:
            tables["T"] = self._stream(rng, self.rows, 1.0)
        return tables

    def _stream(self, rng: np.random.Generator, count: int, rate: float) -> pa.Table:
        times = (spread(rng, count, np.arange(count)) * count / rate * MICROS).astype(np.int64)
        return pa.table(
            {
                **{c: rng.permutation(np.arange(count) % d) for c, d in self.values.items()},
                "v": spread(rng, count, rng.permutation(count)),
                "w": spread(rng, count, rng.permutation(count)),
                "ts": pa.array(times, pa.timestamp("us", "UTC")),
                TS: times,
                ARRIVAL: np.arange(count),
            }
        )


def spread(rng: np.random.Generator, count: int, order: Int64s) -> Floats:
    """Numbers in [0, 1), one in each of `count` equal parts: uniform, and runs differ little."""
    return (order + rng.random(count)) / count


@cache
def random_setting(seed: int, windows: tuple[str, ...], size: int | None = None) -> Setting:
    """Two to five streams with a few thousand results, maybe a table, filters and a theta."""
    rng = Random(seed)
    names = "ABCDE"[: size or rng.randint(2, 5)]
    rates = {name: round(10 ** rng.uniform(1.0, 1.5), 1) for name in names}
    others = names[1:] + ("T" if seed % 3 == 0 else "")
    shape = rng.choice(SHAPES)
    links = [
        f"{before if shape == 'chain' else 'A'}.{c} = {after}.{c}"
        for before, after in zip(names + others[-1], others, strict=False)
        for c in ("k" if shape == "one attribute" else rng.choice("kl"))
    ]
    theta = ("A.w < B.w",) if seed % 2 else ()
    setting = Setting(
        windows={name: rng.choice(windows) for name in names},
        rates=rates,
        where=(*links, *theta),
        values={},
        passes={name: rng.choice((1.0, 1.0, 0.5)) for name in names},
        rows=TABLE if "T" in others else 0,
    )
    by_values = (replace(setting, values={"k": d, "l": d + 1}) for d in VALUES)
    return next(s for s in by_values if foreseen(s) < MOST_RESULTS)


def foreseen(setting: Setting) -> float:
    """Results by the end of the input."""
    problem = setting.problem(Costs("declared", join=1e-9))
    return curve_of(problem, best_orders(problem), SPAN).total


RANGES = ("RANGE 5 SECONDS", "RANGE 9 SECONDS")
ROWS = ("ROWS 60", "ROWS 100")
STEPS = ("RANGE 5 SECONDS SLIDE 2 SECONDS", "RANGE 6 SECONDS SLIDE 3 SECONDS")
TUMBLES = ("TUMBLE 6 SECONDS",)
RUNS = 3
METHODS: tuple[Method, ...] = ("hash", "nested")
TREES = frozenset({"tree"})
ANY = Costs("declared", join=1e-9)


def measured(
    plan: Plan, setting: Setting, seed: int, clock: SimulatedClock = FREE
) -> list[Outcome]:
    return [run(plan, setting.tuples(100 * seed + n), Eager(), clock=clock) for n in range(RUNS)]


def steady_rate(outcome: Outcome) -> float:
    """Results/s once all windows are full."""
    return float(np.count_nonzero(outcome.produced_at > FULL * MICROS)) / (SPAN - FULL)


def agree(ratios: list[float], mean: float, each: float) -> None:
    assert ratios
    assert float(np.mean(ratios)) == pytest.approx(1.0, abs=mean)
    assert ratios == pytest.approx([1.0] * len(ratios), abs=each)


@pytest.mark.parametrize("windows", [RANGES, ROWS, TUMBLES, STEPS, RANGES + ROWS + STEPS])
def test_output_rate(windows: tuple[str, ...]) -> None:
    ratios = []
    for seed in range(8):
        setting = random_setting(seed, windows)
        problem = setting.problem(ANY)
        plan = best_orders(problem)
        rates = map(steady_rate, measured(plan, setting, seed))
        ratios.append(float(np.mean(list(rates))) / estimate(problem, plan, STEADY).output_rate)
    agree(ratios, mean=0.05, each=0.15)


def test_tumbling_windows_of_different_lengths_give_more_rather_than_less() -> None:
    """Short blocks start anew within long ones: they are taken to be in step, which is too much."""
    ratios = []
    for seed in range(1, 8):
        setting = random_setting(seed, ("TUMBLE 6 SECONDS", "TUMBLE 12 SECONDS"))
        problem = setting.problem(ANY)
        plan = best_orders(problem)
        rates = map(steady_rate, measured(plan, setting, seed))
        ratios.append(float(np.mean(list(rates))) / estimate(problem, plan, STEADY).output_rate)
    agree(ratios, mean=0.1, each=0.25)


@pytest.mark.parametrize("windows", [RANGES, ROWS, ("UNBOUNDED", *RANGES)])
def test_results_so_far(windows: tuple[str, ...]) -> None:
    ratios = []
    for seed in range(6):
        setting = random_setting(seed, windows)
        if seed % 2:
            setting = replace(setting, ends={"A": round(setting.rates["A"] * 40)})
        problem = setting.problem(ANY)
        plan = best_orders(problem)
        curve = curve_of(problem, plan, SPAN)
        found = measured(plan, setting, seed)
        for time in (30.0, SPAN):
            counts = [np.count_nonzero(o.produced_at <= time * MICROS) for o in found]
            ratios.append(float(np.mean(counts)) / curve.results(time))
    agree(ratios, mean=0.05, each=0.15)


def test_inner_results() -> None:
    """Results/s of an inner join, and how many are alive: until their first member dies."""
    ratios, alive = [], []
    for seed in range(6):
        setting = random_setting(seed, RANGES, size=2)
        links = tuple(c for c in setting.where if "T." not in c)
        setting = replace(setting, where=links, rows=0, select="A.ts, B.ts AS bts")
        problem = setting.problem(ANY)
        tree = TreeJoin(setting.query, Branch(Leaf("A"), Leaf("B"), "sorted"))
        (inner,) = estimate(problem, tree, STEADY).inner
        extents = [int(setting.windows[name].split()[1]) for name in "AB"]
        for outcome in measured(tree, setting, seed):
            ratios.append(steady_rate(outcome) / inner.rate)
            times = [c.cast(pa.int64()).to_numpy() / MICROS for c in outcome.results.columns]
            births = np.maximum(*times)
            deaths = np.minimum(*(t + e for t, e in zip(times, extents, strict=True)))
            lived = np.minimum(deaths, SPAN) - np.maximum(births, FULL)
            alive.append(float(np.maximum(lived, 0.0).sum()) / (SPAN - FULL) / inner.state)
    agree(ratios, mean=0.02, each=0.15)
    agree(alive, mean=0.02, each=0.15)


def test_state() -> None:
    """Windows are as large as foreseen: at the most a few more than in the mean."""
    ratios = []
    for seed in range(6):
        setting = random_setting(seed, RANGES + ROWS)
        problem = setting.problem(ANY)
        plan = best_orders(problem)
        for outcome in measured(plan, setting, seed):
            held = sum(outcome.peaks[name] for name in setting.windows)
            ratios.append(held / estimate(problem, plan, STEADY).state)
    agree(ratios, mean=0.06, each=0.2)


def by_key(problem: Problem, node: Node) -> Node:
    """A tree that searches by hash wherever there is a key."""
    if isinstance(node, Leaf):
        return node
    left, right = (by_key(problem, side) for side in (node.left, node.right))
    masks = [problem.mask(leaves(side)) for side in (left, right)]
    return Branch(left, right, "hash" if problem.linked(*masks) else "nested")


def in_loops(node: Node) -> Node:
    """A tree that looks at all."""
    if isinstance(node, Leaf):
        return node
    return Branch(in_loops(node.left), in_loops(node.right), "nested")


def plans_of(problem: Problem, seed: int) -> list[Plan]:
    """A multi-way join and a tree without products, by hash; the same in nested loops."""
    query = problem.query
    trees = [t for t in all_trees(problem) if not any(is_product(problem, b) for b in branches(t))]
    tree = trees[7 * seed % len(trees)]
    orders = best_orders(problem).orders
    multiway = [
        MultiwayJoin(query, tuple(replace(o, probes=by(m, o)) for o in orders)) for m in METHODS
    ]
    return [*multiway, TreeJoin(query, by_key(problem, tree)), TreeJoin(query, in_loops(tree))]


def by(method: Method, order: ProbeOrder) -> tuple[Probe, ...]:
    return tuple(
        Probe(p.target, "nested" if p.method == "nested" else method) for p in order.probes
    )


def foreseen_work(setting: Setting, plan: Plan, kind: str) -> float:
    """How often one kind of work is done, the windows filling: seconds at a second each, on a
    server that never rests."""
    problem = setting.problem(Costs("declared", **{kind: 1.0}), capacity=1e-3)
    return float(curve_of(problem, plan, SPAN).times[-1]) * 1e-3


@pytest.mark.parametrize(
    ("number", "kind", "counted"),
    [
        (0, "probe", "probes"),
        (1, "compare", "compares"),
        (1, "insert", "inserts"),
        (2, "insert", "inserts"),
        (2, "probe", "probes"),
        (3, "compare", "compares"),
    ],
)
def test_work(number: int, kind: str, counted: str) -> None:
    ratios = []
    for seed in range(1, 6):
        setting = random_setting(seed, RANGES + ROWS)
        plan = plans_of(setting.problem(ANY), seed)[number]
        counts = [getattr(outcome.work, counted) for outcome in measured(plan, setting, seed)]
        ratios.append(float(np.mean(counts)) / foreseen_work(setting, plan, kind))
    agree(ratios, mean=0.04, each=0.12)


@pytest.mark.parametrize("seed", range(8))
def test_the_curve_becomes_as_steep_as_the_steady_estimate(seed: int) -> None:
    setting = random_setting(seed, RANGES + ROWS + STEPS)
    costs = Costs("declared", insert=1.0, probe=2.0, compare=0.5, move=0.1, hash=0.2, result=0.3)
    problem = setting.problem(costs, capacity=1e-3)
    for plan in plans_of(problem, seed):
        curve = curve_of(problem, plan, SPAN)
        spent = np.interp([FULL, SPAN], curve.arrivals, curve.times) * 1e-3
        work = needed_by(problem, plan)
        assert (spent[1] - spent[0]) / (SPAN - FULL) == pytest.approx(work, rel=1e-6)
        results = np.interp([FULL, SPAN], curve.arrivals, curve.counts)
        rate = estimate(problem, plan, STEADY, sheds=False).output_rate
        assert (results[1] - results[0]) / (SPAN - FULL) == pytest.approx(rate, rel=1e-6)


@pytest.mark.parametrize("windows", [RANGES, RANGES + ROWS])
def test_what_is_left_after_shedding(windows: tuple[str, ...]) -> None:
    """A tree's work is a cost for every arrival at a join, which the laboratory's inserts are."""
    left, work = [], []
    for seed in range(1, 7):
        setting = random_setting(seed, windows)
        problem = setting.problem(ANY)
        least = decide(problem.known, PlanOptions(kinds=TREES)).chosen.estimate.needed
        overloaded = setting.problem(ANY, capacity=0.6 * least)
        decision = decide(overloaded.known, PlanOptions(kinds=TREES, sheds=True))
        found = decision.chosen.estimate
        assert decision.is_shed
        assert found.output_rate < found.full_rate
        clock = SimulatedClock(ClockCosts(inserts=1e-9))
        outcomes = measured(decision.plan, setting, seed, clock)
        left.append(float(np.mean([steady_rate(o) for o in outcomes])) / found.output_rate)
        work.append(float(np.mean([o.utilization for o in outcomes])) / found.utilization)
    agree(left, mean=0.06, each=0.2)
    # the windows of the first seconds are not full
    assert float(np.mean(work)) == pytest.approx(0.95, abs=0.06)


@pytest.mark.parametrize("busy", [0.5, 1.5])
@pytest.mark.parametrize("windows", [RANGES + ROWS, ("UNBOUNDED", *RANGES)])
def test_goals(windows: tuple[str, ...], busy: float) -> None:
    """Results by a time and the time of the first so many, on a server that keeps up or not."""
    by_time, soonest = [], []
    for seed in range(1, 6):
        setting = random_setting(seed, windows)
        if seed % 2:
            setting = replace(setting, ends={"B": round(setting.rates["B"] * 40)})
        plan = plans_of(setting.problem(ANY), seed)[2]
        whole = sum(foreseen_work(setting, plan, kind) for kind in ("insert", "probe"))
        second = busy * SPAN / whole
        problem = setting.problem(Costs("declared", insert=second, probe=second))
        curve = curve_of(problem, plan, SPAN)
        clock = SimulatedClock(ClockCosts(inserts=second, probes=second))
        outcomes = measured(plan, setting, seed, clock)
        counts = [np.count_nonzero(o.produced_at <= SPAN * MICROS) for o in outcomes]
        by_time.append(float(np.mean(counts)) / curve.results(SPAN))
        half = round(curve.results(SPAN) / 2)
        times = [o.produced_at[half - 1] / MICROS for o in outcomes]
        soonest.append(float(np.mean(times)) / (curve.time_of(half) or 0.0))
    agree(by_time, mean=0.05, each=0.15)
    agree(soonest, mean=0.05, each=0.1)

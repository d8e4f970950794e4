"""The load of plans that recompute a view: segments, shedding."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from math import ceil

import numpy as np
import pytest

from penstock.optimize.algebra.posynomial import value
from penstock.optimize.estimate import estimate, needed_by
from penstock.optimize.model.distinct import occupied
from penstock.optimize.model.folding import with_early, with_sample_weights
from penstock.optimize.model.load import load_of
from penstock.optimize.model.problem import Problem
from penstock.optimize.model.recompute import meetings
from penstock.optimize.views.early import early_sets
from penstock.optimize.views.recompute import recompute_plan
from penstock.plan.default_plan import default_plan
from penstock.query import Query
from penstock.query.goal import STEADY
from penstock.stats.files.load import from_data
from penstock.stats.guess import complete
from support.plans.recomputed import known_of, problem_of, view, with_table


@dataclass(frozen=True)
class Setting:
    """Streams with so many keys, A with so many groups; seconds of windows and between ticks."""

    m: int
    early: str
    rate: int
    keys: int
    groups: int
    extent: float
    every: float

    @property
    def query(self) -> Query:
        window = f"RANGE {round(self.extent * 1e6)} MICROSECONDS"
        return view(window, f"EVERY {round(self.every * 1e6)} MICROSECONDS", self.m)

    @property
    def problem(self) -> Problem:
        problem = problem_of(self.query, self.keys, groups=self.groups, rate=self.rate)
        return with_early(problem, tuple(self.early))


SETTINGS = [
    Setting(2, "AB", rate=400, keys=20, groups=5, extent=5.0, every=1.0),
    Setting(2, "AB", rate=400, keys=200, groups=5, extent=1.0, every=0.1),
    Setting(2, "AB", rate=400, keys=20, groups=5, extent=1.0, every=0.05),
    Setting(2, "B", rate=300, keys=60, groups=5, extent=2.0, every=0.1),
    Setting(3, "ABC", rate=200, keys=50, groups=3, extent=3.0, every=0.2),
    Setting(3, "BC", rate=200, keys=100, groups=3, extent=4.0, every=0.5),
    Setting(3, "A", rate=100, keys=100, groups=3, extent=4.0, every=0.25),
    Setting(3, "ABC", rate=200, keys=50, groups=3, extent=4.0, every=2.0),
]


SECONDS = 40


@dataclass(frozen=True)
class Seen:
    """By tick and key: the segments of a stream that are seen, and those that did not change."""

    seen: np.ndarray
    same: np.ndarray


def simulated(setting: Setting, alias: str, rng: np.random.Generator) -> Seen:
    count, every = setting.rate * SECONDS, setting.every
    times = rng.uniform(0, SECONDS, count)
    keys = rng.integers(0, setting.keys, count)
    groups = rng.integers(0, setting.groups, count) if alias == "A" else np.zeros(count, np.int64)
    if alias in setting.early:
        cells, key_of = keys * setting.groups + groups, np.arange(setting.keys * setting.groups)
        key_of //= setting.groups
    else:
        cells, key_of = np.arange(count), keys
    ticks = ceil((SECONDS + setting.extent) / every) + 3
    came, left = np.zeros((2, ticks, len(key_of)), np.int32)
    np.add.at(came, (np.ceil(times / every).astype(int), cells), 1)
    np.add.at(left, (np.floor((times + setting.extent) / every).astype(int) + 1, cells), 1)
    alive = np.cumsum(came - left, axis=0) > 0
    same = alive & (came == 0) & (left == 0)
    return Seen(by_key(alive, key_of, setting.keys), by_key(same, key_of, setting.keys))


def by_key(present: np.ndarray, key_of: np.ndarray, keys: int) -> np.ndarray:
    """By tick: how many of what is present have each key."""
    return np.array([np.bincount(key_of[tick], minlength=keys) for tick in present])


def counted(setting: Setting, aliases: str) -> float:
    """Combinations/s of segments with equal keys, in batches of a second, once windows are full."""
    rng = np.random.default_rng([len(aliases), setting.rate])
    streams = [simulated(setting, alias, rng) for alias in aliases]
    seen, same = (
        np.prod([getattr(stream, part) for stream in streams], axis=0).sum(axis=1)
        for part in ("seen", "same")
    )
    ticks = np.arange(ceil(setting.extent / setting.every), int((SECONDS - 1) / setting.every))
    batches = np.ceil(ticks * setting.every - 1e-9)
    is_first = np.diff(batches, prepend=-1) > 0
    met = np.where(is_first, seen[ticks], seen[ticks] - same[ticks])
    return float(met.sum() / (len(ticks) * setting.every))


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_segments_meet_as_often_as_they_do_in_random_streams(setting: Setting) -> None:
    problem = setting.problem
    for size in range(1, setting.m + 1):
        aliases = "ABC"[:size]
        mask = problem.mask(aliases)
        foreseen = meetings(problem, mask) * problem.fraction(mask)
        assert counted(setting, aliases) == pytest.approx(foreseen, rel=0.1), aliases


def test_all_work_by_hand() -> None:
    """Tuples are folded, and what is left once more; all that is in the windows is merged; segments
    of B visit, and each combination is added to its group."""
    problem = problem_of(view(m=2), 10, costs={"join": 1e-6})
    a, b = occupied(1000, 2000), occupied(10, 2000)
    plan = replace(default_plan(problem.query), early=("A", "B"), recompute="B")
    merged, visits, results = 10 * (a + b), 10, occupied(1000, 20_000)
    work = 2 * 2000 + a + b + merged + visits + results
    assert needed_by(problem, plan) == pytest.approx(1e-6 * work)


def test_batches_without_an_evaluation_do_nothing() -> None:
    """Of long ticks the work is done once: here a tenth of it in a second."""
    problem = problem_of(view("TUMBLE 10 SECONDS", every="", m=2), 10, costs={"join": 1e-6})
    plan = replace(default_plan(problem.query), early=("A", "B"), recompute="B")
    folding = 2 * 2000 + occupied(1000, 2000) + occupied(10, 2000)
    once = (1000 + 10) + 10 + 1000
    assert needed_by(problem, plan) == pytest.approx(1e-6 * (folding + once / 10), rel=1e-3)


def test_tuples_of_a_moment_are_seen_once() -> None:
    """Tuples of NOW windows are alive at one tick of an eager view: each visits once."""
    problem = with_early(problem_of(view("NOW", every="", m=2), 10), ("A",))
    assert meetings(problem, problem.mask("A")) == pytest.approx(2000, rel=1e-3)


def test_groups_cost_their_delivery_whatever_the_plan() -> None:
    problem = problem_of(view(m=2), 10, costs={"result": 1e-3, "fold": 0.0, "tally": 0.0})
    for early in early_sets(problem)[1:]:
        assert needed_by(problem, recompute_plan(problem, early)) == pytest.approx(100 * 1e-3)


def test_tables_never_change() -> None:
    query = with_table(view(m=2))
    streams = {"A": {"rate": 2000}, "B": {"cardinality": 5000, "distinct": {"k": 10}}}
    problem = Problem(query, complete(query, from_data({"streams": streams}, query)))
    folded = with_early(problem, ("B",))
    assert meetings(folded, problem.mask("B")) == pytest.approx(10)
    assert recompute_plan(problem, ("B",)).recompute == "A"


def test_shed_inputs_have_more_than_their_part_of_the_segments() -> None:
    """What is kept is enough to keep up, though fewer tuples share their segments with others."""
    problem = problem_of(view(m=2), 100, rate=5000, capacity=0.006)
    found = estimate(problem, recompute_plan(problem, ("A", "B")), STEADY)
    assert found.needed > 0.006
    assert 0.003 < found.utilization <= 0.006 * (1 + 1e-6)
    assert 0 < found.output_rate < found.full_rate
    kept = with_early(problem, ("A",), {"A": 0.5}).inputs[0]
    assert kept.occupied == pytest.approx(2 * occupied(10_000, 25_000))


@pytest.mark.parametrize("query", [view(m=2), view(), view("TUMBLE 5 SECONDS")])
@pytest.mark.parametrize("share", [0.03, 0.3, 0.9])
def test_what_is_shed_leaves_no_capacity_unused(query: Query, share: float) -> None:
    """Fewer tuples fold less, and that is reckoned with to the end."""
    full = known_of(query, 200)
    for plan in (default_plan(query), recompute_plan(Problem(query, full), ("A", "B"))):
        early = replace(plan, early=("A", "B"))
        capacity = share * needed_by(Problem(query, full), early)
        problem = problem_of(query, 200, capacity=capacity)
        for tolerance in (1e-4, 1e-6):
            found = estimate(problem, early, STEADY, tolerance=tolerance)
            assert min(found.keep.values()) < 1.0
            assert 0.95 * capacity <= found.utilization <= capacity * (1 + 1e-6)


@pytest.mark.parametrize("recompute", [None, "B"])
def test_nothing_else_that_is_kept_gives_more(recompute: str | None) -> None:
    """No fractions on a grid do better with the same capacity."""
    query = view(m=2)
    plan = replace(default_plan(query), early=("A", "B"), recompute=recompute)
    capacity = 0.2 * needed_by(problem_of(query, 100), plan)
    problem = problem_of(query, 100, capacity=capacity)
    found = estimate(problem, plan, STEADY)
    shed = with_sample_weights(problem)

    def fits(x: tuple[float, float]) -> bool:
        folded = with_early(shed, plan.early, dict(zip("AB", x, strict=True)))
        return value(load_of(folded, plan), x) <= capacity

    grid = np.geomspace(1e-3, 1.0, 60).tolist()
    best = max(a * b for a, b in product(grid, grid) if fits((a, b)))
    assert found.output_rate / found.full_rate >= best * 0.999

"""A&N Example 1: three streams and their three plans, at any cost of a tuple, planned and run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np
import pyarrow as pa

from penstock.duration import MICROS
from penstock.experiments.setting.problems import problem_of, query_of
from penstock.experiments.setting.streams import Stream, tuples_of
from penstock.lab.clock import ClockCosts, SimulatedClock
from penstock.lab.laboratory import run
from penstock.lab.schedule import Eager
from penstock.optimize.algebra.posynomial import value
from penstock.optimize.joins.enumerate import joined
from penstock.optimize.model.load import load_of
from penstock.optimize.model.problem import Problem
from penstock.optimize.model.work import output_of
from penstock.optimize.shedding.fractions import Kept, best_drops
from penstock.optimize.shedding.keeping import floors
from penstock.plan.drops import DropBoxes
from penstock.plan.tree import Leaf, TreeJoin
from penstock.query import Query
from penstock.stats.costs import Costs

RATES = {"A": 10.0, "B": 70.0, "C": 20.0}
SELECTIVITY = {"A B": 0.5, "B C": 0.2}
PLANS = {"(A⋈B)⋈C": "ABC", "(B⋈C)⋈A": "BCA", "(A⋈C)⋈B": "ACB"}
"""The plans by the order in which a left-deep tree takes its inputs: a, b and c of the paper."""

WARMUP = 60.0
"""Seconds that a run may take to fill its windows, which are not measured."""
_STREAMS = {
    "A": Stream(10.0, {"a": 2}),
    "B": Stream(70.0, {"a": 2, "b": 5}),
    "C": Stream(20.0, {"b": 5}),
}


def problem(join: float, warmup: float = float("inf")) -> Problem:
    """The query where a tuple costs `join` seconds at each join that it comes to.

    Without a warm-up a stream may be shed to nothing while its window stays full, as in the paper.
    """
    costs = Costs("declared", join=join)
    return problem_of(_query(), RATES, SELECTIVITY, costs, rows_warmup=warmup)


@cache
def _query() -> Query:
    return query_of(
        "SELECT A.a FROM A [ROWS 10], B [ROWS 10], C [ROWS 10] WHERE A.a = B.a AND B.b = C.b",
        {"A": "a", "B": "a b", "C": "b"},
    )


def tree(of: Problem, plan: str) -> TreeJoin:
    """One of the plans, as a left-deep tree."""
    first, second, third = (Leaf(alias) for alias in PLANS[plan])
    return TreeJoin(of.query, joined(of, joined(of, first, second), third))


def handled(plan: str) -> float:
    """Tuples/s that the joins of a plan handle where nothing is shed."""
    asked = problem(1.0)
    return value(load_of(asked, tree(asked, plan)), (1.0,) * 3)


def shed(plan: str, join: float, warmup: float = float("inf")) -> Kept:
    """The plan's best drop boxes where all of one server is there for it (A&N §4.2.1)."""
    asked = problem(join, warmup)
    kept = best_drops(load_of(asked, tree(asked, plan)), output_of(asked), floors(asked), 1.0)
    assert kept is not None, "a plan can be shed to its floors at every cost that is looked at"
    return kept


@dataclass(frozen=True)
class Measured:
    """Results/s after the warm-up, and busy seconds in a second."""

    output: float
    utilization: float


def measure(plan: str, join: float, seconds: float) -> Measured:
    """A run of the plan with its drop boxes, on a simulated clock with one server."""
    asked = problem(join, WARMUP)
    fractions = shed(plan, join, WARMUP).fractions
    boxes = DropBoxes(tuple(zip(asked.query.aliases, fractions, strict=True)), seed=1)
    planned = tree(asked, plan)
    outcome = run(
        TreeJoin(planned.query, planned.root, boxes),
        _tuples(WARMUP + seconds),
        Eager(),
        clock=SimulatedClock(ClockCosts(inserts=join)),
    )
    start, end = WARMUP * MICROS, (WARMUP + seconds) * MICROS
    results = np.searchsorted(outcome.produced_at, [start, end])
    return Measured(float(np.diff(results)[0]) / seconds, outcome.utilization)


@cache
def _tuples(seconds: float) -> Mapping[str, pa.Table]:
    return tuples_of(_STREAMS, seconds, seed=1)

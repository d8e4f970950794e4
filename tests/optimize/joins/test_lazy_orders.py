"""Joins every τ seconds: loops with new tuples anywhere, proposed where they take less work."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import pytest

from penstock.experiments.setting.streams import Stream, tuples_of
from penstock.lab.laboratory import run
from penstock.lab.schedule import Eager, Lazy, Mode
from penstock.optimize.joins.lazy_orders import lazier, proposed, work_every
from penstock.optimize.model.problem import Problem
from penstock.optimize.options import PlanOptions
from penstock.optimize.planner import decide
from penstock.papers.multi_join import common_attribute, general_cost, time_window
from penstock.plan.decision import Decision
from penstock.plan.explain.verdict import physical_text
from penstock.plan.multiway import MultiwayJoin, Probe, ProbeOrder
from penstock.stats.costs import Costs
from support.plans.common_attribute import (
    FIGURE_3B,
    NAMES,
    TABLE_5,
    TABLE_7,
    Rows,
    common_problem,
    distinct_of,
)
from support.plans.planning import random_problem

SLOW_PAIR: Rows = [(1, 10, 500), (1, 10, 500), (1, 10, 500), (2000, 10, 500)]
"""Three small windows that hardly ever meet, and a stream that comes much faster."""
COSTS = Costs("declared", insert=1e-8, expire=1e-8, probe=1e-8, hash=3e-9, compare=6e-9)


def nested(problem: Problem) -> MultiwayJoin:
    orders = (ProbeOrder(n, tuple(Probe(o, "nested") for o in NAMES if o != n)) for n in NAMES)
    return MultiwayJoin(problem.query, tuple(orders))


@pytest.mark.parametrize("tau", [0.0, 1.0, 20.0, 50.0])
@pytest.mark.parametrize("rows", [TABLE_5, TABLE_7, FIGURE_3B])
def test_comparisons_are_those_of_the_paper_and_no_loops_take_fewer(rows: Rows, tau: float) -> None:
    problem = common_problem(rows)
    found = lazier(problem, nested(problem), tau)
    windows = {n: time_window(r[0], r[1]) for n, r in zip(NAMES, rows, strict=True)}
    match = common_attribute(distinct_of(rows))

    def cost(driver: str, loops: tuple[str, ...]) -> float:
        return general_cost(windows, {driver: loops}, match, tau)

    assert work_every(problem, found, tau) == pytest.approx(
        sum(cost(order.driver, loops_of(order)) for order in found.orders)
    )
    for order in found.orders:
        loops = [each for each in permutations(NAMES) if tau or each[0] == order.driver]
        least = min(cost(order.driver, each) for each in loops)
        assert cost(order.driver, loops_of(order)) == pytest.approx(least)


def loops_of(order: ProbeOrder) -> tuple[str, ...]:
    place = order.position
    return (*order.targets[:place], order.driver, *order.targets[place:])


def test_beyond_five_inputs_the_rule_is_never_worse_than_the_plan() -> None:
    problem = random_problem(3, 6, COSTS)
    plan = decide(problem.known, PlanOptions(kinds=frozenset({"multiway"}))).plan
    assert isinstance(plan, MultiwayJoin)
    for tau in (0.5, 5.0):
        assert work_every(problem, lazier(problem, plan, tau), tau) <= work_every(
            problem, plan, tau
        )


def decided(rows: Rows, interval: float | None = None) -> Decision:
    options = PlanOptions(engine="laboratory", kinds=frozenset({"multiway"}), interval=interval)
    return decide(common_problem(rows, COSTS).known, options)


def test_a_lazy_plan_is_proposed_where_it_wins_and_only_there() -> None:
    (note,) = decided(SLOW_PAIR).notes
    assert "joined every τ = " in note
    assert "new tuples of S4 not first" in note
    assert not decided(TABLE_5).notes
    problem = common_problem(TABLE_5, COSTS)
    assert proposed(problem, nested(problem)) is None


def test_explain_says_the_interval_and_whose_new_tuples_wait() -> None:
    lazy = decided(SLOW_PAIR, 5.0).physical.lazy
    assert lazy is not None
    assert (lazy.tau, lazy.behind) == (5.0, ("S4",))
    assert lazy.work < 0.5
    assert "joined every τ = 5 s with " in physical_text(decided(SLOW_PAIR, 5.0).physical)
    assert decided(SLOW_PAIR).physical.lazy is None


def test_what_is_proposed_takes_less_when_it_is_run() -> None:
    streams = {
        n: Stream(row[0], {"a": int(row[2])}) for n, row in zip(NAMES, SLOW_PAIR, strict=True)
    }
    tuples = tuples_of(streams, 30.0, seed=5)

    def looks(decision: Decision, mode: Mode) -> tuple[int, int]:
        work = run(decision.plan, tuples, mode).work
        return work.compares + work.probes, work.results

    eager, found = looks(decided(SLOW_PAIR), Eager())
    lazy, same = looks(decided(SLOW_PAIR, 5.0), Lazy(5_000_000))
    assert lazy < 0.5 * eager
    assert same == found


def test_a_forced_plan_is_left_as_it_is() -> None:
    text = "S1: S2 S3 S4; S2: S1 S3 S4; S3: S1 S2 S4; S4: S1 S2 S3"
    problem = common_problem(SLOW_PAIR, COSTS)
    options = PlanOptions(engine="laboratory", interval=5.0)
    decision = decide(problem.known, replace(options, plan=text))
    assert isinstance(decision.plan, MultiwayJoin)
    assert all(order.position == 0 for order in decision.plan.orders)

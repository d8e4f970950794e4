"""Recomputed views: when that pays, and by which driver and order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from penstock.adapt.planning.weighing import Question, weigh
from penstock.optimize.algebra.posynomial import value
from penstock.optimize.model.distinct import is_folding_guessed
from penstock.optimize.model.folding import with_early
from penstock.optimize.model.problem import Problem
from penstock.optimize.model.recompute import recompute_load
from penstock.optimize.model.rounds import rounds_of
from penstock.optimize.model.statistics_used import guesses
from penstock.optimize.options import PlanOptions
from penstock.optimize.planner import decide
from penstock.optimize.views.early import early_sets
from penstock.optimize.views.recompute import RECOMPUTED, recompute_plan, recompute_plans
from penstock.plan.decision import Decision
from penstock.plan.default_plan import default_plan
from penstock.plan.drops import DropBoxes
from penstock.plan.multiway import MultiwayJoin, Probe, ProbeOrder
from penstock.plan.plan import recomputed_by
from penstock.plan.text.parse import forced_plan
from penstock.query import Query
from penstock.stats.files.load import from_data
from penstock.stats.guess import complete
from penstock.stats.known import Known
from support.plans.planning import query_of
from support.plans.recomputed import COLUMNS, chosen, known_of, problem_of, view

# ---- how many segments meet


# ---- which plans there are, and when one is chosen


@pytest.mark.parametrize("seed", range(6))
def test_driver_and_order_are_the_best(seed: int) -> None:
    rng = np.random.default_rng(seed)
    query = query_of(
        "SELECT COUNT(*) AS n FROM A [RANGE 5 SECONDS], B [RANGE 9 SECONDS], C [RANGE 2 SECONDS], "
        "D [RANGE 4 SECONDS] WHERE A.k = B.k AND B.l = C.l AND C.k = D.k EVERY 1 SECOND",
        dict.fromkeys("ABCD", COLUMNS),
    )
    streams = {
        alias: {
            "rate": float(rng.integers(10, 500)),
            "distinct": {"k": float(rng.integers(5, 90)), "l": float(rng.integers(5, 90))},
        }
        for alias in "ABCD"
    }
    problem = Problem(query, complete(query, from_data({"streams": streams}, query)))
    early = ("A", "C")
    folded = with_early(problem, early)

    def work(driver: str, *targets: str) -> float:
        bound, probes = {driver}, []
        for target in targets:
            is_linked = problem.linked(problem.mask(bound), problem.mask([target]))
            probes.append(Probe(target, "sorted" if is_linked else "nested"))
            bound.add(target)
        # Orders that nobody goes through count by the keys of their visits only.
        others = tuple(order for order in found.orders if order.driver != driver)
        plan = MultiwayJoin(query, (*others, ProbeOrder(driver, tuple(probes))), early=early)
        return value(recompute_load(folded, plan, driver), [1.0] * 4)

    found = recompute_plan(problem, early)
    assert found.recompute is not None
    least = min(work(*names) for names in permutations("ABCD"))
    assert work(found.recompute, *found.order(found.recompute).targets) == pytest.approx(
        least, rel=0.02
    )


def test_every_set_may_be_recomputed() -> None:
    problem = problem_of(view(m=4), 100)
    found = [plan for plan, _ in recompute_plans(problem, frozenset())]
    assert [plan.early for plan in found] == list(early_sets(problem)[1:])
    assert all(recomputed_by(plan) in tuple("ABCD") for plan in found)


@pytest.mark.parametrize("query", [view("ROWS 50"), view(m=1), view(m=6)])
def test_what_is_never_recomputed(query: Query) -> None:
    assert list(recompute_plans(problem_of(query, 100), frozenset())) == []


def test_many_matches_and_few_ticks_a_window() -> None:
    """Three streams of 20,000 tuples/s with a thousand matches each: kept rows meet 300 times."""
    decision = chosen(view(), 3651, 20_000)
    assert recomputed_by(decision.plan) is not None
    assert {"B", "C"} <= set(decision.plan.early)
    kept = chosen(view(), 3651, 20_000, off=frozenset({"recompute"}))
    assert decision.chosen.estimate.needed < 0.2 * kept.chosen.estimate.needed
    assert RECOMPUTED in decision.chosen.found_by


@pytest.mark.parametrize(
    ("query", "keys", "rate"),
    [
        # Hardly a partner for anyone.
        (view(), 1e7, 20_000),
        (view(m=2), 1e6, 20_000),
        # A window of 3,600 ticks, all of which would be read in each batch.
        (view("RANGE 1 HOUR"), 72_000, 20),
        # What never leaves is summed up already.
        (view("UNBOUNDED"), 3651, 2000),
    ],
)
def test_few_matches_and_long_windows_are_kept(query: Query, keys: float, rate: float) -> None:
    assert recomputed_by(chosen(query, keys, rate).plan) is None


def test_a_little_less_work_is_not_enough() -> None:
    """How much less it is depends on how long batches are, which nobody knows yet."""
    costs = {"insert": 2e-7, "probe": 3e-7, "compare": 1e-8, "fold": 1.4e-7}
    decision = decide(known_of(view(m=2), 1000, costs=costs))
    assert recomputed_by(decision.plan) is None
    best = decision.others[0]
    assert recomputed_by(best.plan) == "B"
    ratio = best.estimate.utilization / decision.chosen.estimate.utilization
    assert 0.9 < ratio < 1.0
    assert decision.reason.startswith("the view is kept, as recomputing it is not clearly")


def test_where_tuples_may_be_shed_a_third_less_work_is_not_enough() -> None:
    """What is in the windows is joined again then, whatever is dropped of what comes."""
    costs = {"insert": 2e-7, "probe": 3e-7, "compare": 1e-8, "fold": 1.4e-7}
    known = known_of(view(m=2), 300, costs=costs)
    assert recomputed_by(decide(known).plan) == "B"
    shed = PlanOptions(sheds=True)
    decision = decide(known, shed)
    assert recomputed_by(decision.plan) is None
    assert "and not 50 % of it or less" in decision.reason
    calm = Question(lambda: known, shed, decision.plan, {})
    assert {recomputed_by(each.plan) for each in weigh(calm).others} == {None}
    never = replace(calm, options=PlanOptions())
    assert recomputed_by(weigh(never).others[0].plan) == "B"
    # While tuples are shed none is recomputed that was not before.
    boxed = replace(decision.plan, drops=DropBoxes((("A", 0.5),), 0))
    weighed = weigh(replace(never, running=boxed))
    assert {recomputed_by(each.plan) for each in weighed.others} == {None}


def guessed(window: str, **more: Any) -> Decision:
    """Nobody has said how many keys and groups there are."""
    query = view(window, m=2)
    streams = {alias: {"rate": 5000, **more} for alias in query.aliases}
    return decide(complete(query, from_data({"streams": streams}, query)))


def test_long_windows_are_not_read_again_for_a_guess() -> None:
    """Windows of 10 seconds cost little even if nothing folds; those of 5 minutes cost too much."""
    assert recomputed_by(guessed("RANGE 10 SECONDS").plan) is not None
    decision = guessed("RANGE 5 MINUTES")
    assert recomputed_by(decision.plan) is None
    assert recomputed_by(decision.others[0].plan) is not None
    assert decision.reason.startswith("the view is kept, as only a guess says that recomputing it")
    few = guessed("RANGE 5 MINUTES", distinct={"k": 100, "g": 100})
    assert recomputed_by(few.plan) is not None


def test_what_is_known_of_folding() -> None:
    query = view(m=2)

    def known(data: Mapping[str, Any]) -> Known:
        return complete(query, from_data(data, query))

    nothing = known({})
    assert is_folding_guessed(nothing, "A")
    assert is_folding_guessed(nothing, "B")
    keys = known({"streams": {"A": {"distinct": {"k": 50}}, "B": {"distinct": {"k": 40}}}})
    assert is_folding_guessed(keys, "A")
    assert not is_folding_guessed(keys, "B")
    assert not is_folding_guessed(known({"joins": {"A.k = B.k": {"selectivity": 0.1}}}), "B")
    assert not is_folding_guessed(known({"streams": {"A": {"cells": 7}}}), "A")
    assert not is_folding_guessed(known_of(query, 100), "A")


def test_the_best_plan_that_is_kept_is_told() -> None:
    decision = chosen(view(), 3651, 20_000)
    best = next(a for a in decision.others if recomputed_by(a.plan) is None)
    assert decision.others[0] is not best
    assert decision.reason.startswith("least work of ")
    assert decision.reason.endswith(f"; the best that is kept {best.estimate.utilization:.3g}")


def test_of_nearly_nothing_the_most_is_kept() -> None:
    """All plans lose more than 99.99 %; still the one that keeps the most is chosen."""
    costs = {"insert": 2e-7, "probe": 3e-7, "compare": 1e-8, "fold": 1e-7, "tally": 5e-8}
    joins = {text: {"selectivity": 1 / 300} for text in ("A.k = B.k", "A.k = C.k", "B.k = C.k")}
    joins["A.k = B.k = C.k"] = {"selectivity": 1 / 300**2}
    known = known_of(view(), 300, capacity=2e-5, costs=costs, joins=joins)
    assert not guesses(known)
    decision = decide(known, PlanOptions(sheds=True))
    found = decision.chosen.estimate
    assert 0 < found.output_rate < 1e-4 * found.full_rate
    most = max(other.estimate.output_rate for other in decision.others)
    assert found.output_rate >= most * (1 - 1e-3)


def test_switched_off() -> None:
    for options in (
        {"off": frozenset({"recompute"})},
        {"off": frozenset({"early-aggregation"})},
        {"kinds": frozenset({"tree"})},
    ):
        decision = chosen(view(), 30, 2000, **options)
        assert all(recomputed_by(a.plan) is None for a in (decision.chosen, *decision.others))


def test_in_the_order_of_from() -> None:
    decision = chosen(view(), 30, 2000, off=frozenset({"probe-order"}))
    assert isinstance(decision.plan, MultiwayJoin)
    assert decision.plan.orders == default_plan(decision.plan.query).orders


def test_rounds_are_those_of_the_order_that_is_gone_through() -> None:
    query = query_of(
        "SELECT COUNT(*) AS n FROM A [NOW], B [NOW], C [NOW], D [NOW] "
        "WHERE A.k = B.k AND A.k = C.k AND C.l = D.l",
        dict.fromkeys("ABCD", COLUMNS),
    )
    problem = problem_of(query, 100)
    text = "A: B D C; D: C A B | early A"
    assert rounds_of(problem, forced_plan(query, text)) == 3
    assert rounds_of(problem, forced_plan(query, f"{text} | recompute D")) == 2


# ---- as text


def test_a_forced_shape_takes_the_best_order() -> None:
    query = query_of(
        "SELECT COUNT(*) AS n FROM A [RANGE 5 SECONDS], B [RANGE 5 SECONDS], C [RANGE 5 SECONDS] "
        "WHERE A.k = B.k AND A.l = C.l EVERY 1 SECOND",
        dict.fromkeys("ABC", COLUMNS),
    )
    streams: Mapping[str, Any] = {
        "A": {"rate": 100, "distinct": {"k": 10, "l": 1000}},
        "B": {"rate": 100, "distinct": {"k": 10}},
        "C": {"rate": 100, "distinct": {"l": 1000}},
    }
    known = complete(query, from_data({"streams": streams}, query))
    plan = decide(known, PlanOptions(plan="(A B C) | early B | recompute A")).plan
    assert isinstance(plan, MultiwayJoin)
    assert (plan.early, plan.recompute) == (("B",), "A")
    assert plan.order("A").targets == ("C", "B")


# ---- explained

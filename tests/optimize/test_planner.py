"""Decisions: which plan is chosen, and what cannot be decided."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import yaml

from penstock.errors import PlanError
from penstock.figure import Figure
from penstock.optimize.options import PlanOptions
from penstock.optimize.planner import decide
from penstock.optimize.shedding.feasible import refuse_infeasible
from penstock.plan.decision import Decision
from penstock.plan.default_plan import default_plan
from penstock.plan.explain import explain
from penstock.plan.text.parse import render_plan
from penstock.plan.text.shape import kind_of, shape_of
from penstock.plan.tree import TreeJoin, is_left_deep
from penstock.query.goal import By, First
from penstock.stats.costs import Costs
from penstock.stats.files.load import from_data
from penstock.stats.guess import complete
from support.paths import GOLDEN
from support.plans.planning import example_1, query_of, random_problem

CASES: list[dict[str, Any]] = yaml.safe_load((GOLDEN / "plans.yaml").read_text(encoding="utf-8"))
COLUMNS = dict.fromkeys("ABCDE", "a b v")


def decision_of(case: dict[str, Any]) -> Decision:
    names = {name: columns for name, columns in COLUMNS.items() if f"{name} [" in case["query"]}
    query = query_of(case["query"], names)
    known = complete(query, from_data(case.get("stats", {}), query))
    return decide(
        known,
        PlanOptions(
            kinds=frozenset(case.get("kinds", ["tree", "multiway"])),
            off=frozenset(case.get("without", [])),
            sheds=case.get("shed", False),
        ),
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["says"])
def test_chosen_plan(case: dict[str, Any]) -> None:
    decision = decision_of(case)
    found = decision.chosen.estimate
    kept = case["expect"].pop("least_kept", {})
    for alias, least in kept.items():
        assert found.keep[alias] >= least - 1e-4
    if kept:
        assert min(found.keep[a] - least for a, least in kept.items()) == pytest.approx(0, abs=1e-3)
    facts = {
        "kind": kind_of(decision.plan),
        "shape": shape_of(decision.plan),
        "plan": render_plan(decision.plan),
        "utilization": pytest.approx(found.utilization, abs=5e-3),
        "output_rate": pytest.approx(found.output_rate, rel=1e-4),
        "feasible": decision.is_feasible,
        "left_deep": isinstance(decision.plan, TreeJoin) and is_left_deep(decision.plan.root),
    }
    for name, expected in case["expect"].items():
        assert expected == facts[name], name


def test_alternatives_are_ranked_and_hold_every_tree() -> None:
    known = example_1(0.0005).known
    decision = decide(known, PlanOptions(alternatives=True))
    everything = [decision.chosen, *decision.others]
    works = [a.estimate.utilization for a in everything]
    assert works == sorted(works)
    shapes = {shape_of(a.plan) for a in everything if kind_of(a.plan) == "tree"}
    assert shapes == {"((A B) C)", "((A C) B)", "((B C) A)"}
    assert any(kind_of(a.plan) == "multiway" for a in everything)
    assert len({render_plan(a.plan) for a in everything}) == len(everything)
    assert "of work against" in decision.reason


def test_every_tree_of_four_streams_is_listed() -> None:
    problem = random_problem(3, 4)
    decision = decide(problem.known, PlanOptions(alternatives=True, kinds=frozenset({"tree"})))
    assert len({shape_of(a.plan) for a in (decision.chosen, *decision.others)}) == 15


def test_a_forced_plan_is_taken_and_compared() -> None:
    known = example_1(0.0005).known
    decision = decide(known, PlanOptions(plan="((A B) C)"))
    assert decision.is_forced
    assert shape_of(decision.plan) == "((A B) C)"
    assert decision.chosen.estimate.utilization == pytest.approx(0.25)
    best = "forced by --plan; of the others ((B C) A) is the best: 0.14 s/s of work against 0.25"
    assert decision.reason == best
    assert render_plan(decide(known, PlanOptions(plan="(A B C)")).plan) == "A: B C; B: C A; C: B A"


def test_what_does_not_keep_up_is_refused_with_the_numbers() -> None:
    decision = decide(example_1(0.005).known, PlanOptions(kinds=frozenset({"tree"})))
    with pytest.raises(PlanError) as caught:
        refuse_infeasible(decision)
    assert "the query needs 1.4 of 1 CPU-seconds a second" in str(caught.value)
    assert "--shed" in str(caught.value)
    assert "needs   1.4 of 1 CPU-seconds a second: this plan does not" in explain(decision)
    forced = decide(example_1(0.005).known, PlanOptions(plan="((A B) C)"))
    with pytest.raises(PlanError, match=r"forced by --plan does not keep up: it needs 2\.5 of 1"):
        refuse_infeasible(forced)
    refuse_infeasible(decide(example_1(0.0005).known))
    refuse_infeasible(decide(example_1(0.005).known, PlanOptions(sheds=True)))


def test_guesses_refuse_nothing() -> None:
    known = example_1(0.005).known
    known = replace(known, rates={**known.rates, "A": Figure(10.0, "guessed", rule="default")})
    decision = decide(known, PlanOptions(kinds=frozenset({"tree"})))
    assert not decision.is_feasible
    assert decision.rests_on_guesses
    refuse_infeasible(decision)


def test_goals_choose_by_their_measure() -> None:
    problem = random_problem(5, 3)
    slow = replace(problem.known, capacity=Figure(1e-3, "declared"))
    for goal in (By(20.0), First(5)):
        decision = decide(slow, PlanOptions(goal=goal, alternatives=True))
        measures: list[Any] = [a.estimate.measure for a in (decision.chosen, *decision.others)]
        assert None not in measures
        assert measures == sorted(measures, reverse=isinstance(goal, By))


def test_an_unreachable_goal_is_refused() -> None:
    problem = random_problem(5, 3)
    ends = {alias: Figure(10.0, "declared") for alias in problem.query.aliases}
    with pytest.raises(PlanError, match="there will be only about"):
        decide(replace(problem.known, cardinalities=ends), PlanOptions(goal=First(10**9)))


def test_shedding_goes_with_steady_only() -> None:
    with pytest.raises(PlanError, match="does not go with shedding"):
        decide(example_1(0.005).known, PlanOptions(goal=By(5.0), sheds=True))


def test_an_endless_product_is_refused() -> None:
    query = query_of("SELECT A.a FROM A [UNBOUNDED], B [UNBOUNDED]", {"A": "a", "B": "a"})
    with pytest.raises(PlanError, match="A and B are endless"):
        decide(complete(query))
    linked = query_of(
        "SELECT A.a FROM A [UNBOUNDED], B [UNBOUNDED] WHERE A.a = B.a", {"A": "a", "B": "a"}
    )
    assert decide(complete(linked)).plan is not None


def test_shedding_an_unbounded_window_needs_a_horizon() -> None:
    query = query_of(
        "SELECT A.a FROM A [UNBOUNDED], B [RANGE 1 SECOND] WHERE A.a = B.a", {"A": "a", "B": "a"}
    )
    data = {
        "streams": {"A": {"rate": 100}, "B": {"rate": 100}},
        "joins": {"A.a = B.a": {"selectivity": 0.1}},
        "costs": {"join": 0.01},
    }
    with pytest.raises(PlanError, match="A is UNBOUNDED"):
        decide(complete(query, from_data(data, query)), PlanOptions(sheds=True))
    decision = decide(
        complete(query, from_data(data | {"horizon": 60}, query)), PlanOptions(sheds=True)
    )
    assert decision.chosen.estimate.utilization == pytest.approx(1.0, abs=1e-3)


def test_what_cannot_be_shed_enough_is_refused() -> None:
    known = replace(example_1(1.0).known, rows_warmup=1.0)
    with pytest.raises(PlanError, match="no plan fits"):
        decide(known, PlanOptions(sheds=True))


@pytest.mark.parametrize("size", [10, 15])
def test_large_queries_are_planned(size: int) -> None:
    problem = random_problem(1, size)
    decision = decide(problem.known)
    assert {flow.alias for flow in problem.inputs} == set(decision.chosen.estimate.keep)


def test_from_order_stays_unless_another_is_clearly_better() -> None:
    """Going by measured costs of batches, a gain of some percent is no reason to change."""
    problem = example_1(0.0005)
    costs = Costs("measured", arrive=1e-6, probe=1e-9, batch=0.1)
    chosen = decide(replace(problem.known, costs=costs)).chosen
    assert render_plan(chosen.plan) == render_plan(default_plan(problem.query))
    costs = Costs("measured", probe=1e-6)
    assert shape_of(decide(replace(problem.known, costs=costs)).plan) == "((B C) A)"

"""Preferences: each gives all plans in an order, and a reason where it puts another one first."""

from __future__ import annotations

import pytest

from penstock.bench.planning import Asked, known_of
from penstock.optimize import planner
from penstock.optimize.model.problem import Problem
from penstock.optimize.options import PlanOptions
from penstock.optimize.planner import decide
from penstock.optimize.preferences.best_for_goal import best_for_goal
from penstock.optimize.preferences.forced import forced
from penstock.optimize.preferences.order import PREFERENCES
from penstock.optimize.preferences.preference import Context, Plans, Preferred, put_first
from penstock.optimize.propose import proposals
from penstock.optimize.weigh import weighed
from penstock.plan.text.parse import render_plan
from penstock.query.goal import By, First, Steady

ASKED = [
    Asked("chain", 3),
    Asked("star", 4, "mixed"),
    Asked("one key", 3, is_view=True),
    Asked("clique", 3, "rows", is_view=True),
]
GOALS = (Steady(), First(20), By(5.0))


def context_of(asked: Asked, options: PlanOptions) -> Context:
    known = known_of(asked)
    return Context(Problem(known.query, known), options)


def plans_of(context: Context) -> Plans:
    problem, options = context.problem, context.options
    return weighed(problem, options, proposals(problem, options))


def test_all_plans_stay_and_a_reason_is_given_for_a_change_only() -> None:
    for asked in ASKED:
        for goal in GOALS:
            context = context_of(asked, PlanOptions(goal=goal))
            plans = plans_of(context)
            for prefer in PREFERENCES:
                found = prefer(plans, context)
                assert set(map(id, found.plans)) == set(map(id, plans))
                is_new = found.plans[0] is not plans[0] or prefer is best_for_goal
                assert (found.reason is not None) == is_new
                plans = found.plans


def test_only_a_steady_plan_gives_way_to_a_safer_one() -> None:
    _, _, *safer = PREFERENCES
    for asked in ASKED:
        for options in (
            *(PlanOptions(goal=goal) for goal in GOALS[1:]),
            PlanOptions(plan="| early A" if asked.is_view else "A: B; B: A"),
        ):
            context = context_of(asked, options)
            plans = best_for_goal(plans_of(context), context).plans
            assert all(prefer(plans, context).plans == plans for prefer in safer)


def test_a_forced_plan_comes_first_and_once() -> None:
    for asked in ASKED[:2]:
        best = decide(known_of(asked)).others[0].plan
        context = context_of(asked, PlanOptions(plan=render_plan(best)))
        found = forced(best_for_goal(plans_of(context), context).plans, context)
        assert [render_plan(each.plan) for each in found.plans].count(render_plan(best)) == 1
        assert found.plans[0].plan == best
        assert found.reason is not None
        assert found.reason(found.plans[0]).startswith("forced by --plan; ")


def test_the_reasons_are_those_that_explain_gives() -> None:
    for asked in ASKED:
        context = context_of(asked, PlanOptions())
        plans, own, default = plans_of(context), [], ""
        for prefer in PREFERENCES:
            found = prefer(plans, context)
            plans = found.plans
            if found.is_default and found.reason is not None:
                default = found.reason(plans[0])
            elif found.reason is not None:
                own.append(found.reason(plans[0]))
        assert decide(known_of(asked)).reason == ("; ".join(own) or default)


@pytest.mark.parametrize("place", range(len(PREFERENCES) + 1))
def test_a_preference_is_told_wherever_it_stands(
    place: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def last_first(plans: Plans, context: Context) -> Preferred:
        return put_first(plans, plans[-1], "the last comes first")

    order = (*PREFERENCES[:place], last_first, *PREFERENCES[place:])
    monkeypatch.setattr(planner, "PREFERENCES", order)
    assert "the last comes first" in decide(known_of(ASKED[0])).reason.split("; ")

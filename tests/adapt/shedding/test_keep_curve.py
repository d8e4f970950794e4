"""The keep curve: what to keep of each stream for every budget of work."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from penstock.adapt.shedding.keep_curve import KeepCurve, keep_curve
from penstock.api import sql
from penstock.cli.demo.site import Site
from penstock.figure import Figure
from penstock.optimize.algebra.posynomial import value
from penstock.optimize.model.problem import Problem
from penstock.optimize.shedding.keeping import by_alias, fractions_of_one
from penstock.plan.text.parse import forced_plan

ORDERS = "bid: auction person; auction: bid person; person: auction bid"
PLANS = [f"{ORDERS} | early auction person", "((bid auction) person) | early person"]


def curve_of(plan: str) -> KeepCurve:
    query = sql(Site(people=300, seconds=20).rushed(2))
    return keep_curve(query.known, forced_plan(query.query, plan))


@pytest.mark.parametrize("plan", PLANS)
def test_a_point_leaves_as_much_as_any_stream_alone_would(plan: str) -> None:
    """Estimates multiply the weights of all streams that are shed, so that one may be better."""
    curve = curve_of(plan)
    needed = value(curve.points[0].load, curve.points[0].fractions)
    budgets = needed * np.geomspace(1.0, 0.01, len(curve.points))
    found = 0
    for place, budget in enumerate(budgets[1:], 1):
        known = replace(curve.problem.known, capacity=Figure(float(budget), "measured"))
        problem = Problem(known.query, known)
        alone = [fractions_of_one(problem, curve.plan, one) for one in range(3)]
        ones = [by_alias(problem, x) for x in alone if x is not None]
        left = curve.share(curve.kept(float(place)))
        assert all(left >= curve.share(kept) - 1e-9 for kept in ones)
        found += curve.kept(float(place)) in ones
    assert found


def test_one_stream_is_not_enough_where_others_take_the_capacity() -> None:
    query = sql(Site(people=300, seconds=20).rushed(2))
    plan = forced_plan(query.query, PLANS[0])
    known = replace(query.known, capacity=Figure(1e-9, "measured"))
    assert fractions_of_one(Problem(known.query, known), plan, 2) is None


@pytest.mark.parametrize("plan", PLANS)
def test_every_point_takes_less_than_the_one_before(plan: str) -> None:
    curve = curve_of(plan)
    works = [value(point.load, point.fractions) for point in curve.points]
    assert works == sorted(works, reverse=True)

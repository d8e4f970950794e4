"""Where tuples may be shed, nothing is aggregated before the join unless that is much less work."""

from __future__ import annotations

from penstock.adapt.planning.weighing import Question, weigh
from penstock.optimize.options import PlanOptions
from penstock.optimize.planner import decide
from penstock.stats.known import Known
from support.plans.recomputed import known_of, view

KEPT = PlanOptions(off=frozenset({"recompute"}))
SHED = PlanOptions(off=frozenset({"recompute"}), sheds=True)


def known(distinct: int) -> Known:
    """A view over a join of two streams by so many keys: the fewer they are, the more folds."""
    costs = {"insert": 2e-7, "probe": 3e-7, "compare": 1e-8, "fold": 1e-8}
    return known_of(view(m=2), distinct, costs=costs)


def test_a_fifth_less_work_is_not_enough() -> None:
    found, shed = (decide(known(3000), options) for options in (KEPT, SHED))
    assert found.plan.early
    assert not shed.plan.early
    assert shed.reason.startswith("nothing is aggregated before the join, as tuples may be shed")
    assert "and not 50 % of it or less" in shed.reason
    others = [weigh(Question(lambda: known(3000), each, shed.plan, {})) for each in (KEPT, SHED)]
    assert [any(each.plan.early for each in one.others) for one in others] == [True, False]


def test_a_fifth_of_the_work_is() -> None:
    shed = decide(known(300), SHED)
    assert shed.plan.early
    assert any(
        each.plan.early for each in weigh(Question(lambda: known(300), SHED, shed.plan, {})).others
    )

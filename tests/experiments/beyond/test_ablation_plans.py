"""The query whose optimisations are switched off, and what is said of its times."""

from __future__ import annotations

from penstock.calibration.batch_runs import BatchRun
from penstock.experiments.beyond.ablation import (
    QUICK,
    SWITCHES,
    TOGETHER,
    ablation,
    findings_of,
    known_of,
    plans_of,
    query_of_extent,
)
from penstock.plan.plan import Plan


def test_some_optimisations_change_the_plan_and_none_makes_it_dearer() -> None:
    ran: list[Plan] = []

    def run(plan: Plan) -> BatchRun:
        ran.append(plan)
        return BatchRun(9.0, 1, 1, 0, cpu=1.0 + (not plan.early))

    found = ablation(QUICK, run, "nowhere", lambda done, of: None)
    assert list(found.predicted) == [*SWITCHES, TOGETHER]
    assert min(found.predicted.values()) > 0.99
    assert found.predicted["early-aggregation"] > 5.0
    assert found.measured["early-aggregation"] == 2.0
    # Of a recomputed view one stream drives, so that the orders of others change nothing.
    assert found.predicted["probe-order"] == found.measured["probe-order"] == 1.0
    # Each plan that differs, and no other, twice.
    assert 8 <= len(ran) <= 2 * len(SWITCHES)
    assert [claim.verdict for claim in findings_of(found).claims] == ["holds"] * 3


def test_filters_are_ordered_by_what_they_remove_for_what_they_cost() -> None:
    plans = plans_of(known_of(query_of_extent(QUICK)))
    first = {name: str(plan.query.filters[0]) for name, plan in plans.items()}
    assert first[""] == "B.v < 500"
    assert first["filter-order"].startswith("LENGTH")

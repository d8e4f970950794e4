"""T&L's setting: full windows, named plans, and runs that the model's counts can stand beside."""

from __future__ import annotations

import pytest

from penstock.bench.early.settings import plans_of
from penstock.experiments.aggregation_join.on_spark import (
    Run,
    predicted,
    spark_claims,
    speedups,
    workload_of,
)
from penstock.experiments.aggregation_join.setting import (
    aggregating,
    costs_of,
    filled_tuples,
    plan_name,
    plan_of,
)
from penstock.lab.views.aggregation_join import run_view
from penstock.papers.aggregation_join import Stream, plans
from penstock.plan.multiway import Method
from support.lab.aggregation import rows_of_table

STREAMS = (Stream(40, 100, 5, 0.1), Stream(60, 50, 3, 0.1))


def test_plans_have_the_names_of_the_paper() -> None:
    assert [plan_name(early) for early in plans(2)] == ["LAP", "EAP01", "EAP10", "EAP11"]
    assert plan_of(aggregating(STREAMS), "nested", (True, False)).early == ("S1",)


def test_windows_are_full_before_work_is_counted() -> None:
    tuples = filled_tuples(STREAMS)
    assert [len(tuples[name]) for name in ("S1", "S2")] == [140, 110]
    times = tuples["S1"].column("#ts").to_pylist()
    assert times == sorted(times)
    assert sum(time >= 2_000_000 for time in times) == 40


@pytest.mark.parametrize("method", ["nested", "hash"])
def test_all_plans_give_the_same_view(method: Method) -> None:
    tuples, query = filled_tuples(STREAMS), aggregating(STREAMS)
    found = [
        rows_of_table(run_view(plan_of(query, method, early), tuples).view) for early in plans(2)
    ]
    assert len(found[0]) == 15
    assert all(rows == found[0] for rows in found)


def test_late_nested_loops_take_what_the_model_says() -> None:
    """Where chains of groups have one group, every term of the model is a count."""
    costs = costs_of((Stream(40, 100, 5, 0.1), Stream(60, 50, 1, 0.1)), "nested")
    assert costs.counted["LAP"] == pytest.approx(costs.model["LAP"], rel=0.02)
    assert min(costs.counted, key=lambda name: costs.counted[name]) == "EAP11"


def test_claims_about_runs_on_spark() -> None:
    good = {"LAP": Run(6.0, 800), "EAP11": Run(2.0, 800)}
    assert [claim.verdict for claim in spark_claims(good)] == ["holds", "holds"]
    assert [claim.timed for claim in spark_claims(good)] == [False, True]
    slow = {"LAP": Run(2.0, 800), "EAP10": Run(1.0, 799), "EAP11": Run(1.9, 800)}
    assert [claim.verdict for claim in spark_claims(slow)] == ["partly", "fails"]


def test_the_model_foresees_that_both_fold() -> None:
    workload = workload_of(2)
    faster = speedups(predicted(workload, plans_of(workload.query())))
    assert max(faster, key=lambda name: faster[name]) == "EAP11"
    assert faster["EAP11"] > 10

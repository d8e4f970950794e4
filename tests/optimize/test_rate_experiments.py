"""V&N's experiments (§5), planned: where plans cross, and what cardinalities alone choose."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from penstock.calibration.planned_clock import as_planned, own_costs
from penstock.duration import MICROS
from penstock.engine.rows.columns import ARRIVAL, TS
from penstock.errors import PlanError
from penstock.lab.clock import SimulatedClock
from penstock.lab.laboratory import run
from penstock.lab.schedule import Eager
from penstock.optimize.curves.curve import curve_of
from penstock.optimize.model.problem import Problem
from penstock.optimize.options import Estimator, PlanOptions
from penstock.optimize.planner import decide
from penstock.plan.decision import Decision
from penstock.plan.explain import explain
from penstock.plan.plan import Plan
from penstock.plan.text.parse import forced_plan, render_plan
from penstock.query.goal import By, First
from penstock.stats.known import Known
from support.plans.viglas import (
    EVENLY_SPREAD,
    FAST_LEAVES,
    FIVE,
    LEFT_DEEP,
    LINKS,
    SCALE,
    THREE,
    viglas,
)

ALL = First(0, 1.0)
TREES = PlanOptions(kinds=frozenset({"tree"}), servers="each")


@pytest.fixture(scope="module")
def five() -> Known:
    """With a tenth of the printed selectivities, as in the 3-way case."""
    return viglas(FIVE, 0.1)


@pytest.fixture(scope="module")
def three() -> Known:
    return viglas(THREE, SCALE)


def decided(known: Known, estimator: Estimator = "rates", plan: str | None = None) -> Decision:
    return decide(known, replace(TREES, goal=ALL, estimator=estimator, plan=plan))


@pytest.mark.parametrize(
    ("results", "lower"), [(500, "A B"), (1_000, "A B"), (3_000, "A C"), (85_000, "A C")]
)
def test_the_plan_follows_the_crossing(three: Known, results: int, lower: str) -> None:
    """§5.2, Fig. 7 and 9: one plan is ahead for the first 2,000 results, the other after them."""
    assert f"({lower})" in render_plan(decide(three, replace(TREES, goal=First(results))).plan)


def test_the_plan_for_a_time_follows_it_too(three: Known) -> None:
    early, late = (decide(three, replace(TREES, goal=By(t))).plan for t in (25.0, 120.0))
    assert (render_plan(early), render_plan(late)) == ("((A B) C)", "((A C) B)")


def test_a_share_is_so_many_results(three: Known) -> None:
    quarter = decide(three, replace(TREES, goal=First(0, 0.25)))
    number = decide(three, replace(TREES, goal=First(22_500)))
    assert quarter.goal == First(22_500, 0.25)
    assert quarter.chosen.estimate.measure == number.chosen.estimate.measure
    assert "first:25% is 22,500 results" in quarter.notes
    assert "goal    first:25% after" in explain(quarter, "text", False)


def test_a_share_of_endless_streams_is_refused(three: Known) -> None:
    endless = replace(three, cardinalities={})
    with pytest.raises(PlanError, match="first:25% is a share of all results") as refused:
        decide(endless, replace(TREES, goal=First(0, 0.25)))
    assert "first:1000" in str(refused.value.hint)


def test_cardinalities_prefer_fast_leaves_and_rates_evenly_spread(five: Known) -> None:
    """Table 6. Both have one intermediate result of the same size: what tells them apart for the
    traditional cost is that a table is built of the smaller side."""
    plans = {
        name: decided(five, "cardinality", name).chosen.estimate
        for name in (LEFT_DEEP, FAST_LEAVES, EVENLY_SPREAD)
    }
    costs = {name: each.by_cardinality or 0.0 for name, each in plans.items()}
    ends = {name: each.measure or 0.0 for name, each in plans.items()}
    assert costs[FAST_LEAVES] < costs[EVENLY_SPREAD] < costs[LEFT_DEEP]
    assert ends[EVENLY_SPREAD] < 0.8 * ends[FAST_LEAVES] < 0.8 * ends[LEFT_DEEP]


def test_the_estimators_choose_so_of_all_trees(five: Known) -> None:
    traditional, by_rate = decided(five, "cardinality"), decided(five)
    assert "(D E)" in render_plan(traditional.plan)
    assert "((B D) E)" in render_plan(by_rate.plan)
    assert traditional.reason.startswith("least work by cardinalities, whatever the rates, of 105")
    (note,) = (n for n in traditional.notes if n.startswith("by rates"))
    assert render_plan(by_rate.plan) in note
    said = explain(traditional, "text", True)
    assert "by cardinality" in said
    assert '"cardinality_cost"' in explain(traditional, "json", True)
    assert "cardinality" not in explain(by_rate, "json", True)


def test_what_has_no_cardinality_is_refused(five: Known) -> None:
    endless = replace(five, cardinalities={})
    with pytest.raises(PlanError, match="never ends and has no window") as refused:
        decide(endless, replace(TREES, estimator="cardinality"))
    assert refused.value.hint is not None
    with pytest.raises(PlanError, match="join trees only"):
        decide(five, PlanOptions(estimator="cardinality", kinds=frozenset({"multiway", "mesh"})))


# ── in the laboratory ─────────────────────────────────────────────────────────────────────────────


def test_the_laboratory_crosses_where_the_prediction_does(three: Known) -> None:
    """Poisson arrivals, a server for each join, 5 ms for each row that comes to A.c = C.c."""
    plans = [forced_plan(three.query, text) for text in ("((A B) C)", "((A C) B)")]
    tuples = arrivals(three, np.random.default_rng(1))
    measured = [times_of(three, plan, tuples) for plan in plans]
    problem = Problem(three.query, three, servers="each")
    for count in (1_000, 10_000, 60_000):
        for plan, times in zip(plans, measured, strict=True):
            predicted = curve_of(problem, plan, 300.0).time_of(count)
            assert predicted == pytest.approx(times[count - 1], rel=0.1)
    b_first, c_first = measured
    assert b_first[499] < c_first[499]
    assert b_first[9_999] > c_first[9_999]


def arrivals(known: Known, rng: np.random.Generator) -> dict[str, pa.Table]:
    """Tuples with values so many that keys are as selective as they are said to be."""
    found = {}
    for alias, (rows, delay) in THREE.items():
        gaps = rng.exponential(delay / 1000, rows)
        columns = {
            other.lower(): rng.integers(0, round(1 / (LINKS[link] * SCALE)), rows)
            for link in ("AB", "AC")
            if alias in link
            for other in link[1]
        }
        wanted = {field.name for field in known.query.input(alias).source.fields}
        table = {name: values for name, values in columns.items() if name in wanted}
        table |= {
            TS: np.rint(np.cumsum(gaps) * MICROS).astype(np.int64),
            ARRIVAL: np.arange(rows),
        }
        found[alias] = pa.table(table)
    return found


def times_of(known: Known, plan: Plan, tuples: dict[str, pa.Table]) -> list[float]:
    clock = SimulatedClock(as_planned(known.costs), "each", own_costs(known))
    outcome = run(plan, tuples, Eager(), clock=clock)
    seconds: list[float] = (outcome.produced_at / MICROS).tolist()
    return seconds

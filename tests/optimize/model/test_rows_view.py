"""Views over ROWS windows: the predicted work is that of the batches which have a tick."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from itertools import pairwise

import pytest

from penstock.calibration.workload import MadeStream, Workload
from penstock.engine.local import open_run
from penstock.engine.reports.report import Report
from penstock.engine.run.options import RunOptions
from penstock.engine.sinks.sink import noop
from penstock.errors import PlanError
from penstock.figure import Figure
from penstock.optimize.estimate import needed_by
from penstock.optimize.model.problem import Problem
from penstock.optimize.options import PlanOptions
from penstock.optimize.planner import decide
from penstock.plan.default_plan import default_plan
from penstock.plan.plan import Plan
from penstock.plan.text.parse import forced_plan
from penstock.stats.costs import Costs
from penstock.stats.guess import DEFAULT_COSTS, complete

SECONDS = 24
FREE = Costs("declared", insert=0.0, probe=0.0, expire=0.0, compare=0.0, fold=0.0, tally=0.0)
VISITS, MATCHES = replace(FREE, probe=1.0), replace(FREE, compare=1.0)


def workload_of(every: float, streams: int = 2) -> Workload:
    """Windows of 300 tuples, full after a second and a half, in batches of a second."""
    made = tuple(MadeStream(name, 200, {"k": 20}, rows=300, groups=4) for name in "ABC"[:streams])
    return Workload(made, float(SECONDS), batches=SECONDS, every=every)


def predicted(workload: Workload, plan: Plan, costs: Costs | None = None) -> float:
    """Work a second by the model, at the given costs."""
    query = workload.query()
    return needed_by(Problem(query, complete(query, workload.statistics(), costs)), plan)


def kept() -> float:
    """Work a second of windows that are hardly ever joined."""
    workload = workload_of(1e9)
    return predicted(workload, default_plan(workload.query()))


def counted(plan: Plan, filled: int = 4) -> tuple[float, float]:
    """Rows a second that came to probes, and that came out of them, once windows are full."""
    reports: list[Report] = []
    with tempfile.TemporaryDirectory() as folder:
        options = RunOptions(sink=noop(), checkpoint=f"{folder}/run", report=reports.append)
        open_run(plan, options).available_now()
    probes = [
        o for report in reports[filled:SECONDS] for o in report.operators if o.kind == "probe"
    ]
    seconds = SECONDS - filled
    return sum(o.went_in for o in probes) / seconds, sum(o.came_out for o in probes) / seconds


@pytest.mark.parametrize("early", [(), ("A",), ("A", "B")])
def test_work_falls_with_the_time_between_evaluations(early: tuple[str, ...]) -> None:
    found = []
    for every in (0.001, 1.0, 4.0, 20.0, 100.0):
        workload = workload_of(every)
        plan = replace(default_plan(workload.query()), early=early)
        found.append(predicted(workload, plan))
    # Batches have a second, so that evaluations within one take no more joins.
    assert found[0] >= found[1]
    assert all(after < before for before, after in pairwise(found[1:]))
    # Windows are kept whether something is joined or not.
    assert found[4] - kept() < 0.1 * (found[1] - kept())


@pytest.mark.parametrize("text", ["A: B C; B: A C; C: A B", "((A B) C)"])
def test_tuples_between_evaluations_are_taken_in_and_windows_written(text: str) -> None:
    workload = workload_of(1e9, 3)
    plan = forced_plan(workload.query(), text)
    inserts, moves = replace(FREE, insert=1.0), replace(FREE, move=1.0)
    assert predicted(workload, plan, inserts) == pytest.approx(3 * 200, rel=1e-3)
    assert predicted(workload, plan, moves) == pytest.approx(3 * (200 + 300), rel=1e-3)
    assert predicted(workload, plan, VISITS) == pytest.approx(0.0, abs=1e-3)


def test_between_evaluations_work_grows_with_what_comes_but_not_with_the_cost_of_a_join() -> None:
    workload = workload_of(1e9)
    more = replace(
        workload, streams=tuple(replace(stream, rate=100 * 200) for stream in workload.streams)
    )
    plan = default_plan(workload.query())
    each = DEFAULT_COSTS.move + DEFAULT_COSTS.insert + DEFAULT_COSTS.expire
    came = 2 * (100 - 1) * 200
    assert predicted(more, plan) - predicted(workload, plan) == pytest.approx(came * each, rel=0.01)
    assert predicted(more, plan, Costs("declared", join=1.0)) < 1e-2


@pytest.mark.parametrize("every", [1.0, 5.0])
@pytest.mark.parametrize("streams", [2, 3])
def test_predicted_visits_and_matches_are_those_that_are_counted(
    every: float, streams: int
) -> None:
    workload = workload_of(every, streams)
    plan = default_plan(workload.query())
    visits, matches = counted(plan)
    assert predicted(workload, plan, VISITS) == pytest.approx(visits, rel=0.15)
    assert predicted(workload, plan, MATCHES) == pytest.approx(matches, rel=0.15)


def test_what_early_inputs_fold_to_is_near_what_is_counted() -> None:
    workload = workload_of(5.0)
    plan = replace(default_plan(workload.query()), early=("A", "B"))
    visits, matches = counted(plan)
    late = predicted(workload, default_plan(workload.query()), MATCHES)
    assert predicted(workload, plan, VISITS) == pytest.approx(visits, rel=0.5)
    assert predicted(workload, plan, MATCHES) == pytest.approx(matches, rel=0.5)
    assert matches < 0.5 * late


def some_groups_change(every: float, streams: int) -> Workload:
    """Windows of 1,500 tuples, full after eight seconds, of so many keys and groups that few of
    them change in a batch."""
    made = tuple(
        MadeStream(name, 200, {"k": 3_000}, rows=1_500, groups=5_000) for name in "ABC"[:streams]
    )
    return Workload(made, float(SECONDS), batches=SECONDS, every=every)


@pytest.mark.parametrize(("every", "streams"), [(1.0, 2), (4.0, 2), (1.0, 3)])
def test_predicted_visits_are_those_of_what_has_changed(every: float, streams: int) -> None:
    workload = some_groups_change(every, streams)
    plan = default_plan(workload.query())
    visits, matches = counted(plan, filled=10)
    whole = 1_500 * streams / max(1.0, every)
    assert visits < 0.75 * whole
    assert predicted(workload, plan, VISITS) == pytest.approx(visits, rel=0.25)
    assert predicted(workload, plan, MATCHES) == pytest.approx(matches, rel=0.25)


def test_trees_join_whole_windows_too() -> None:
    workload = workload_of(5.0, 3)
    plan = forced_plan(workload.query(), "((A B) C)")
    _, matches = counted(plan)
    assert predicted(workload, plan, MATCHES) == pytest.approx(matches, rel=0.15)


def test_shedding_does_not_make_whole_windows_smaller() -> None:
    workload = workload_of(1.0)
    query = workload.query()
    statistics = replace(workload.statistics(), capacity=Figure(1e-6, "declared"))
    with pytest.raises(PlanError, match="even when all that can be is shed") as raised:
        decide(complete(query, statistics), PlanOptions(sheds=True))
    assert "a longer EVERY" in (raised.value.hint or "")

"""Views in the laboratory as they are told: the changes of the reference at every tick."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from penstock.duration import MICROS
from penstock.engine.sinks.sink import noop
from penstock.errors import PlanError
from penstock.lab.clock import ClockCosts, RealClock, SimulatedClock
from penstock.lab.experiment import run_experiment
from penstock.lab.schedule import Eager, Lazy
from penstock.lab.view_experiment import run_view_experiment
from penstock.lab.views.told import tell_view
from penstock.plan.default_plan import default_plan
from penstock.plan.drops import DropBoxes
from penstock.plan.text.parse import forced_plan
from penstock.query import Call, Literal
from penstock.query.types import DataType
from support.lab.aggregation import any_plan, random_aggregation
from support.lab.laboratory import tables_of
from support.streams.cases import Case, canonical
from support.streams.viewed import ask
from support.streams.views import expected_in_micros


def told_case(seed: int) -> Case:
    """A view that is told eagerly or every so often, of all groups or of some."""
    rng = Random(f"told {seed}")
    case = random_aggregation(seed)
    assert case.query.view is not None
    view = replace(case.query.view, every=rng.choice((1, 3 * MICROS, 20 * MICROS)))
    if rng.random() < 0.3:
        rows = view.aggregates[0].column
        having = Call("gt", (rows, Literal(1, DataType.BIGINT)), DataType.BOOLEAN)
        view = replace(view, having=having)
    return replace(case, query=replace(case.query, view=view))


def rows_told(changes: pa.Table) -> Counter[tuple[Any, ...]]:
    times = changes.column("_time").cast(pa.int64()).to_pylist()
    values = [column.to_pylist() for column in changes.drop_columns(["_time", "_change"]).columns]
    return canonical(zip(times, changes.column("_change").to_pylist(), *values, strict=True))


@pytest.mark.parametrize("seed", range(80))
def test_every_plan_tells_what_the_reference_does(seed: int) -> None:
    case = told_case(seed)
    plan = any_plan(Random(seed), case.query)
    told = tell_view(plan, tables_of(case))
    assert rows_told(told.changes) == expected_in_micros(case, case.query)
    times = told.changes.column("_time").cast(pa.int64()).to_pylist()
    assert times == sorted(times)


def test_the_cases_tell_something() -> None:
    told = [tell_view(default_plan(c.query), tables_of(c)) for c in map(told_case, range(40))]
    assert sum(len(each.changes) > 10 for each in told) > 15


def test_a_simulated_clock_charges_all_that_is_compared() -> None:
    case = told_case(3)
    tables, plan = tables_of(case), default_plan(case.query)
    clock = SimulatedClock(ClockCosts(inserts=2.0, compares=1.0))
    outcome = run_view_experiment(plan, tables, clock)
    done = outcome.aggregation
    assert done is not None
    compared = done.compares + done.fold_compares + done.group_compares
    assert outcome.busy == pytest.approx(2.0 * done.inserts + compared)
    assert outcome.work.results == len(outcome.results)


JOIN = "FROM A [ROWS 5], B [RANGE 1 MINUTE] WHERE A.k = B.k GROUP BY A.k EVERY 5 SECONDS"


@pytest.mark.parametrize(
    ("select", "plan", "why"),
    [
        ("COUNT(*) AS n", "(A B)", "multi-way joins of views that are kept"),
        ("MAX(A.x) AS top", "A: B; B: A", "MAX, which no tuple can be taken out of"),
        ("SUM(A.y) AS s", "A: B; B: A", "SUM of anything but whole numbers"),
    ],
)
def test_views_that_it_does_not_run_are_refused(select: str, plan: str, why: str) -> None:
    query = ask(f"SELECT A.k, {select} {JOIN}")
    with pytest.raises(PlanError, match=why):
        run_experiment(forced_plan(query, plan), noop(), Eager(), clock=RealClock())


def test_ways_of_running_that_a_view_has_not_are_refused() -> None:
    plan = default_plan(ask(f"SELECT A.k, COUNT(*) AS n {JOIN}"))
    with pytest.raises(PlanError, match="tuple by tuple"):
        run_experiment(plan, noop(), Lazy(MICROS), clock=RealClock())
    each = SimulatedClock(ClockCosts(), servers="each")
    with pytest.raises(PlanError, match="one operator"):
        run_experiment(plan, noop(), Eager(), clock=each)
    shed = replace(plan, drops=DropBoxes((("A", 0.5),)))
    with pytest.raises(PlanError, match="drop boxes"):
        run_experiment(shed, noop(), Eager(), clock=RealClock())

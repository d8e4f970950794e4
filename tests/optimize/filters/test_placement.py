"""Expensive filters wait for the results where that is cheaper, and change no result."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from penstock.lab.laboratory import run
from penstock.lab.schedule import Eager
from penstock.optimize.model.problem import Problem
from penstock.optimize.options import PlanOptions
from penstock.optimize.planner import decide
from penstock.plan.default_plan import default_plan
from penstock.plan.plan import Plan
from penstock.query import Query
from penstock.stats.costs import Costs
from reference import answer
from support.engines.runs import Place, first_files_only, random_tree, run_local
from support.lab.laboratory import rows_of, tables_of
from support.plans.planning import problem_of, query_of
from support.streams.cases import canonical, random_case, write_case

# Cases of two inputs or more with filters; a test watches that these are all below 80.
FILTERED = (
    1, 4, 10, 16, 22, 24, 27, 30, 36, 44, 45, 50,
    51, 52, 59, 60, 61, 65, 66, 69, 71, 72, 77, 78,
)  # fmt: skip


def has_filters(seed: int) -> bool:
    query = random_case(seed).query
    return len(query.inputs) > 1 and any(c.streams for c in query.filters)


def waiting(query: Query) -> Query:
    """The query with all its filters among the predicates of the joins."""
    late = tuple(c for c in query.filters if c.streams)
    first = tuple(c for c in query.filters if not c.streams)
    return replace(query, filters=first, thetas=query.thetas + late)


def slow_filter(cost: float, selectivity: float) -> Problem:
    query = query_of(
        "SELECT A.k FROM A [RANGE 10 SECONDS], B [RANGE 10 SECONDS] WHERE A.k = B.k AND A.v > 3",
        {"A": "k v", "B": "k"},
    )
    (condition,) = map(str, query.filters)
    return problem_of(
        query,
        {"A": 1000.0, "B": 1000.0},
        {"A B": 1e-7},
        Costs("declared", join=1e-6),
        {condition: (selectivity, cost)},
    )


def test_a_slow_filter_waits_for_a_rare_join() -> None:
    """1,000 tuples/s at 0.5 ms are half a second of work; the join leaves two results/s."""
    problem = slow_filter(cost=5e-4, selectivity=0.5)
    decision = decide(problem.known)
    assert decision.plan.query.filters == ()
    assert decision.plan.query.thetas == problem.query.filters
    assert decision.chosen.estimate.utilization == pytest.approx(0.002 + 2 * 5e-4)
    assert decision.chosen.estimate.output_rate == pytest.approx(1.0)


def test_it_comes_first_where_it_spares_more() -> None:
    for problem in (slow_filter(1e-6, 0.5), slow_filter(2e-5, 0.5)):
        dense = problem.known.groups[0]
        known = problem.known
        if known.conditions[str(problem.query.filters[0])].cost.value > 1e-5:
            crowded = {k: replace(figure, value=0.01) for k, figure in dense.items()}
            known = replace(known, groups=(crowded,))
        assert decide(known).plan.query.filters == problem.query.filters


def test_the_switch_keeps_filters_first() -> None:
    problem = slow_filter(cost=5e-4, selectivity=0.5)
    decision = decide(problem.known, PlanOptions(off=frozenset({"late-filters"})))
    assert decision.plan.query.filters == problem.query.filters
    assert decision.chosen.estimate.utilization == pytest.approx(0.5 + 0.0015)


def test_the_cases_are_all_that_have_filters() -> None:
    assert tuple(filter(has_filters, range(80))) == FILTERED


@pytest.mark.parametrize("seed", [s for s in FILTERED if s < 40])
def test_filters_that_wait_change_no_result(seed: int, tmp_path: Path) -> None:
    case = random_case(seed)
    expected = canonical(answer(case.query, case.batches))
    query = waiting(write_case(case, tmp_path / "in"))
    plans: tuple[Plan, ...] = (default_plan(query), random_tree(query, Random(seed)))
    for number, plan in enumerate(plans):
        place = Place(tmp_path / str(number))
        run_local(query, place, plan=plan)
        assert canonical(place.results(query)) == expected


@pytest.mark.parametrize("seed", FILTERED)
def test_nor_do_they_in_the_laboratory(seed: int) -> None:
    case = random_case(seed)
    query = waiting(case.query)
    for plan in (default_plan(query), random_tree(query, Random(seed))):
        outcome = run(plan, tables_of(case), Eager())
        assert canonical(rows_of(outcome)) == canonical(answer(case.query, case.batches))


@pytest.mark.parametrize("seed", FILTERED[:12])
@pytest.mark.parametrize("is_late_first", [True, False])
def test_a_checkpoint_keeps_filters_where_they_are(
    seed: int, is_late_first: bool, tmp_path: Path
) -> None:
    """What is in the state has been filtered or not; a later plan must go by that."""
    case = random_case(seed)
    query = write_case(case, tmp_path / "in")
    first, second = (waiting(query), query) if is_late_first else (query, waiting(query))
    place = Place(tmp_path)
    with first_files_only(query, 1):
        run_local(first, place, plan=random_tree(first, Random(seed)), drain=False)
    run_local(second, place, plan=random_tree(second, Random(seed + 1)))
    assert canonical(place.results(query)) == canonical(answer(case.query, case.batches))

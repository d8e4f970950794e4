"""Aggregation before the join: what inputs fold to, which sets are weighed, and which one wins."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np
import pytest

from penstock.errors import PlanError
from penstock.figure import Figure
from penstock.optimize.curves.arrivals import arrivals_of
from penstock.optimize.estimate import estimate, needed_by
from penstock.optimize.model.distinct import cells_of, combinations, distinct_values, occupied
from penstock.optimize.model.folding import with_early
from penstock.optimize.model.problem import Problem
from penstock.optimize.model.statistics_used import statistics_used
from penstock.optimize.options import PlanOptions
from penstock.optimize.planner import decide
from penstock.optimize.views.early import LATE, early_sets
from penstock.plan.aggregation_sets import set_columns
from penstock.plan.decision import Decision
from penstock.plan.default_plan import default_plan
from penstock.plan.explain.figures import figures_of
from penstock.plan.explain.json import as_json
from penstock.plan.explain.pictures.graph import graph_of
from penstock.plan.explain.pictures.html import as_html
from penstock.plan.explain.text import as_text
from penstock.plan.text.parse import forced_plan, render_plan
from penstock.query import Query
from penstock.query.expression import render
from penstock.query.goal import STEADY, By, First, Goal
from penstock.stats.files.load import from_data
from penstock.stats.guess import complete
from penstock.stats.known import Known
from support.plans.planning import query_of

COLUMNS = "k l g v"
# Views that are recomputed have tests of their own.
KEPT = PlanOptions(off=frozenset({"recompute"}))


def view(
    groups: str = "A.g", window: str = "RANGE 10 SECONDS", every: str = "EVERY 1 SECOND", m: int = 2
) -> Query:
    """COUNT and SUM over streams A, B, … joined on k."""
    names = "ABCDEF"[:m]
    inputs = ", ".join(f"{name} [{window}]" for name in names)
    where = " AND ".join(f"A.k = {name}.k" for name in names[1:]) or "A.k > 0"
    by = f"GROUP BY {groups}" if groups else ""
    named = [f"{group} AS g{i}" for i, group in enumerate(groups.split(", ")) if group]
    select = ", ".join([*named, "COUNT(*) AS n", f"SUM({names[-1]}.v) AS s"])
    return query_of(
        f"SELECT {select} FROM {inputs} WHERE {where} {by} {every}", dict.fromkeys(names, COLUMNS)
    )


def known_of(
    query: Query, keys: float, groups: float = 100, rate: float = 2000, **more: Any
) -> Known:
    """All that decides about folding is declared."""
    distinct = {"k": keys, "l": keys, "g": groups}
    streams = {
        alias: {"rate": rate, "distinct": {c: n for c, n in distinct.items() if c in COLUMNS}}
        for alias in query.aliases
    }
    return complete(query, from_data({"streams": streams, **more}, query))


def problem_of(query: Query, keys: float, **more: Any) -> Problem:
    return Problem(query, known_of(query, keys, **more))


def early_of(decision: Decision) -> tuple[str, ...]:
    return decision.plan.early


# ---- what there is to fold


def test_occupied_cells() -> None:
    assert occupied(10, 1) == pytest.approx(1)
    assert occupied(10, 10) == pytest.approx(10 * (1 - 0.9**10))
    assert occupied(1, 500) == 1
    assert occupied(1e12, 500) == pytest.approx(500)
    assert occupied(float("inf"), 500) == 500
    assert occupied(10, 0) == 0
    # Half a tuple, as a short tick has it, is no whole row.
    assert occupied(10, 0.5) <= 0.5


def test_occupied_cells_of_random_rows() -> None:
    rng = Random(4)
    trials = [len({rng.randrange(50) for _ in range(80)}) for _ in range(400)]
    assert occupied(50, 80) == pytest.approx(sum(trials) / len(trials), rel=0.01)


def test_sets_are_by_keys_predicates_groups_and_shared_arguments() -> None:
    query = query_of(
        "SELECT A.g, SUM(A.v * B.v) AS s, COUNT(A.l) AS n FROM A [NOW], B [NOW], C [NOW] "
        "WHERE A.k = B.k AND B.l = C.l AND A.g < C.g AND B.g > 3 GROUP BY A.g",
        dict.fromkeys("ABC", COLUMNS),
    )
    sets = {a: [render(e) for e in set_columns(query, a)] for a in query.aliases}
    assert sets == {"A": ["A.k", "A.g", "A.v"], "B": ["B.k", "B.l", "B.v"], "C": ["C.l", "C.g"]}


def test_values_that_are_not_given() -> None:
    query = query_of(
        "SELECT A.g, A.ts, A.v % 7 AS r, COUNT(*) AS n FROM A [NOW], B [NOW] "
        "WHERE A.k = B.k GROUP BY A.g, A.ts, A.v % 7",
        dict.fromkeys("AB", COLUMNS),
    )
    stats = {
        "joins": {"A.k = B.k": {"selectivity": 0.004}},
        "streams": {"A": {"distinct": {"v": 9}}},
    }
    known = complete(query, from_data(stats, query))
    found = {render(o.expression): distinct_values(known, o.expression) for o in query.outputs}
    found |= {render(e): distinct_values(known, e) for e in set_columns(query, "A")}
    assert {text: (f.value, f.origin, f.rule) for text, f in found.items()} == {
        "A.k": (250, "declared", "1/selectivity"),
        "A.g": (100, "guessed", "100 values"),
        "A.ts": (float("inf"), "guessed", "hardly a value twice"),
        "A.v % 7": (9, "guessed", "as what it reads"),
    }


def test_computed_groups_are_what_sets_are_by() -> None:
    """A group that reads one input is computed before the join; of others all columns are kept."""
    query = query_of(
        "SELECT A.v % 7 AS r, A.g + B.g AS s, COUNT(*) AS n FROM A [NOW], B [NOW] "
        "WHERE A.k = B.k GROUP BY A.v % 7, A.g + B.g",
        dict.fromkeys("AB", COLUMNS),
    )
    assert [render(e) for e in set_columns(query, "A")] == ["A.k", "A.v % 7", "A.g"]
    assert [render(e) for e in set_columns(query, "B")] == ["B.k", "B.g"]


def test_cells_that_are_given_count_more_than_columns() -> None:
    """Columns that depend on each other have fewer combinations than if they did not."""
    query = view()
    streams = {"A": {"distinct": {"k": 50, "g": 10}, "cells": 60}, "B": {"distinct": {"k": 50}}}
    known = complete(query, from_data({"streams": streams}, query))
    assert cells_of(known, "A") == Figure(60.0, "declared")
    assert cells_of(known, "B") == Figure(50.0, "guessed", rule="independent columns")
    shown = {each.what: each for each in statistics_used(known)}
    assert shown["different A.k, A.g"].figure.value == 60
    assert shown["different A.g"].is_minor
    assert not shown["different B.k"].is_minor


def test_combinations_multiply_columns_once() -> None:
    query = view(groups="A.k, A.g, A.k + A.g")
    known = known_of(query, keys=20, groups=3)
    assert combinations(known, set_columns(query, "A")) == 60
    assert combinations(known, set_columns(query, "B")) == 20


# ---- the folded problem


def flow(query: Query, keys: float, **more: Any) -> tuple[float, float]:
    """A's rows/s and rows alive once it is folded by 100 groups and so many keys."""
    folded = with_early(problem_of(query, keys, **more), ("A",)).inputs[0]
    return folded.rate, folded.window


def test_sliding_windows_hold_a_set_for_each_tick() -> None:
    a_tick = occupied(1000, 2000)
    assert flow(view(), 10) == pytest.approx((a_tick, 10 * a_tick))


def test_long_ticks_fold_batches_first() -> None:
    query = view(every="EVERY 5 SECONDS")
    assert flow(query, 10) == pytest.approx((occupied(1000, 2000), 2 * occupied(1000, 10_000)))


def test_blocks_and_landmarks_hold_one_set() -> None:
    assert flow(view(window="TUMBLE 10 SECONDS", every=""), 10)[1] == pytest.approx(
        occupied(1000, 10_000)
    )
    assert flow(view(window="UNBOUNDED"), 10)[1] == pytest.approx(1000)


@pytest.mark.parametrize(
    ("window", "every"), [("ROWS 50", "EVERY 1 SECOND"), ("RANGE 10 SECONDS", "")]
)
def test_what_does_not_fold(window: str, every: str) -> None:
    """Tuples of ROWS windows fold where they are joined, and eager views see all tuples apart."""
    problem = problem_of(view(window=window, every=every), 10)
    before, after = problem.inputs[0], with_early(problem, ("A",)).inputs[0]
    assert after.rate == pytest.approx(before.rate, rel=1e-3)
    assert after.window == pytest.approx(before.window, rel=1e-3)
    assert (after.filter_cost > before.filter_cost) == window.startswith("RANGE")


def test_only_the_early_inputs_are_folded() -> None:
    problem = problem_of(view(), 10)
    folded = with_early(problem, ("A",))
    assert folded.inputs[1] == problem.inputs[1]
    assert folded.fractions.tolist() == problem.fractions.tolist()
    assert with_early(problem, LATE) is problem


def test_work_is_that_of_the_rows_that_are_left() -> None:
    """By hand: each tuple is folded; what is left is folded once more, and joins; each row of the
    join is added to its group."""
    query = view()
    problem = problem_of(query, 10, costs={"join": 1e-6})
    a, b = occupied(1000, 2000), occupied(10, 2000)
    rows = (a * 10 * b + b * 10 * a) / 10
    plan = replace(default_plan(query), early=("A", "B"))
    assert needed_by(problem, plan) == pytest.approx(1e-6 * (2 * 2000 + 2 * (a + b) + rows))
    late = 2000 * 20_000 * 2 / 10
    assert needed_by(problem, default_plan(query)) == pytest.approx(1e-6 * (2 * 2000 + late))


def test_groups_cost_their_delivery_whatever_the_plan() -> None:
    query = view()
    costs = {"result": 1e-3, "fold": 0.0, "tally": 0.0}
    problem = problem_of(query, 10, costs=costs)
    for early in early_sets(problem):
        plan = replace(default_plan(query), early=early)
        assert needed_by(problem, plan) == pytest.approx(100 * 1e-3)


def test_estimates_count_sets_as_state() -> None:
    query = view()
    problem = problem_of(query, 10)
    found = estimate(problem, replace(default_plan(query), early=("B",)), STEADY)
    assert found.sets == pytest.approx({"B": 100})
    assert found.state == pytest.approx(20_000 + 100)
    late = estimate(problem, default_plan(query), STEADY)
    assert late.sets == {}
    assert late.output_rate == pytest.approx(found.output_rate)


def test_shed_inputs_fold_less() -> None:
    """What is kept of an early input is enough to keep up, though fewer tuples fold worse."""
    query = view(groups="A.g, B.g")
    problem = problem_of(query, 10, capacity=0.1, rate=5000)
    plan = replace(default_plan(query), early=("A", "B"))
    found = estimate(problem, plan, STEADY)
    assert found.needed > 0.1
    assert found.utilization <= 0.1 * (1 + 1e-6)
    assert found.utilization > 0.08
    late = estimate(problem, default_plan(query), STEADY)
    assert late.output_rate < found.output_rate < found.full_rate


# ---- which sets there are, and which one is chosen


@pytest.mark.parametrize("m", [2, 3, 4, 5])
def test_all_sets_are_weighed(m: int) -> None:
    query = view(m=m)
    problem = problem_of(query, 1e5)
    sets = early_sets(problem)
    assert len(set(sets)) == len(sets) == 2**m
    assert sets[0] == LATE
    decision = decide(problem.known)
    assert {a.plan.early for a in (decision.chosen, *decision.others)} == set(sets)


def test_only_joins_of_views_have_sets() -> None:
    plain = query_of(
        "SELECT A.g FROM A [NOW], B [NOW] WHERE A.k = B.k", dict.fromkeys("AB", COLUMNS)
    )
    for query in (plain, view(m=1)):
        assert early_sets(problem_of(query, 1000)) == (LATE,)


SLIDING = "RANGE 10 SECONDS"
SETTINGS: dict[str, tuple[dict[str, Any], float, tuple[str, ...]]] = {
    # Hardly a partner for anyone.
    "late": ({}, 1e6, LATE),
    # Many groups on the one side; the other has none.
    "one side": ({"groups": "A.g"}, 3000, ("B",)),
    "the other": ({"groups": "B.g"}, 3000, ("A",)),
    "both": ({}, 30, ("A", "B")),
}


@pytest.mark.parametrize("case", SETTINGS)
def test_every_set_wins_somewhere_by_key(case: str) -> None:
    options, keys, early = SETTINGS[case]
    assert early_of(decide(known_of(view(**options), keys), KEPT)) == early


@pytest.mark.parametrize(
    ("groups", "keys", "rate", "early"),
    [
        ("A.g, B.g", 3000, 50, LATE),
        ("A.g", 20, 50, ("B",)),
        ("B.g", 20, 50, ("A",)),
        ("", 20, 500, ("A", "B")),
    ],
)
def test_every_set_wins_somewhere_by_nested_loops(
    groups: str, keys: float, rate: float, early: tuple[str, ...]
) -> None:
    """As in T&L Fig. 10, without a key to search by; g has a thousand values."""
    query = query_of(
        f"SELECT COUNT(*) AS n FROM A [{SLIDING}], B [{SLIDING}] WHERE A.k <> B.k "
        f"{f'GROUP BY {groups}' if groups else ''} EVERY 1 SECOND",
        dict.fromkeys("AB", COLUMNS),
    )
    assert early_of(decide(known_of(query, keys, groups=1000, rate=rate), KEPT)) == early


def test_more_matches_never_speak_against_early() -> None:
    query = view()
    ratios = []
    for keys in (1e6, 1e5, 1e4, 1e3, 100, 10, 1):
        problem = problem_of(query, keys)
        late, *early = (
            needed_by(problem, replace(default_plan(query), early=s)) for s in early_sets(problem)
        )
        ratios.append([each / late for each in early])
    for before, after in pairwise(ratios):
        assert all(b <= a * (1 + 1e-9) for a, b in zip(before, after, strict=True))


def test_chains_fold_by_all_their_keys() -> None:
    """On different attributes the middle stream has more combinations, so the ends fold first."""
    query = query_of(
        f"SELECT COUNT(*) AS n FROM A [{SLIDING}], B [{SLIDING}], C [{SLIDING}] "
        "WHERE A.k = B.k AND B.l = C.l EVERY 1 SECOND",
        dict.fromkeys("ABC", COLUMNS),
    )
    problem = problem_of(query, 200)
    folded = with_early(problem, ("A", "B", "C"))
    ends, middle = folded.inputs[0].window, folded.inputs[1].window
    assert ends == folded.inputs[2].window == pytest.approx(10 * occupied(200, 2000))
    assert middle == pytest.approx(10 * occupied(40_000, 2000))
    assert {"A", "C"} <= set(early_of(decide(problem.known)))


def test_tables_fold() -> None:
    script = query_of(
        f"SELECT B.g, COUNT(*) AS n FROM A [{SLIDING}], B [UNBOUNDED] WHERE A.k = B.k "
        "GROUP BY B.g EVERY 1 SECOND",
        dict.fromkeys("AB", COLUMNS),
    )
    table = replace(script.inputs[1], window=None)
    query = replace(script, inputs=(script.inputs[0], table))
    stats = {
        "streams": {"A": {"rate": 2000}, "B": {"cardinality": 5000, "distinct": {"k": 10, "g": 2}}}
    }
    known = complete(query, from_data(stats, query))
    folded = with_early(Problem(query, known), ("B",)).inputs[1]
    assert folded.window == pytest.approx(20)
    assert folded.rate == 0
    assert "B" in early_of(decide(known))


def test_switched_off() -> None:
    known = known_of(view(), 30)
    decision = decide(known, PlanOptions(off=frozenset({"early-aggregation"})))
    assert {a.plan.early for a in (decision.chosen, *decision.others)} == {LATE}


# ---- as text


@pytest.mark.parametrize(
    ("text", "rendered"),
    [
        ("A: B; B: A | early A", "A: B; B: A | early A"),
        ("A: B; B: A|early B, A", "A: B; B: A | early A B"),
        ("(A B) | early B", "(A B) | early B"),
        ("(A B)/nested | early B", "(A B)/nested | early B"),
        ("| early B", "A: B; B: A | early B"),
        ("A: B; B: A", "A: B; B: A"),
    ],
)
def test_text(text: str, rendered: str) -> None:
    plan = forced_plan(view(), text)
    assert render_plan(plan) == rendered
    assert forced_plan(view(), rendered) == plan


def test_the_shape_alone_leaves_the_orders_to_the_planner() -> None:
    known = known_of(view(m=3), 30)
    decision = decide(known, PlanOptions(plan="(A B C) | early C"))
    assert early_of(decision) == ("C",)
    assert decision.is_forced


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("A: B | early X", "no input is called X", "the query has A, B"),
        ("A: B | A", "`early` belongs after the bar", "name the inputs"),
        ("A: B |", "`early` belongs after the bar", "name the inputs"),
        ("A: B | early", "early names no input", "name the inputs"),
        ("A: B | early A A", "A is named twice", "once"),
        ("A: B | early A/hash", "only names belong after early", "name the inputs"),
        ("A: B | early A; B: A", "only names belong after early", "name the inputs"),
        ("A: B | early A | early B", "only names belong after early", "name the inputs"),
    ],
)
def test_wrong_text(text: str, message: str, hint: str) -> None:
    with pytest.raises(PlanError) as raised:
        forced_plan(view(), text)
    assert raised.value.message == message
    assert hint in (raised.value.hint or "")
    assert raised.value.place is not None


def test_nothing_to_aggregate() -> None:
    plain = query_of(
        "SELECT A.g FROM A [NOW], B [NOW] WHERE A.k = B.k", dict.fromkeys("AB", COLUMNS)
    )
    with pytest.raises(PlanError, match="aggregates nothing"):
        forced_plan(plain, "A: B; B: A | early A")


# ---- explained


def explained() -> Decision:
    costs = {"insert": 2e-7, "probe": 3e-7, "compare": 1e-8, "fold": 1e-7}
    return decide(known_of(view(), 1000, costs=costs), replace(KEPT, alternatives=True))


def test_costs_that_are_not_given_are_guessed() -> None:
    shown = {each.what: each for each in explained().statistics}
    fold, tally = shown["cost of fold"], shown["cost of tally"]
    assert (fold.figure.origin, tally.figure.origin) == ("declared", "guessed")
    # A guess of so little does not make the rest uncertain.
    assert tally.is_minor


def chosen_and_others() -> tuple[Mapping[str, Any], list[Mapping[str, Any]]]:
    found = json.loads(as_json(figures_of(explained(), alternatives=True)))
    return found["chosen"], found["alternatives"]


def test_every_early_plan_is_printed_whole() -> None:
    decision = decide(known_of(view(m=4), 1000), replace(KEPT, alternatives=True))
    lines = as_text(figures_of(decision, alternatives=True)).splitlines()
    plans = [a.plan for a in (decision.chosen, *decision.others)]
    assert {("A",), ("B", "C"), ("A", "B", "C", "D")} <= {plan.early for plan in plans}
    assert {render_plan(plan) for plan in plans} <= {line.strip() for line in lines}


def test_explain_as_json() -> None:
    chosen, others = chosen_and_others()
    assert chosen["early_aggregation"] == ["B"]
    assert chosen["aggregation_sets"]["B"]["by"] == ["B.k"]
    assert chosen["aggregation_sets"]["B"]["rows"] == pytest.approx(10 * occupied(1000, 2000))
    assert chosen["state_tuples"] == pytest.approx(20_000 + 10 * occupied(1000, 2000))
    early = {tuple(other["early_aggregation"]) for other in others}
    assert early == {(), ("A",), ("B",), ("A", "B")}


def test_explain_as_pictures() -> None:
    figures = figures_of(explained())
    lines = [line for node in graph_of(figures).nodes for line in node.lines]
    assert [line for line in lines if line.startswith("early")] == ["early by (B.k): ~8,648 rows"]
    assert "Aggregated before the join" in as_html(figures)


# ---- goals over time


@pytest.mark.parametrize("goal", [First(5 * 10**7), By(20.0)])
def test_early_aggregation_has_results_sooner(goal: Goal) -> None:
    """Few keys and groups: folded rows are joined in a fraction of the time, and stand for the
    same results of the join."""
    known = known_of(view(), keys=20, groups=5, capacity=0.05)
    found = decide(known, replace(KEPT, goal=goal, alternatives=True))
    assert early_of(found)
    late = next(each for each in found.others if not each.plan.early)
    best, other = found.chosen.estimate.measure, late.estimate.measure
    assert best is not None
    assert other is not None
    assert other > 2 * best if isinstance(goal, First) else best > 2 * other
    # Nothing is found that there is not: with time for all work both have the same.
    ample = replace(known, capacity=Figure(1e6, "declared"))
    same = [
        estimate(Problem(known.query, ample), each.plan, By(20.0)).measure
        for each in (found.chosen, late)
    ]
    assert same[0] == pytest.approx(same[1])


def test_windows_of_folded_rows_fill_as_those_of_tuples_do() -> None:
    problem = problem_of(view(), keys=20, groups=5)
    folded = arrivals_of(with_early(problem, ("A",)))[0]
    half, full = folded.window(np.array([5.0, 10.0]))
    assert full == pytest.approx(with_early(problem, ("A",)).inputs[0].window)
    assert half == pytest.approx(full / 2)
    endless = problem_of(view(window="UNBOUNDED"), keys=20, groups=5)
    rows = arrivals_of(with_early(endless, ("A",)))[0].window(np.array([0.01, 1e4]))
    assert rows[0] == pytest.approx(20, rel=0.15)
    assert rows[1] == pytest.approx(cells_of(endless.known, "A").value)

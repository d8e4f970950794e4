"""Cost terms of plans: counts × seconds of one add up to what the planner reckons with."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random

import pytest

import penstock as ps
from penstock.adapt.predictions import Predictions
from penstock.plan.plan import Plan
from penstock.plan.text.parse import forced_plan
from penstock.stats.costs import Costs
from penstock.stats.known import Known
from penstock.watch.log_reader import read_log
from penstock.watch.plan_live import plan_view
from penstock.watch.planning.asked import asked_of
from penstock.watch.planning.cost_terms import Reckoning
from penstock.watch.planning.plan_costs import node_works, whole_work, with_costs
from support.plans.every_kind import any_of, kinds_for
from support.watch.watched_runs import chained, counted, run_of

STREAMS = "".join(
    f"CREATE STREAM {name} (ts TIMESTAMP, k BIGINT, j BIGINT, x DOUBLE) WITH (format='csv', "
    f"path='/{name}', timestamp='ts', rate={rate});\n"
    for name, rate in (("a", 100), ("b", 40), ("c", 7))
)
JOIN = """SELECT a.x FROM a [RANGE 10 SECONDS], b [RANGE 10 SECONDS], c [RANGE 10 SECONDS]
WHERE a.k = b.k AND b.j = c.j AND a.x > 3.0 AND a.x < c.x"""
VIEW = """SELECT a.k, COUNT(*) AS n FROM a [RANGE 10 SECONDS], b [RANGE 10 SECONDS]
WHERE a.k = b.k GROUP BY a.k"""
COSTS = Costs(
    "declared",
    insert=1e-7,
    probe=2e-7,
    expire=5e-8,
    move=3e-8,
    hash=1e-8,
    compare=4e-8,
    arrive=1e-6,
    result=2e-6,
    keep=9e-8,
    search=1e-7,
)


def known_of(text: str, costs: Costs = COSTS) -> Known:
    return replace(ps.sql(STREAMS + text, engine="local").known, costs=costs)


@pytest.mark.parametrize("text", [JOIN, VIEW], ids=["join", "view"])
@pytest.mark.parametrize("costs", [COSTS, Costs("declared", join=1e-6)], ids=["kinds", "one"])
@pytest.mark.parametrize("seed", range(4))
def test_terms_add_up_to_the_work_of_the_plan(text: str, costs: Costs, seed: int) -> None:
    known = known_of(text, costs)
    for kind in kinds_for(known.query):
        plan = any_of(kind, known.query, Random(seed))
        terms = Reckoning(plan, known).terms(partial(whole_work, plan))
        whole = Predictions(plan, known).whole.utilization
        assert sum(term.seconds for term in terms) == pytest.approx(whole, rel=1e-6), kind
        for term in terms:
            if term.count is not None and term.unit is not None:
                assert term.seconds == pytest.approx(term.count * term.unit)


@pytest.mark.parametrize("text", [JOIN, VIEW], ids=["join", "view"])
@pytest.mark.parametrize("kind", ["multi-way", "tree"])
@pytest.mark.parametrize("seed", range(4))
def test_nodes_have_all_of_the_work_between_them(text: str, kind: str, seed: int) -> None:
    known = known_of(text)
    plan = any_of(kind, known.query, Random(seed))
    works = dict(node_works(plan))
    if not works:
        assert getattr(plan, "recompute", None) is not None
        return
    reckoning = Reckoning(plan, known)
    parts = sum(work(reckoning.problem) for work in works.values())
    assert parts == pytest.approx(whole_work(plan, reckoning.problem), rel=1e-9)


def test_counts_are_those_of_rates_and_windows() -> None:
    """100 and 40 tuples/s: each is inserted once, and probes once."""
    known = known_of(VIEW)
    plan: Plan = forced_plan(known.query, "a: b; b: a")
    reckoning = Reckoning(plan, known)
    whole = {term.what: term for term in reckoning.terms(partial(whole_work, plan))}
    assert whole["insert"].count == pytest.approx(140)
    assert whole["probe"].count == pytest.approx(140)
    assert whole["arrive"].count == pytest.approx(140)
    (work,) = [work for place, work in node_works(plan) if place == ("a", 0, "b")]
    terms = {term.what: term for term in reckoning.terms(work)}
    assert terms["probe"].count == pytest.approx(100)
    assert terms["probe"].seconds == pytest.approx(100 * 2e-7)
    assert "insert" not in terms


def test_the_plan_of_a_run_has_them_by_its_own_figures(tmp_path: Path) -> None:
    log = read_log(str(run_of(chained(batches=6), tmp_path)))
    graph = with_costs(plan_view(log), log)
    asked = asked_of(log)
    plan = forced_plan(asked.query, log.reports[-1].plan)
    whole = Predictions(plan, asked.known).whole.utilization
    assert sum(term.seconds for term in graph.terms) == pytest.approx(whole, rel=1e-6)
    nodes = [node for node in graph.nodes if node.kind in ("input", "probe", "results")]
    assert all(node.terms for node in nodes if node.kind == "probe")
    parts = sum(term.seconds for node in nodes for term in node.terms)
    assert parts == pytest.approx(whole, rel=1e-6)


def test_a_view_of_a_run_has_them_too(tmp_path: Path) -> None:
    log = read_log(str(counted(tmp_path)))
    graph = with_costs(plan_view(log), log)
    assert "tally" in {term.what for term in graph.terms}
    assert with_costs(replace(graph, plan="no plan", terms=()), log).terms == ()

"""Plans within a memory: which windows have an index, and that the laboratory obeys it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations, product

import pytest

from penstock.errors import PlanError
from penstock.experiments.setting.streams import Stream, tuples_of
from penstock.lab.laboratory import Outcome, run
from penstock.lab.schedule import Eager
from penstock.optimize.estimate import needed_by
from penstock.optimize.memory.indexes import cheapest
from penstock.optimize.memory.needs import full_buckets, index_bytes, window_bytes
from penstock.optimize.model.problem import Problem
from penstock.optimize.options import PlanOptions
from penstock.optimize.planner import decide
from penstock.plan.decision import Decision
from penstock.plan.explain.verdict import physical_text
from penstock.plan.multiway import MultiwayJoin, Probe, ProbeOrder
from penstock.plan.text.parse import render_plan
from penstock.query.goal import By
from penstock.stats.costs import Costs
from support.plans.common_attribute import NAMES, TABLE_5, TABLE_6, TABLE_7, common_problem
from support.plans.planning import random_problem

COSTS = Costs("declared", insert=1e-8, expire=1e-8, probe=1e-8, hash=3e-9, compare=6e-9)
WINDOWS = 24 * 1600.0
"""The bytes of the windows of Table 5: 1,600 tuples of two times and one key."""


def decided(memory: float | None, **options: object) -> Decision:
    problem = common_problem(TABLE_5, COSTS)
    wanted = replace(PlanOptions(engine="laboratory"), **options)  # type: ignore[arg-type]
    return decide(replace(problem.known, memory=memory), wanted)


def test_enough_memory_changes_nothing() -> None:
    free, limited = decided(None), decided(1e6)
    assert render_plan(limited.plan) == render_plan(free.plan)
    assert limited.physical.buckets == free.physical.buckets
    assert limited.chosen.estimate.utilization == pytest.approx(free.chosen.estimate.utilization)
    assert free.physical.memory is None
    assert limited.physical.memory is not None
    assert limited.physical.memory.scanned == ()


def test_the_less_memory_the_more_work_and_never_more_than_there_is() -> None:
    decisions = [decided(memory) for memory in (1e6, 6e4, 5e4, 4.2e4, 4e4, WINDOWS)]
    works = [each.chosen.estimate.utilization for each in decisions]
    assert works == sorted(works)
    for each in decisions:
        memory = each.physical.memory
        assert memory is not None
        assert WINDOWS <= memory.used <= memory.limit
        assert set(memory.scanned) | set(each.physical.buckets) == set(NAMES)
    assert decisions[-1].physical.buckets == {}


def test_a_tree_that_does_not_fit_gives_way_to_a_multi_way_join() -> None:
    assert render_plan(decided(1e6).plan).startswith("((")
    assert isinstance(decided(6e4).plan, MultiwayJoin)
    with pytest.raises(PlanError, match="no plan fits into a memory of 60 kB"):
        decided(6e4, kinds=frozenset({"tree"}))


def test_explain_says_what_is_indexed_and_what_memory_is_used() -> None:
    decision = decided(5e4)
    text = physical_text(decision.physical)
    assert text.startswith(
        "buckets S1 128, S2 64, S3 64; S4 looked through; memory 49.8 kB of 50 kB;"
    )
    assert "fit into a memory of 50 kB" in decision.reason


def test_windows_that_do_not_fit_are_refused() -> None:
    with pytest.raises(PlanError, match="does not hold the windows, which take 38,400") as error:
        decided(WINDOWS - 1)
    assert error.value.hint == "give it more memory, or shorter windows"
    assert "S1 alone takes 24 kB" in str(error.value)


def test_a_forced_plan_keeps_its_methods_and_gets_fewer_buckets() -> None:
    text = "S1: S2 S3 S4; S2: S1 S3 S4; S3: S1 S2 S4; S4: S1 S2 S3"
    forced = decided(WINDOWS + 8 * 1600 + 4 * 64, plan=text)
    assert {probe.method for order in _orders(forced) for probe in order.probes} == {"sorted"}
    assert set(forced.physical.buckets) == set(NAMES)
    assert sum(forced.physical.buckets.values()) <= 64
    with pytest.raises(PlanError, match="no plan fits"):
        decided(WINDOWS + 8 * 1600, plan=text)


def test_without_methods_windows_must_be_indexed() -> None:
    decision = decided(WINDOWS + 8 * 1600 + 4 * 64, off=frozenset({"methods"}))
    assert set(decision.physical.buckets) == set(NAMES)


def test_for_a_goal_over_time_the_first_plan_that_fits_is_taken() -> None:
    decision = decided(6e4, goal=By(50.0))
    assert isinstance(decision.plan, MultiwayJoin)
    assert decision.reason.startswith("best for by:50")


def test_other_engines_say_that_the_choice_is_the_laboratorys() -> None:
    decision = decided(100.0, engine="local")
    assert decision.physical.memory is None
    assert any("in the laboratory only" in note for note in decision.notes)


def test_costs_for_a_whole_join_leave_the_choice_to_comparisons() -> None:
    problem = common_problem(TABLE_5, Costs("declared", join=1e-6))
    known = replace(problem.known, memory=5e4)
    decision = decide(known, PlanOptions(engine="laboratory", kinds=frozenset({"multiway"})))
    assert decision.physical.buckets


def _orders(decision: Decision) -> tuple[ProbeOrder, ...]:
    assert isinstance(decision.plan, MultiwayJoin)
    return decision.plan.orders


# ── against all choices ───────────────────────────────────────────────────────────────────────────


def every_choice(problem: Problem, room: float) -> Iterator[float]:
    """The work of every global order with every set of indexes as large as they can be."""
    sizes = {flow.alias: flow.window for flow in problem.inputs}
    for order in permutations(NAMES):
        for hashed in product((False, True), repeat=len(NAMES)):
            chosen = [name for name, is_hashed in zip(NAMES, hashed, strict=True) if is_hashed]
            taken = sum(index_bytes(sizes[n], 1, full_buckets(sizes[n])) for n in chosen)
            if taken <= room:
                orders = tuple(
                    ProbeOrder(
                        driver,
                        tuple(
                            Probe(n, "hash" if n in chosen else "nested")
                            for n in order
                            if n != driver
                        ),
                    )
                    for driver in NAMES
                )
                yield needed_by(problem, MultiwayJoin(problem.query, orders))


@pytest.mark.parametrize("rows", [TABLE_5, TABLE_6, TABLE_7])
@pytest.mark.parametrize("share", [0.1, 0.3, 0.6, 0.9])
def test_the_choice_is_no_worse_than_any_order_with_whole_indexes(
    rows: list[tuple[float, float, float]], share: float
) -> None:
    """The paper's question (§5.4) has whole indexes; ours may also have smaller ones."""
    problem = common_problem(rows, COSTS)
    room = share * sum(index_bytes(f.window, 1, full_buckets(f.window)) for f in problem.inputs)
    assert sum(window_bytes(problem).values()) > 0
    plans = [MultiwayJoin(problem.query, orders) for orders in _starts(problem)]
    found = cheapest(problem, plans, room, is_free=True)
    assert found is not None
    assert found.size <= room
    best = min(every_choice(problem, room))
    assert needed_by(problem, found.plan) + found.extra <= best * (1 + 1e-9)


def test_beyond_four_inputs_the_rules_propose_orders() -> None:
    """G&O's rules: windows without an index first (§5.4), then by the size of a bucket (§5.3)."""
    rules = set()
    for seed, share in product(range(6), (0.2, 0.5)):
        problem = random_problem(seed, 5, COSTS)
        windows = sum(window_bytes(problem).values())
        indexes = sum(index_bytes(f.window, 1, full_buckets(f.window)) for f in problem.inputs)
        wanted = PlanOptions(engine="laboratory", kinds=frozenset({"multiway"}))
        decision = decide(replace(problem.known, memory=windows + share * indexes), wanted)
        assert decision.physical.memory is not None
        assert decision.physical.memory.used <= windows + share * indexes
        rules |= set(decision.chosen.found_by)
    assert rules & {"hashed innermost", "by bucket size"}


def _starts(problem: Problem) -> list[tuple[ProbeOrder, ...]]:
    known = replace(problem.known, memory=None)
    decision = decide(known, PlanOptions(engine="laboratory", kinds=frozenset({"multiway"})))
    plans = [decision.plan, *(each.plan for each in decision.others)]
    return [plan.orders for plan in plans if isinstance(plan, MultiwayJoin)]


# ── in the laboratory ─────────────────────────────────────────────────────────────────────────────


def run_with(memory: float) -> tuple[Decision, Outcome]:
    decision = decided(memory, kinds=frozenset({"multiway"}))
    streams = {n: Stream(row[0], {"a": int(row[2])}) for n, row in zip(NAMES, TABLE_5, strict=True)}
    tuples = tuples_of(streams, 250.0, seed=3)
    return decision, run(decision.plan, tuples, Eager(), buckets=decision.physical.buckets)


def test_the_laboratory_obeys_and_compares_more_with_less_memory() -> None:
    outcomes = [run_with(memory)[1] for memory in (1e6, 5e4, 4.2e4, WINDOWS)]
    compares = [each.work.compares for each in outcomes]
    assert compares == sorted(compares)
    assert compares[-1] > 10 * compares[0]
    assert outcomes[-1].work.probes == 0
    assert len({each.work.results for each in outcomes}) == 1

"""Indexes within a memory: the plan of least work of all, and never a worse one with more room."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, pairwise, permutations, product
from random import Random

import pytest

from penstock.optimize.estimate import needed_by
from penstock.optimize.joins.candidates import multiway_plans
from penstock.optimize.joins.physical import searches
from penstock.optimize.memory.indexes import Indexed, cheapest
from penstock.optimize.memory.needs import full_buckets, index_bytes, keys_of
from penstock.optimize.model.problem import Problem, gain
from penstock.optimize.options import PlanOptions
from penstock.optimize.planner import decide
from penstock.plan.multiway import MultiwayJoin, Probe, ProbeOrder
from penstock.stats.costs import Costs
from support.plans.planning import problem_of, query_of, random_problem

SHARES = (0.0, 0.1, 0.3, 0.45, 0.6, 0.8, 1.0, 1.5)
"""Room as a part of what whole indexes on all windows take."""


def costly(seed: int) -> Costs:
    """Costs of which now inserting, now comparing weighs most."""
    rng = Random(seed)
    ends = {"insert": -5.5, "probe": -5.5, "expire": -6, "hash": -6, "move": -6, "compare": -7}
    return Costs(
        "declared", **{kind: 10 ** rng.uniform(end - 2, end) for kind, end in ends.items()}
    )


def whole(problem: Problem) -> float:
    return sum(
        index_bytes(flow.window, keys_of(problem, flow.alias), full_buckets(flow.window))
        for flow in problem.inputs
    )


def best(problem: Problem, room: float) -> Indexed:
    plans = [plan for plan, _ in multiway_plans(problem, frozenset(), every=True)]
    found = cheapest(problem, plans, room, is_free=True)
    assert found is not None
    assert found.size <= room
    return found


def work(problem: Problem, found: Indexed) -> float:
    return needed_by(problem, found.plan) + found.extra


def test_more_memory_does_not_lose_an_index_set() -> None:
    """With 40 kB A and C are indexed; 42 kB have room for B instead, which is no reason to."""
    query = query_of(
        "SELECT A.a FROM A [RANGE 10 SECONDS], B [RANGE 10 SECONDS], C [RANGE 10 SECONDS] "
        "WHERE A.a = B.a AND B.b = C.b",
        {"A": "a", "B": "a b", "C": "b"},
    )
    costs = Costs("declared", insert=1e-6, probe=1e-6, expire=1e-6, hash=1e-7, compare=1e-8)
    rates = {"A": 10.0, "B": 70.0, "C": 20.0}
    known = problem_of(query, rates, {"A B": 0.005, "B C": 0.002}, costs).known
    decisions = [
        decide(replace(known, memory=memory), PlanOptions(engine="laboratory"))
        for memory in (40e3, 42e3)
    ]
    assert [set(each.physical.buckets) for each in decisions] == [{"A", "C"}] * 2
    less, more = (each.chosen.estimate.utilization for each in decisions)
    assert more <= less


@pytest.mark.parametrize("size", [3, 4])
@pytest.mark.parametrize("seed", range(6))
def test_work_never_rises_with_memory(seed: int, size: int) -> None:
    problem = random_problem(seed, size, costly(seed))
    room = whole(problem)
    shares = SHARES if size == 3 else SHARES[1::2]
    works = [work(problem, best(problem, share * room)) for share in shares]
    assert all(after <= before * (1 + 1e-9) for before, after in pairwise(works))


def test_work_does_not_rise_where_orders_are_found_by_rule() -> None:
    problem = random_problem(3, 5, costly(3))
    room = whole(problem)
    works = [work(problem, best(problem, share * room)) for share in (0.1, 0.6)]
    assert works == sorted(works, reverse=True)


# ── against all choices ───────────────────────────────────────────────────────────────────────────


def every_plan(problem: Problem) -> Iterator[MultiwayJoin]:
    """Every set of indexes with every order of every driver."""
    names = problem.query.aliases
    each = [permutations([n for n in names if n != driver]) for driver in names]
    sets = [set(c) for n in range(len(names) + 1) for c in combinations(names, n)]
    for targets in product(*each):
        for hashed in sets:
            orders = zip(names, targets, strict=True)
            yield MultiwayJoin(
                problem.query, tuple(visits(problem, driver, to, hashed) for driver, to in orders)
            )


def visits(problem: Problem, driver: str, targets: tuple[str, ...], hashed: set[str]) -> ProbeOrder:
    bound, probes = {driver}, []
    for target in targets:
        is_keyed = target in hashed and problem.linked(problem.mask(bound), problem.mask([target]))
        probes.append(Probe(target, "hash" if is_keyed else "nested"))
        bound.add(target)
    return ProbeOrder(driver, tuple(probes))


def works_within(problem: Problem, plan: MultiwayJoin, room: float) -> Iterator[float]:
    """The work of a plan with all numbers of buckets that there is room for."""
    keys: dict[str, set[int]] = {}
    for _, target, key, _ in searches(problem, plan):
        if key is not None:
            keys.setdefault(problem.query.aliases[target.bit_length() - 1], set()).add(key)
    sizes = {flow.alias: flow.window for flow in problem.inputs}
    powers = {a: [2**n for n in range(1, 20) if 2**n <= full_buckets(sizes[a])] for a in keys}
    usual = needed_by(problem, plan)
    chains = {(a, b): longer(problem, plan, a, b) for a in keys for b in powers[a]}
    for buckets in product(*(powers[alias] for alias in keys)):
        chosen = list(zip(keys, buckets, strict=True))
        if sum(index_bytes(sizes[a], len(keys[a]), b) for a, b in chosen) <= room:
            yield usual + sum(chains[each] for each in chosen)


def longer(problem: Problem, plan: MultiwayJoin, alias: str, buckets: int) -> float:
    """Seconds a second for tuples of a bucket that have another key."""
    total = 0.0
    for bound, target, key, rate in searches(problem, plan):
        if target == problem.mask([alias]) and key is not None:
            share = float(gain(problem.key_fraction(key), bound, target))
            total += rate * float(problem.alive[target]) * max(0.0, 1 / buckets - share)
    return total * problem.known.costs.compare


@pytest.mark.parametrize("seed", range(6))
def test_of_three_inputs_the_plan_is_the_best_of_all_orders_and_indexes(seed: int) -> None:
    problem = random_problem(seed, 3, costly(seed))
    room = 0.3 * whole(problem)
    least = min(w for plan in every_plan(problem) for w in works_within(problem, plan, room))
    assert work(problem, best(problem, room)) == pytest.approx(least, rel=1e-9)

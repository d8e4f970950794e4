"""The laboratory against the reference: every algorithm of Golab and Özsu gives every result."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest

from penstock.errors import PlanError
from penstock.lab.clock import ClockCosts, SimulatedClock
from penstock.lab.laboratory import Outcome, run
from penstock.lab.schedule import Eager, Lazy
from penstock.plan.multiway import Method
from penstock.query import (
    Call,
    Column,
    Condition,
    DataType,
    RowsWindow,
    TimeWindow,
)
from reference import Row, answer
from support.lab.laboratory import (
    GLOBAL,
    HASH,
    NESTED,
    SECOND,
    common_case,
    plan_of,
    random_plan,
    rows_of,
    tables_of,
)
from support.streams.cases import Case, canonical, random_case


@pytest.mark.parametrize("seed", range(100))
def test_every_plan_and_mode_gives_the_results_of_the_reference(seed: int) -> None:
    case, rng = random_case(seed), Random(seed)
    mode = rng.choice((Eager(), Lazy(rng.choice((1, 3, 7, 50)) * SECOND)))
    expiration = rng.choice((0, 0, 2 * SECOND, 60 * SECOND))
    buckets = {alias: rng.choice((1, 2, 5)) for alias in case.query.aliases if rng.random() < 0.3}
    plan = random_plan(rng, case.query)
    by_bucket = rng.random() < 0.5
    outcome = run(plan, tables_of(case), mode, expiration, buckets=buckets, by_bucket=by_bucket)
    assert canonical(rows_of(outcome)) == canonical(answer(case.query, case.batches))
    assert outcome.work.results == len(outcome.results)
    assert (np.diff(outcome.produced_at) >= 0).all()


# ── the algorithms by name ────────────────────────────────────────────────────────────────────────


HYBRID: dict[str, Method] = {"A": "nested", "B": "nested", "C": "hash", "D": "hash"}
TAU = Lazy(2 * SECOND)

ALGORITHMS: dict[str, tuple[dict[str, Method], bool, Eager | Lazy]] = {
    "naive": (NESTED, True, Eager()),
    "eager nested loops": (NESTED, False, Eager()),
    "lazy nested loops": (NESTED, False, TAU),
    "general lazy nested loops": (NESTED, True, TAU),
    "eager hash": (HASH, False, Eager()),
    "lazy hash": (HASH, False, TAU),
    "hybrid": (HYBRID, False, Eager()),
}


def run_algorithm(name: str, case: Case, **settings: Any) -> Outcome:
    methods, in_place, mode = ALGORITHMS[name]
    return run(plan_of(case.query, methods, in_place), tables_of(case), mode, **settings)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_algorithm_by_name(name: str) -> None:
    case = common_case()
    expected = canonical(answer(case.query, case.batches))
    assert sum(expected.values()) > 5
    assert canonical(rows_of(run_algorithm(name, case))) == expected


@pytest.mark.parametrize("in_place", [False, True])
def test_the_example_of_golab_and_ozsu_tables_2_and_3(in_place: bool) -> None:
    case = common_case()
    seconds = {"A": (90, 100), "B": (150, 180), "C": (195, 205)}
    query = replace(
        case.query,
        inputs=tuple(
            replace(item, window=TimeWindow(100 * SECOND)) for item in case.query.inputs[:3]
        ),
        outputs=case.query.outputs[:3],
        equalities=case.query.equalities[:2],
    )
    batches = {
        alias: [[Row(s * SECOND, n, {"id": s, "k": 1}) for n, s in enumerate(times)]]
        for alias, times in seconds.items()
    }
    plan, tables = plan_of(query, NESTED, in_place), tables_of(Case(query, batches))
    outcome = run(plan, tables, Lazy(210 * SECOND))
    assert sorted(rows_of(outcome)) == [(100, 150, 195), (100, 180, 195)]
    assert outcome.produced_at.tolist() == [210 * SECOND] * 2


def test_the_work_of_the_algorithms_differs_as_it_should() -> None:
    case = common_case()
    compares = {name: run_algorithm(name, case).work.compares for name in ALGORITHMS}
    assert compares["eager hash"] < compares["hybrid"] < compares["eager nested loops"]
    assert compares["eager nested loops"] < compares["naive"]
    assert run_algorithm("naive", case).work.probes == 0
    assert run_algorithm("hybrid", case).work.probes > 0


def test_fewer_buckets_are_longer_chains_down_to_nested_loops() -> None:
    case = common_case()
    looks = [
        run_algorithm("eager hash", case, buckets=dict.fromkeys(GLOBAL, count)).work.compares
        for count in (64, 2, 1)
    ]
    assert looks[0] < looks[1] < looks[2]
    assert looks[2] == run_algorithm("eager nested loops", case).work.compares


def test_lazy_expiration_keeps_dead_tuples_longer_and_looks_at_them() -> None:
    case = common_case()
    eager, lazy = (
        run_algorithm("eager nested loops", case, expiration=expiration)
        for expiration in (0, 10 * SECOND)
    )
    assert canonical(rows_of(lazy)) == canonical(rows_of(eager))
    assert lazy.work.compares > eager.work.compares
    assert lazy.work.sweeps < eager.work.sweeps
    assert sum(lazy.peaks.values()) > sum(eager.peaks.values())


def test_a_sweep_looks_at_the_buckets_of_hashed_windows_and_once_at_others() -> None:
    case, counts = common_case(), {"A": 3, "B": 5, "C": 7, "D": 11}
    plain, hashed, hybrid = (
        run_algorithm(name, case, buckets=counts, by_bucket=by_bucket)
        for name, by_bucket in (("eager hash", False), ("eager hash", True), ("hybrid", True))
    )
    assert plain.work.sweeps == 4 * plain.work.tuples
    assert hashed.work.sweeps == (3 + 5 + 7 + 11) * hashed.work.tuples
    assert hybrid.work.sweeps == (1 + 1 + 7 + 11) * hybrid.work.tuples
    assert hashed.work.compares == plain.work.compares


def test_rarer_cleaning_looks_at_fewer_buckets_and_more_tuples() -> None:
    case, counts = common_case(), dict.fromkeys(GLOBAL, 8)
    often, rarely = (
        run_algorithm("eager hash", case, expiration=each, buckets=counts, by_bucket=True)
        for each in (0, 20 * SECOND)
    )
    assert canonical(rows_of(often)) == canonical(rows_of(rarely))
    assert rarely.work.sweeps < often.work.sweeps
    assert rarely.work.compares > often.work.compares


def test_rows_windows_hold_their_count() -> None:
    case = common_case()
    inputs = tuple(replace(item, window=RowsWindow(3)) for item in case.query.inputs)
    query = replace(case.query, inputs=inputs)
    outcome = run(plan_of(query, NESTED), tables_of(replace(case, query=query)), Eager())
    assert outcome.peaks == dict.fromkeys(GLOBAL, 3)
    assert outcome.work.expired == 4 * (15 - 3)


def test_a_filtered_tuple_is_counted_but_not_kept() -> None:
    case = common_case()
    key = Column("A", "k", DataType.INT)
    never = Condition(Call("is_null", (key,), DataType.BOOLEAN))
    query = replace(case.query, filters=(never,))
    outcome = run(plan_of(query, HASH), tables_of(replace(case, query=query)), Eager())
    assert (outcome.work.tuples, outcome.work.inserts, len(outcome.results)) == (60, 45, 0)


# ── clocks ────────────────────────────────────────────────────────────────────────────────────────


def two_streams(a: list[int], b: list[int]) -> Case:
    """Tuples of one key at these seconds, all of which join."""
    case = common_case()
    query = replace(
        case.query,
        inputs=case.query.inputs[:2],
        outputs=case.query.outputs[:2],
        equalities=case.query.equalities[:1],
    )
    batches = {
        alias: [[Row(s * SECOND, n, {"id": s, "k": 1}) for n, s in enumerate(seconds)]]
        for alias, seconds in (("A", a), ("B", b))
    }
    return Case(query, batches)


def test_a_server_slower_than_its_arrivals_builds_a_backlog() -> None:
    case = two_streams(a=[0, 1], b=[2, 10])
    clock = SimulatedClock(ClockCosts(tuples=2.0, results=1.0))
    outcome = run(plan_of(case.query, NESTED), tables_of(case), Eager(), clock=clock)
    # A0 is done at 2 and A1 at 4; B2 joins both, 4 + 2 + 2 = 8; B10 joins none, 10 + 2.
    assert sorted(rows_of(outcome)) == [(0, 2), (1, 2)]
    assert outcome.produced_at.tolist() == [8 * SECOND, 8 * SECOND]
    assert (outcome.busy, outcome.elapsed, outcome.utilization) == (10.0, 12.0, 1.0)


def test_lazy_results_come_at_the_next_re_execution() -> None:
    case = two_streams(a=[0, 3], b=[1, 4])
    plan, tables = plan_of(case.query, HASH), tables_of(case)
    real = run(plan, tables, Lazy(2 * SECOND))
    assert sorted(zip(real.produced_at // SECOND, rows_of(real), strict=True)) == [
        (2, (0, 1)),
        (4, (3, 1)),
        (6, (0, 4)),
        (6, (3, 4)),
    ]
    slow = run(plan, tables, Lazy(2 * SECOND), clock=SimulatedClock(ClockCosts(inserts=0.5)))
    assert (slow.produced_at / SECOND).tolist() == [3.0, 4.5, 6.5, 6.5]


def test_a_simulated_run_is_the_same_every_time() -> None:
    case = common_case()
    clock = SimulatedClock(ClockCosts(compares=0.01, probes=0.02, expired=0.1, sweeps=0.001))
    one, two = (run_algorithm("lazy hash", case, clock=clock) for _ in range(2))
    assert one.results == two.results
    assert one.produced_at.tolist() == two.produced_at.tolist()
    assert (one.busy, one.elapsed, one.work) == (two.busy, two.elapsed, two.work)


def test_no_input_at_all_is_no_result() -> None:
    case = two_streams([], [])
    outcome = run(plan_of(case.query, HASH), tables_of(case), Lazy(SECOND))
    assert (len(outcome.results), outcome.work.tuples) == (0, 0)


def test_settings_that_mean_nothing_are_refused() -> None:
    case = two_streams([1], [1])
    plan, tables = plan_of(case.query, HASH), tables_of(case)
    with pytest.raises(PlanError, match="every 0 µs"):
        Lazy(0)
    with pytest.raises(PlanError, match="every -1 µs"):
        run(plan, tables, Eager(), expiration=-1)
    with pytest.raises(PlanError, match="0 buckets"):
        run(plan, tables, Eager(), buckets={"A": 0})

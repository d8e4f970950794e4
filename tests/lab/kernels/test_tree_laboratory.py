"""Join trees in the laboratory against the reference: every shape gives every result."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
import pytest

from penstock.kernels.drop import keeps
from penstock.lab.apparatus import TreeState, execute, no_counts, set_up, total_work
from penstock.lab.clock import ClockCosts, SimulatedClock, Work
from penstock.lab.laboratory import run
from penstock.lab.schedule import Eager, Lazy
from penstock.plan.drops import DropBoxes
from penstock.plan.multiway import Method
from penstock.plan.tree import is_left_deep
from penstock.query import (
    Column,
    DataType,
    Equality,
    Field,
    Input,
    Output,
    Query,
    RowsWindow,
    Source,
    TimeWindow,
)
from reference import Row, answer, in_time
from support.lab.laboratory import SECOND, common_case, plan_of, rows_of, tables_of
from support.lab.laboratory_trees import hand_made, random_tree, three_streams, tree_of
from support.streams.cases import Case, canonical, random_case

SEEDS = range(100)


def shed_case(case: Case, drops: DropBoxes) -> Case:
    """What the drop boxes let through of the tuples that are not late."""
    batches = {}
    for item in case.query.inputs:
        rows = in_time(item, case.batches[item.alias])
        numbers = np.array([row.arrival for row in rows], np.int64)
        kept = keeps(drops.seed, item.alias, numbers, drops.fraction(item.alias))
        batches[item.alias] = [[row for row, keep in zip(rows, kept, strict=True) if keep]]
    return Case(case.query, batches)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_tree_and_mode_gives_the_results_of_the_reference(seed: int) -> None:
    case, rng = random_case(seed), Random(seed)
    mode = rng.choice((Eager(), Lazy(rng.choice((1, 3, 7, 50)) * SECOND)))
    expiration = rng.choice((0, 0, 2 * SECOND, 60 * SECOND))
    buckets = {alias: rng.choice((1, 2, 5)) for alias in case.query.aliases if rng.random() < 0.3}
    plan, tables = random_tree(rng, case.query), tables_of(case)
    outcome = run(plan, tables, mode, expiration, buckets=buckets)
    assert canonical(rows_of(outcome)) == canonical(answer(case.query, case.batches))
    assert outcome.work.results == len(outcome.results)
    assert (np.diff(outcome.produced_at) >= 0).all()
    clock = SimulatedClock(ClockCosts(inserts=0.1, compares=0.01), servers="each")
    served = run(plan, tables, mode, clock=clock)
    assert canonical(rows_of(served)) == canonical(rows_of(outcome))
    assert (np.diff(served.produced_at) >= 0).all()


@pytest.mark.parametrize("seed", range(1_000, 1_080))
def test_drop_boxes_leave_the_results_of_the_kept_tuples(seed: int) -> None:
    case, rng = random_case(seed), Random(seed)
    kept = tuple(
        (i.alias, rng.choice((0.3, 0.8))) for i in case.query.streams if rng.random() < 0.7
    )
    drops = DropBoxes(kept, seed=rng.randrange(100))
    plan = replace(random_tree(rng, case.query), drops=drops)
    outcome = run(plan, tables_of(case), Eager())
    left = shed_case(case, drops)
    assert canonical(rows_of(outcome)) == canonical(answer(left.query, left.batches))
    assert outcome.shed == {
        item.alias: len(in_time(item, case.batches[item.alias])) - len(left.batches[item.alias][0])
        for item in case.query.streams
    }
    assert outcome.work.tuples == sum(len(left.batches[i.alias][0]) for i in case.query.streams)


def test_the_random_trees_are_of_all_kinds() -> None:
    cases = [(random_case(seed), Random(seed)) for seed in SEEDS]
    trees = [random_tree(rng, case.query) for case, rng in cases]
    assert 10 < sum(not is_left_deep(tree.root) for tree in trees) < 90
    assert sum(any(item.is_table for item in case.query.inputs) for case, _ in cases) > 10


# ── work ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("method", ["hash", "nested"])
def test_the_work_of_a_tree_counted_by_hand(method: Method) -> None:
    case = hand_made()
    outcome = run(tree_of(case.query, (("A", "B"), "C"), method), tables_of(case), Eager())
    assert rows_of(outcome)[2:] == [(1, 4, 3)]
    assert sorted(rows_of(outcome)[:2]) == [(0, 2, 3), (1, 2, 3)]
    # Inner rows A0B2, A1B2, A1B4 are inserted and probe C, too; A0 and A0B2 die; four windows are
    # swept at each of five arrivals. B2 looks at A0 A1, C3 at A0B2 A1B2, B4 at A1, A1B4 at C3.
    assert outcome.work == Work(
        tuples=5,
        inserts=5 + 3,
        expired=2,
        sweeps=4 * 5,
        probes=5 + 3 if method == "hash" else 0,
        compares=2 + 2 + 1 + 1,
        results=3,
    )
    assert outcome.peaks == {"A": 2, "B": 2, "C": 1, "(A B)": 2}


def test_lazy_expiration_keeps_dead_inner_rows_longer_and_looks_at_them() -> None:
    case = common_case()
    plan = tree_of(case.query, (("A", "B"), ("C", "D")), "nested")
    eager, lazy = (run(plan, tables_of(case), Eager(), e) for e in (0, 10 * SECOND))
    assert canonical(rows_of(lazy)) == canonical(rows_of(eager))
    assert lazy.work.compares > eager.work.compares
    assert lazy.work.sweeps < eager.work.sweeps
    assert lazy.peaks["(A B)"] > eager.peaks["(A B)"]


def test_results_of_a_block_come_at_its_re_execution() -> None:
    case = hand_made()
    plan = tree_of(case.query, ("A", ("B", "C")), "hash")
    outcome = run(plan, tables_of(case), Lazy(2 * SECOND))
    assert (outcome.produced_at // SECOND).tolist() == [4, 4, 6]


def test_a_shared_server_is_charged_for_inner_rows() -> None:
    case = hand_made()
    plan = tree_of(case.query, (("A", "B"), "C"), "hash")
    clock = SimulatedClock(ClockCosts(inserts=1.0))
    outcome = run(plan, tables_of(case), Eager(), clock=clock)
    # B2 is done at 5 with its two inner rows, C3 at 6, B4 at 8 with its one.
    assert (outcome.produced_at // SECOND).tolist() == [6, 6, 8]
    assert (outcome.busy, outcome.elapsed, outcome.utilization) == (8.0, 8.0, 2.0)


def test_two_tables_are_joined_before_the_first_tuple() -> None:
    case = three_streams({"A": [0, 1], "B": [0, 0], "C": [0, 0, 0]}, window=3)
    a, b, c = case.query.inputs
    inputs = (a, replace(b, window=None), replace(c, window=None))
    case = replace(case, query=replace(case.query, inputs=inputs))
    plan = tree_of(case.query, ("A", ("B", "C")), "hash")
    outcome = run(plan, tables_of(case), Eager())
    assert len(outcome.results) == 2 * 2 * 3
    assert outcome.peaks == {"A": 2, "B": 2, "C": 3, "(B C)": 6}
    assert (outcome.work.tuples, outcome.work.inserts, outcome.work.compares) == (2, 2, 12)


def test_memory_is_bounded_by_what_is_alive() -> None:
    case = common_case(tuples=8_000, seconds=4_000)
    inputs = tuple(replace(item, window=RowsWindow(4)) for item in case.query.inputs)
    case = Case(replace(case.query, inputs=inputs), case.batches)
    plan = tree_of(case.query, (("A", "B"), ("C", "D")), "hash")
    apparatus = set_up(plan, tables_of(case), Eager(), 0, {})
    counts = no_counts(apparatus, with_ledger=False)
    execute(apparatus, counts)
    assert isinstance(apparatus.machine, TreeState)
    assert total_work(counts).inserts > 14_000
    assert len(apparatus.machine.inner.pool) < 100


def test_slices_of_blocks_give_the_same_as_one_run() -> None:
    case = common_case(tuples=400)
    plan = tree_of(case.query, (("A", "B"), ("C", "D")), "hash")
    whole, sliced = (set_up(plan, tables_of(case), Eager(), 0, {}) for _ in range(2))
    found = execute(whole, no_counts(whole, with_ledger=False))
    counts = no_counts(sliced, with_ledger=False)
    parts = [execute(sliced, counts, n, min(n + 7, 400)) for n in range(0, 400, 7)]
    assert np.concatenate(parts).tolist() == found.tolist()
    assert len(found) > 10


def test_trees_and_multi_way_joins_agree_where_chains_outgrow_their_buckets() -> None:
    case = common_case(tuples=2_000, seconds=60, window=30)
    query = replace(
        case.query,
        inputs=case.query.inputs[:3],
        outputs=case.query.outputs[:3],
        equalities=case.query.equalities[:2],
    )
    tables = tables_of(Case(query, {alias: case.batches[alias][:1] for alias in query.aliases}))
    tables = {alias: rows.slice(0, 150) for alias, rows in tables.items()}
    multiway = run(plan_of(query, dict.fromkeys("ABCD", "hash")), tables, Eager())
    tree = run(tree_of(query, (("A", "C"), "B"), "hash"), tables, Eager())
    assert tree.peaks["(A C)"] > 200
    assert canonical(rows_of(tree)) == canonical(rows_of(multiway))


@pytest.mark.parametrize("seed", range(40))
def test_a_climb_that_halts_for_room_goes_on_where_it_was(seed: int) -> None:
    # One tuple of A meets all of B, and every match looks for its own few of the joined C and D,
    # in chains with other keys: results, inner rows and buckets give out in the midst of it.
    rng = Random(seed)
    fields = (Field("k", DataType.BIGINT), Field("j", DataType.BIGINT))
    every = TimeWindow(3_600 * SECOND)
    inputs = tuple(Input(alias, Source(alias, fields, "parquet"), every) for alias in "ABCD")
    a, b, c, d = (Column(alias, "k", DataType.BIGINT) for alias in "ABCD")
    link = [Column(alias, "j", DataType.BIGINT) for alias in "BC"]
    query = Query(
        inputs,
        outputs=tuple(Output(column.stream, column) for column in (a, b, c, d)),
        equalities=(Equality(a, b), Equality(link[0], link[1]), Equality(c, d)),
    )
    keys = [rng.getrandbits(60) for _ in range(20)]
    of_b, of_c = rng.choices(keys, k=2_000), rng.choices(keys, k=60)
    rows = {
        "A": [Row(2 * SECOND, 0, {"k": 1, "j": 0})],
        "B": [Row(SECOND, n, {"k": 1, "j": j}) for n, j in enumerate(of_b)],
        "C": [Row(0, n, {"k": n, "j": j}) for n, j in enumerate(of_c)],
        "D": [Row(0, n, {"k": n, "j": 0}) for n in range(60)],
    }
    case = Case(query, {alias: [mine] for alias, mine in rows.items()})
    outcome = run(tree_of(query, (("A", "B"), ("C", "D")), "hash"), tables_of(case), Eager())
    assert len(outcome.results) == sum(of_c.count(j) for j in of_b)
    assert outcome.peaks["(A B)"] == 2_000

"""Aggregation joins in the laboratory: every plan gives the view of the reference, at any time."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from penstock.errors import PlanError
from penstock.experiments.setting.problems import query_of
from penstock.experiments.setting.streams import Stream, tuples_of
from penstock.lab.views.aggregation_join import AggregationWork, run_view
from penstock.plan.default_plan import default_plan
from penstock.plan.multiway import Method, MultiwayJoin, Probe, ProbeOrder
from penstock.query import Query
from support.lab.aggregation import (
    any_plan,
    random_aggregation,
    rows_of_table,
    up_to,
    view_of_reference,
)
from support.lab.laboratory import tables_of


@pytest.mark.parametrize("seed", range(80))
def test_every_plan_gives_the_view_of_the_reference(seed: int) -> None:
    case, rng = random_aggregation(seed), Random(seed)
    tables = tables_of(case)
    streams = [tables[item.alias] for item in case.query.streams]
    times = sorted({t for each in streams for t in each.column("#ts").to_pylist()}) or [0]
    for now in (times[-1], rng.choice(times)):
        plan = any_plan(rng, case.query)
        outcome = run_view(plan, up_to(tables, case.query, now), buckets=rng.choice((1, 3, 1021)))
        assert rows_of_table(outcome.view) == view_of_reference(case, now)


def test_the_random_views_have_rows() -> None:
    """Enough of the cases above join something at their end."""
    found = 0
    for seed in range(60):
        case = random_aggregation(seed)
        found += run_view(default_plan(case.query), tables_of(case)).work.join_rows > 10
    assert found > 20


# ── work ──────────────────────────────────────────────────────────────────────────────────────────

COLUMNS = dict.fromkeys("AB", "k g v")
TWO = "FROM A [ROWS 50], B [ROWS 50] WHERE A.k = B.k"


def counting(select: str = f"SELECT A.g, SUM(B.v) AS total {TWO} GROUP BY A.g") -> Query:
    return query_of(select, COLUMNS)


def plan_by(query: Query, method: Method, early: tuple[str, ...] = ()) -> MultiwayJoin:
    orders = tuple(
        ProbeOrder(a, tuple(Probe(b, method) for b in query.aliases if b != a))
        for a in query.aliases
    )
    return MultiwayJoin(query, orders, early=early)


def worked(method: Method, early: tuple[str, ...] = ()) -> AggregationWork:
    """The last second of streams of 100 tuples/s with ten keys and two groups, windows full."""
    streams = dict.fromkeys("AB", Stream(100, {"k": 10, "g": 2, "v": 100}))
    tuples = tuples_of(streams, 5, seed=1)
    return run_view(plan_by(counting(), method, early), tuples, counted_from=4_000_000).work


def test_late_nested_loops_compare_whole_windows() -> None:
    work = worked("nested")
    assert work.inserts == work.expirations == 200
    assert work.compares == 400 * 50
    assert work.fold_compares == 0
    # Five partners of each tuple that comes or goes, in two groups that have a bucket each.
    assert work.join_rows == pytest.approx(400 * 5, rel=0.1)
    assert work.group_compares == work.join_rows


def test_nested_loops_compare_rows_of_aggregation_sets_instead() -> None:
    late, early, both = (worked("nested", e) for e in ((), ("B",), ("A", "B")))
    # B’s set has a row a key, A’s one a key and group, at the most.
    assert early.compares == pytest.approx(200 * 10 + 200 * 50, rel=0.02)
    assert both.compares <= 200 * 10 + 200 * 20
    assert both.join_rows < early.join_rows < late.join_rows
    # B is found in a chain of one; A in one of two.
    assert early.fold_compares == pytest.approx(200, rel=0.02)
    assert 200 + 200 <= both.fold_compares <= 200 + 2 * 200


def test_hash_joins_compare_what_is_in_the_bucket() -> None:
    late = worked("hash")
    assert late.compares == late.join_rows
    streams = dict.fromkeys("AB", Stream(100, {"k": 10, "g": 2, "v": 100}))
    tuples = tuples_of(streams, 5, seed=1)
    one_bucket = run_view(plan_by(counting(), "hash"), tuples, counted_from=4_000_000, buckets=1)
    assert one_bucket.work.compares == worked("nested").compares


def test_seconds_of_a_clock_that_charges_for_work() -> None:
    work = AggregationWork(1, 2, 10, 100, 1000, 7)
    assert work.seconds(probe=1.0, update=0.5, group=2.0) == 10 + 1.5 + 2200


# ── refused ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("select", "what"),
    [
        (f"SELECT COUNT(*) AS n {TWO} AND A.g < B.g", "the predicate"),
        (f"SELECT MAX(A.v) AS n {TWO}", "MAX, which"),
        (f"SELECT SUM(A.v * 0.5) AS n {TWO}", "SUM of anything but whole numbers"),
        (f"SELECT SUM(A.v * B.v) AS n {TWO}", "which reads several inputs"),
        ("SELECT COUNT(*) AS n FROM A [NOW], B [NOW] WHERE A.v < B.v", "anything but one key"),
    ],
)
def test_what_it_does_not_run(select: str, what: str) -> None:
    query = counting(select)
    with pytest.raises(PlanError, match=what) as raised:
        run_view(default_plan(query), {})
    assert "run the view in batches" in (raised.value.hint or "")


def test_joins_and_recomputed_views_do_not_run() -> None:
    query = counting()
    for plan in (
        default_plan(counting(f"SELECT A.g {TWO}")),
        replace(default_plan(query), recompute="A"),
    ):
        with pytest.raises(PlanError, match="views that are kept"):
            run_view(plan, {})

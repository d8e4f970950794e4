"""Columns of every type against the reference: as keys, groups and arguments, whatever the plan."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from datetime import UTC, date, datetime
from itertools import product
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from penstock.cql import parse
from penstock.duration import MICROS
from penstock.lab.laboratory import run
from penstock.lab.schedule import Eager, Lazy
from penstock.plan.mesh import MeshJoin
from penstock.plan.multiway import MultiwayJoin
from penstock.plan.plan import Plan
from penstock.query import DataType, Query
from penstock.query.types import common_type
from reference import answer
from support.engines.runs import (
    Place,
    expected,
    first_files_only,
    planned,
    random_plan,
    random_tree,
    run_local,
    run_spark,
    tree,
)
from support.lab.laboratory import random_plan as laboratory_plan
from support.lab.laboratory import rows_of, tables_of
from support.plans.meshes import random_mesh
from support.streams.cases import Case, canonical, write_case
from support.streams.typed import TYPES, boxed, emptied, typed_case, typed_view
from support.streams.views import expected_in_micros as expected_view
from support.streams.views import told_in_micros as told

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SEEDS = range(100)
SPARK_CASES = 4


def any_plan(query: Query, rng: Random) -> Plan:
    """A tree, with or without products, a mesh or a multi-way join."""
    kind = rng.random()
    if kind < 0.25 and not query.is_sequenced:
        return random_mesh(query, rng)
    return random_tree(query, rng) if kind < 0.65 else planned(query, random_plan(query, rng))


def any_view_plan(query: Query, rng: Random) -> Plan:
    """The same with any inputs aggregated early, and the view recomputed or not."""
    plan = any_plan(query, rng)
    if isinstance(plan, MeshJoin):
        return plan
    drivers = [item.alias for item in query.streams]
    if isinstance(plan, MultiwayJoin) and len(drivers) > 1 and not query.is_sequenced:
        plan = replace(plan, recompute=rng.choice((None, *drivers)))
    return replace(plan, early=tuple(alias for alias in query.aliases if rng.random() < 0.5))


def run_and_change(query: Query, place: Place, plans: list[Plan], rng: Random, drain: bool) -> None:
    """Run on one checkpoint, a plan after the other, each with a few more files."""
    partitions = rng.randint(1, 2)
    for count, plan in enumerate(plans[:-1]):
        with first_files_only(query, count + rng.randint(0, 1)):
            run_local(query, place, plan=plan, drain=False, partitions=partitions)
    run_local(query, place, plan=plans[-1], drain=drain, partitions=partitions)


def check(seed: int, folder: Path) -> None:
    """A case on the local engine, under one plan or several in turn."""
    rng = Random(f"types {seed}")
    case = typed_case(seed)
    query = write_case(case, folder / "in")
    place = Place(folder, rng.choice(("parquet", "jsonl")))
    drain = rng.random() < 0.6
    plans = [any_plan(query, rng) for _ in range(rng.choice((1, 1, 2, 3)))]
    run_and_change(query, place, plans, rng, drain)
    assert canonical(place.results(query)) == expected(case, query, place.kind, drain)


def check_view(seed: int, folder: Path) -> None:
    """A view on the local engine, under one plan or several in turn."""
    rng = Random(f"types of views {seed}")
    case = typed_view(seed)
    query = write_case(case, folder / "in")
    place, drain = Place(folder), rng.random() < 0.6
    plans = [any_view_plan(query, rng) for _ in range(rng.choice((1, 1, 2, 3)))]
    run_and_change(query, place, plans, rng, drain)
    assert told(place, query) == expected_view(case, query, drain)


def check_emptied(seed: int, folder: Path) -> None:
    """A join or view of which a stream is all filtered out, under several plans in turn."""
    rng = Random(f"emptied {seed}")
    is_view = rng.random() < 0.4
    case = emptied(rng, (typed_view if is_view else typed_case)(seed))
    query = write_case(case, folder / "in")
    place = Place(folder)
    plans = [(any_view_plan if is_view else any_plan)(query, rng) for _ in range(3)]
    run_and_change(query, place, plans, rng, drain=True)
    if is_view:
        assert told(place, query) == expected_view(case, query, True)
    else:
        assert place.results(query) == answer(query, case.batches) == []


def check_in_laboratory(seed: int) -> None:
    """A case in the laboratory, under any plan and mode."""
    case, rng = typed_case(seed), Random(f"types in the laboratory {seed}")
    mode = rng.choice((Eager(), Lazy(1), Lazy(rng.choice((3, 50, 10**9)) * MICROS)))
    outcome = run(laboratory_plan(rng, case.query), tables_of(case), mode)
    assert canonical(rows_of(outcome)) == canonical(answer(case.query, case.batches))


# ── in one process ────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("seed", SEEDS)
def test_local_results_are_those_of_the_reference(seed: int, tmp_path: Path) -> None:
    check(seed, tmp_path)


@pytest.mark.parametrize("seed", SEEDS)
def test_local_views_are_what_the_reference_says(seed: int, tmp_path: Path) -> None:
    check_view(seed, tmp_path)


@pytest.mark.parametrize("seed", range(400, 420))
def test_columns_inside_of_others_are_like_any_other(seed: int, tmp_path: Path) -> None:
    rng = Random(f"boxed {seed}")
    is_view = seed % 2 == 1
    case = (typed_view if is_view else typed_case)(seed)
    query = boxed(write_case(case, tmp_path / "in"))
    place = Place(tmp_path)
    run_local(query, place, plan=(any_view_plan if is_view else any_plan)(query, rng))
    if is_view:
        assert told(place, query) == expected_view(case, case.query, True)
    else:
        assert canonical(place.results(query)) == expected(case, case.query, place.kind)


@pytest.mark.parametrize("seed", range(300, 360))
def test_plans_may_change_where_a_filter_drops_a_whole_stream(seed: int, tmp_path: Path) -> None:
    check_emptied(seed, tmp_path)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_laboratory_gives_the_results_of_the_reference(seed: int) -> None:
    check_in_laboratory(seed)


def test_keys_are_of_all_pairs_of_types_and_many_joins_of_any_size_have_results() -> None:
    pairs: set[frozenset[DataType]] = set()
    having, all_ = Counter[int](), Counter[int]()
    for seed in range(700):
        case = typed_case(seed)
        size = len(case.query.inputs)
        pairs |= {frozenset((e.left.type, e.right.type)) for e in case.query.equalities}
        if seed >= 250:
            continue
        all_[size] += 1
        having[size] += bool(answer(case.query, case.batches))
    wanted = {frozenset(p) for p in product(TYPES, TYPES) if common_type(*p) is not None}
    assert wanted - pairs == set()
    assert {size: having[size] for size in all_ if having[size] < 0.5 * all_[size]} == {}


# ── on Spark ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.spark
@pytest.mark.parametrize("number", range(SPARK_CASES))
def test_spark_gives_the_same(number: int, spark: SparkSession, tmp_path: Path) -> None:
    rng = Random(f"types on Spark {number}")
    is_view = number % 2 == 1
    draw = typed_view if is_view else typed_case
    # Those of many types at once: keys and groups of other types than most, with results.
    seed = [s for s in range(5_000, 5_200) if is_rich(draw(s))][number // 2]
    case = draw(seed)
    query = write_case(case, tmp_path / "in")
    place = Place(tmp_path)
    plans = [(any_view_plan if is_view else any_plan)(query, rng) for _ in range(2)]
    with first_files_only(query, 1):
        run_spark(spark, query, place, plan=plans[0], drain=False)
    run_spark(spark, query, place, plan=plans[1])
    if is_view:
        assert told(place, query) == expected_view(case, query, True)
    else:
        assert canonical(place.results(query)) == expected(case, query, place.kind)


def is_rich(case: Case) -> bool:
    """Whether keys are dates and times, or of two kinds of numbers, and there are results."""
    keys = [{side.type for side in (e.left, e.right)} for e in case.query.equalities]
    odd = any(types & {DataType.DATE, DataType.TIMESTAMP} or len(types) > 1 for types in keys)
    short = max(map(len, case.batches.values())) == 2
    return odd and short and bool(answer(replace(case.query, view=None), case.batches))


# ── what went wrong once ──────────────────────────────────────────────────────────────────────────

SCRIPT = """
CREATE STREAM a (ts BIGINT, t TIMESTAMP, d DATE, n BIGINT, x DOUBLE, b BOOLEAN)
  WITH (format='parquet', path='{folder}/a', timestamp='ts', unit='s', max_files=1);
CREATE STREAM b (ts BIGINT, t TIMESTAMP, d DATE, n BIGINT, x DOUBLE, b BOOLEAN)
  WITH (format='parquet', path='{folder}/b', timestamp='ts', unit='s', max_files=1);
CREATE STREAM c (ts BIGINT, t TIMESTAMP, d DATE, n BIGINT, x DOUBLE, b BOOLEAN)
  WITH (format='parquet', path='{folder}/c', timestamp='ts', unit='s', max_files=1);
{select}
"""
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
DAY = date(2026, 1, 1)
MIDNIGHT = datetime(2026, 1, 1, tzinfo=UTC)
BIG = 2**53


def asked(folder: Path, select: str, files: int = 1) -> Query:
    """A query over three streams, each with the same rows in every file."""
    columns = {
        "t": pa.array([NOON, None, MIDNIGHT, None], pa.timestamp("us", tz="UTC")),
        "d": pa.array([None, DAY, None, DAY], pa.date32()),
        "n": pa.array([BIG + 1, BIG, None, 2**63 - 1]),
        "x": pa.array([float(BIG), None, math.nan, 2.0**63]),
        "b": pa.array([True, None, False, None]),
    }
    for name in "abc":
        (folder / name).mkdir(parents=True)
        for number in range(files):
            times = {"ts": [4 * number + n for n in range(4)]}
            pq.write_table(pa.table(times | columns), folder / name / f"{number}.parquet")
    return parse(SCRIPT.format(folder=folder, select=select))


PAIRS: dict[str, list[tuple[Any, Any]]] = {
    "a.t = b.t": [(NOON, NOON), (MIDNIGHT, MIDNIGHT)],
    "a.t = b.d": [(MIDNIGHT, DAY)] * 2,
    "a.n = b.x": [(BIG, BIG), (BIG + 1, BIG), (2**63 - 1, 2**63)],
    "a.x = b.x": [(BIG, BIG), (2**63, 2**63), (math.nan, math.nan)],
    "a.b = b.b": [(False, False), (True, True)],
}


@pytest.mark.parametrize("equality", PAIRS)
def test_null_keys_of_any_type_match_nothing_and_others_match_in_their_common_type(
    equality: str, tmp_path: Path
) -> None:
    """As keys and as theta predicates alike."""
    one, other = equality.split(" = ")
    select = f"SELECT {one} AS one, {other} AS other FROM a [UNBOUNDED], b [UNBOUNDED] WHERE "
    for number, where in enumerate((equality, f"{one} <= {other} AND {one} >= {other}")):
        query = asked(tmp_path / f"{number}", select + where)
        place = Place(tmp_path / f"{number}")
        run_local(query, place)
        assert canonical(place.results(query)) == canonical(PAIRS[equality])


def test_null_is_a_group_of_times(tmp_path: Path) -> None:
    query = asked(tmp_path, "SELECT a.t, COUNT(*) AS n FROM a [UNBOUNDED] GROUP BY a.t EVERY 4 s")
    run_local(query, Place(tmp_path), partitions=2)
    shown = [row[2:] for row in told(Place(tmp_path), query)]
    assert canonical(shown[-3:]) == canonical([(NOON, 1), (MIDNIGHT, 1), (None, 2)])


@pytest.mark.parametrize("shape", [(("a", "c"), "b"), (("a", "b"), "c"), ("a", ("b", "c"))])
def test_the_plan_may_change_to_a_product_over_a_window_that_a_filter_empties(
    shape: Any, tmp_path: Path
) -> None:
    select = """SELECT a.n AS an, b.n AS bn, c.n AS cn FROM a [ROWS 3], b [ROWS 3], c [ROWS 3]
    WHERE a.n = b.n AND b.x = c.x AND c.n < 0"""
    query = asked(tmp_path, select, files=3)
    place = Place(tmp_path)
    with first_files_only(query, 2):
        run_local(query, place, drain=False)
    run_local(query, place, plan=tree(query, shape))
    assert place.results(query) == []

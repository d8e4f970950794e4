"""Join trees on both engines against the reference, and plans that change on one checkpoint."""

from __future__ import annotations

import json
import zlib
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from random import Random
from threading import Event
from typing import TYPE_CHECKING, Any

import pytest

from penstock.cql import parse
from penstock.engine.local import open_run
from penstock.engine.reports.report import Report
from penstock.engine.routes.routing import routing_of
from penstock.engine.rows.layout import Layout
from penstock.engine.run.options import RunOptions
from penstock.errors import PlanError
from penstock.plan.plan import Plan
from penstock.plan.tree import Branch, TreeJoin, branches, is_left_deep
from penstock.query import Query
from reference import answer
from support.engines.runs import (
    Place,
    expected,
    first_files_only,
    planned,
    random_plan,
    random_tree,
    run_local,
    run_replanning,
    run_spark,
    tree,
)
from support.plans.trees import (
    CHAIN,
    COMMON,
    LONG,
    TIMES,
    assert_only_what_counts_is_there,
    long_query,
)
from support.streams.cases import canonical, random_case, write_case

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SEEDS = range(4000, 4120)
SPARK_CASES = 8


def any_plan(query: Query, rng: Random) -> Plan:
    """Mostly trees; some multi-way plans."""
    is_tree = rng.random() < 0.75
    return random_tree(query, rng) if is_tree else planned(query, random_plan(query, rng))


def traits(plan: TreeJoin) -> frozenset[str]:
    """What is special about a tree: what the chosen cases must cover together."""
    query = plan.query
    joins = list(branches(plan.root))
    inners = [node for node in joins if node is not plan.root]
    found = {"left-deep" if is_left_deep(plan.root) else "bushy"} if len(joins) > 1 else set()
    if any(node.method == "nested" for node in joins):
        found.add("product")
    if any(node.method == "nested" for node in joins if node not in inners) and inners:
        found.add("product of an inner result")
    if inners and query.is_sequenced:
        found.add("ROWS")
    if inners and len(query.streams) < len(query.inputs):
        found.add("table")
    if inners and len(query.sources) < len(query.inputs):
        found.add("self-join")
    routing = routing_of(plan, Layout(query))
    found |= {f"{routing.rounds} rounds"}
    found |= {"stays" if inner.is_local else "moves" for inner in routing.inners}
    return frozenset(found)


WANTED = {"left-deep", "bushy", "product", "product of an inner result", "ROWS", "table"} | {
    "self-join", "1 rounds", "2 rounds", "3 rounds", "stays", "moves"
}  # fmt: skip


# ── in one process ────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("seed", SEEDS)
def test_local_trees_give_what_the_reference_does(seed: int, tmp_path: Path) -> None:
    rng = Random(f"tree {seed}")
    case = random_case(seed)
    query = write_case(case, tmp_path / "in")
    place = Place(tmp_path, rng.choice(("parquet", "jsonl")))
    drain = rng.random() < 0.5
    plan = random_tree(query, rng)
    run_local(query, place, plan=plan, drain=drain, partitions=rng.randint(1, 3))
    assert canonical(place.results(query)) == expected(case, query, place.kind, drain)


def test_the_local_cases_cover_all_kinds_of_trees() -> None:
    trees = [random_tree(random_case(seed).query, Random(f"tree {seed}")) for seed in SEEDS]
    covered = [trait for plan in trees for trait in traits(plan)]
    assert {trait: covered.count(trait) for trait in WANTED if covered.count(trait) < 5} == {}


@pytest.mark.parametrize("seed", range(5000, 5060))
def test_plans_may_change_at_restarts(seed: int, tmp_path: Path) -> None:
    rng = Random(f"restart {seed}")
    case = random_case(seed)
    query = write_case(case, tmp_path / "in")
    place = Place(tmp_path)
    for count in sorted(rng.sample(range(5), 3)):
        with first_files_only(query, count):
            run_local(query, place, plan=any_plan(query, rng), drain=False, partitions=2)
    run_local(query, place, plan=any_plan(query, rng))
    assert canonical(place.results(query)) == expected(case, query, place.kind)


@pytest.mark.parametrize("seed", range(6000, 6060))
def test_plans_may_change_at_batch_boundaries(seed: int, tmp_path: Path) -> None:
    rng = Random(f"boundary {seed}")
    case = random_case(seed)
    query = write_case(case, tmp_path / "in")
    place = Place(tmp_path)
    run_replanning(query, place, rng, any_plan)
    assert canonical(place.results(query)) == expected(case, query, place.kind)
    assert_only_what_counts_is_there(place)


def test_a_tree_starts_from_the_checkpoint_of_an_earlier_version(tmp_path: Path) -> None:
    """Its manifests say nothing of inner state or shed tuples."""
    query = long_query(tmp_path / "in", TIMES, CHAIN, batches=8)
    plain, place = Place(tmp_path / "plain"), Place(tmp_path)
    run_local(query, plain)
    with first_files_only(query, 4):
        run_local(query, place, drain=False)
    newest = sorted((place.checkpoint / "manifests").iterdir())[-1]
    facts = json.loads(newest.read_text())["manifest"]
    assert facts.pop("inner") == []
    assert facts.pop("total_shed") == {}
    checksum = zlib.crc32(json.dumps(facts).encode())
    newest.write_text(json.dumps({"checksum": checksum, "manifest": facts}))
    run_local(query, place, plan=tree(query, SHAPES[CHAIN][0]))
    assert canonical(place.results(query)) == canonical(plain.results(query))


def test_a_plan_may_put_filters_in_another_order(tmp_path: Path) -> None:
    where = f"{CHAIN} AND a.id > 12 AND a.j < 2"
    query = long_query(tmp_path / "in", TIMES, where, batches=6)
    other = replace(query, filters=query.filters[::-1])
    assert other.filters != query.filters
    plain, place = Place(tmp_path / "plain"), Place(tmp_path)
    run_local(query, plain)
    with first_files_only(query, 2):
        run_local(query, place, drain=False)
    run = open_run(planned(query), RunOptions(sink=place.sink, checkpoint=str(place.checkpoint)))
    run.replan(tree(other, SHAPES[CHAIN][0]))
    run.available_now(drain=True)
    assert canonical(place.results(query)) == canonical(plain.results(query))


def test_a_plan_of_another_query_is_refused(tmp_path: Path) -> None:
    query = long_query(tmp_path / "in", TIMES, CHAIN, batches=1)
    place = Place(tmp_path)
    run = open_run(planned(query), RunOptions(sink=place.sink, checkpoint=str(place.checkpoint)))
    other = parse(LONG.format(folder=tmp_path / "in", windows=TIMES, where=COMMON))
    with pytest.raises(PlanError, match="for another query"):
        run.replan(planned(other))
    run.available_now()


def test_nested_loops_are_refused_where_there_is_a_key(tmp_path: Path) -> None:
    query = long_query(tmp_path / "in", TIMES, COMMON, batches=1)
    plan = tree(query, SHAPES[COMMON][1])
    assert isinstance(plan.root, Branch)
    nested = replace(plan, root=replace(plan.root, method="nested"))
    with pytest.raises(PlanError, match="a ⋈ c and b ⋈ d are joined by nested loops"):
        run_local(query, Place(tmp_path), plan=nested)


def test_joins_on_one_key_need_one_round(tmp_path: Path) -> None:
    query = long_query(tmp_path / "in", TIMES, COMMON, batches=1)
    for shape in SHAPES[COMMON]:
        routing = routing_of(tree(query, shape), Layout(query))
        assert routing.rounds == 1
        assert [inner.is_local for inner in routing.inners] == [True, True]


# ── on Spark ──────────────────────────────────────────────────────────────────────────────────────


@lru_cache(maxsize=1)
def chosen() -> tuple[int, ...]:
    """Seeds of cases of two or three batches whose trees cover all traits, then others."""
    missing = set(WANTED)
    covering: list[int] = []
    others: list[int] = []
    for seed in range(7000, 7200):
        if not missing and len(covering) + len(others) >= SPARK_CASES:
            break
        case = random_case(seed)
        is_short = max(map(len, case.batches.values())) in (2, 3)
        if len(case.query.inputs) < 3 or not is_short or not answer(case.query, case.batches):
            continue
        found = traits(random_tree(case.query, Random(seed)))
        (covering if missing & found else others).append(seed)
        missing -= found
    return tuple(covering + others)[:SPARK_CASES]


def test_the_cases_for_spark_cover_all_kinds_of_trees() -> None:
    trees = [random_tree(random_case(seed).query, Random(seed)) for seed in chosen()]
    assert len(trees) == SPARK_CASES
    assert frozenset().union(*map(traits, trees)) >= WANTED


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("number", range(SPARK_CASES))
def test_spark_trees_give_what_the_reference_does(
    number: int, spark: SparkSession, tmp_path: Path
) -> None:
    case = random_case(chosen()[number])
    query = write_case(case, tmp_path / "in")
    place = Place(tmp_path, ("parquet", "jsonl")[number % 2])
    plan = random_tree(query, Random(chosen()[number]))
    run_spark(spark, query, place, plan=plan, drain=number % 3 > 0)
    assert canonical(place.results(query)) == expected(case, query, place.kind, number % 3 > 0)


@pytest.mark.classic
@pytest.mark.spark
@pytest.mark.slow
def test_plans_may_change_on_spark(spark: SparkSession, tmp_path: Path) -> None:
    """From tree to tree, to a multi-way plan and back: at batch boundaries, then at restarts."""
    from penstock.engine.spark.start import start

    windows = ("ROWS 6", "RANGE 25 SECONDS", "PARTITION BY k ROWS 3", "RANGE 9 SECONDS")
    query = long_query(tmp_path / "in", windows, CHAIN, batches=10)
    bushy, deep = (tree(query, shape) for shape in SHAPES[CHAIN])
    plans: list[Plan] = [
        bushy,
        deep,
        planned(query),
        tree(query, (("a", "d"), ("c", "b"))),
        deep,
        bushy,
    ]
    plain, place = Place(tmp_path / "plain"), Place(tmp_path / "spark")
    run_local(query, plain)
    begun = Event()

    def follow(report: Report) -> None:
        begun.wait()
        run.replan(plans[(report.batch + 1) % len(plans)])

    with first_files_only(query, len(plans)):
        run = start(
            plans[0],
            spark,
            RunOptions(
                sink=place.sink,
                checkpoint=str(place.checkpoint),
                partitions=2,
                available_now=True,
                report=follow,
            ),
        )
        begun.set()
        run.await_termination()
    assert [report.batch for report in run.reports] == list(range(len(plans)))
    for count, plan in ((8, deep), (9, bushy)):
        with first_files_only(query, count):
            run_spark(spark, query, place, plan=plan, drain=False)
    run_spark(spark, query, place, plan=planned(query))
    assert canonical(place.results(query)) == canonical(plain.results(query))
    assert_only_what_counts_is_there(place)


# ── many batches ──────────────────────────────────────────────────────────────────────────────────

NUMBERS = ("ROWS 6", "RANGE 25 SECONDS", "PARTITION BY k ROWS 3", "ROWS 4")
LOOSE = "a.k = c.k AND a.id < b.id AND c.j = d.j"
SHAPES: dict[str, list[Any]] = {
    CHAIN: [(("a", "b"), ("d", "c")), ("d", ("c", ("b", "a")))],
    COMMON: [((("a", "b"), "c"), "d"), (("a", "c"), ("b", "d"))],
    LOOSE: [((("a", "c"), "d"), "b"), ((("a", "d"), "c"), "b")],
}


@pytest.mark.parametrize("where", [CHAIN, COMMON, LOOSE], ids=["chain", "common", "loose"])
@pytest.mark.parametrize("windows", [TIMES, NUMBERS], ids=["time", "rows"])
def test_long_runs_keep_little_inner_state(
    windows: tuple[str, ...], where: str, tmp_path: Path
) -> None:
    query = long_query(tmp_path / "in", windows, where, batches=32)
    plain = Place(tmp_path / "plain")
    run_local(query, plain)
    wanted = canonical(plain.results(query))
    assert wanted.total() > 200
    for number, shape in enumerate(SHAPES[where]):
        place = Place(tmp_path / str(number))
        reports = run_local(query, place, plan=tree(query, shape), partitions=2)
        assert canonical(place.results(query)) == wanted, shape
        assert_only_what_counts_is_there(place)
        most = [max(r.state_tuples for r in reports[i : i + 8]) for i in (10, 24)]
        assert most[1] < 2 * most[0], shape
        for partitions in place.manifest.modules.values():
            assert all(len(chunks) <= 12 for chunks in partitions.values())

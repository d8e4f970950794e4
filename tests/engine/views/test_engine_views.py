"""Views on both engines against the reference: late and early, whatever the plan."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from penstock.engine.sinks.sink import console, foreach_batch
from penstock.errors import PlanError
from penstock.plan.multiway import MultiwayJoin
from penstock.plan.plan import Plan
from penstock.query import Query, RowsWindow, TimeWindow
from penstock.query.window import NOW, UNBOUNDED, is_tumble
from reference import view_changes
from support.engines.long_views import CHAIN, ROWS, SLIDING, long_case, one_stream, table_of
from support.engines.runs import (
    Place,
    first_files_only,
    planned,
    random_plan,
    random_tree,
    run_local,
    run_replanning,
    run_spark,
    tree,
)
from support.engines.viewed_runs import told_and_expected
from support.streams.cases import random_view, write_case
from support.streams.views import expected, told

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SPARK_CASES = 8


def any_plan(query: Query, rng: Random) -> Plan:
    """Any kind of plan, with any inputs aggregated early, and the view recomputed or not."""
    early = tuple(alias for alias in query.aliases if rng.random() < 0.5)
    if rng.random() < 0.5:
        return replace(random_tree(query, rng), early=early)
    plan = planned(query, random_plan(query, rng))
    assert isinstance(plan, MultiwayJoin)
    drivers = [item.alias for item in query.streams]
    if len(drivers) < 2 or query.is_sequenced or rng.random() < 0.3:
        return replace(plan, early=early)
    return replace(plan, early=early, recompute=rng.choice(drivers))


def traits(query: Query) -> set[str]:
    """What is special about a view: what the chosen cases must cover together."""
    view = query.view
    assert view is not None
    found = {each.function for each in view.aggregates} | {f"{len(query.inputs)} inputs"}
    found.add("total" if not view.groups else "groups")
    found.add("eager" if view.every == 1 else "lazy")
    found |= {name for name, part in _PARTS.items() if part(query)}
    for item in query.inputs:
        match item.window:
            case None:
                found.add("table")
            case RowsWindow():
                found.add("ROWS")
            case TimeWindow() as window:
                kinds = {NOW: "NOW", UNBOUNDED: "UNBOUNDED"}
                other = "TUMBLE" if is_tumble(window) else "SLIDE" if window.slide > 1 else "RANGE"
                found.add(kinds.get(window, other))
    return found


_PARTS: dict[str, Callable[[Any], bool]] = {
    "having": lambda query: query.view.having is not None,
    "filter": lambda query: bool(query.filters),
    "theta": lambda query: bool(query.thetas),
    "key": lambda query: bool(query.equalities),
}
WANTED = {
    "count", "sum", "avg", "min", "max", "total", "groups", "eager", "lazy", "table", "ROWS", "NOW",
    "UNBOUNDED", "TUMBLE", "SLIDE", "RANGE", "having", "filter", "theta", "key", "1 inputs",
    "2 inputs", "3 inputs", "4 inputs",
}  # fmt: skip
SEEDS = range(125)


# ── in one process ────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("seed", SEEDS)
def test_local_views_are_what_the_reference_says(seed: int, tmp_path: Path) -> None:
    rng = Random(f"engine view {seed}")
    found, wanted = told_and_expected(random_view(seed), tmp_path, rng, any_plan)
    assert found == wanted


def test_the_local_cases_cover_all_there_is() -> None:
    covered = [trait for seed in SEEDS for trait in traits(random_view(seed).query)]
    assert {trait: covered.count(trait) for trait in WANTED if covered.count(trait) < 5} == {}


@pytest.mark.parametrize("seed", range(300, 308))
def test_all_sets_of_early_inputs_give_the_same(seed: int, tmp_path: Path) -> None:
    case = random_view(seed)
    query = write_case(case, tmp_path / "in")
    wanted = expected(case, query)
    for size in range(len(query.inputs) + 1):
        for early in combinations(query.aliases, size):
            place = Place(tmp_path / "-".join(("early", *early)))
            run_local(query, place, plan=replace(planned(query), early=early), partitions=2)
            assert told(place, query) == wanted, early


@pytest.mark.parametrize("seed", range(400, 424))
def test_plans_and_early_inputs_may_change_at_restarts(seed: int, tmp_path: Path) -> None:
    rng = Random(f"view restart {seed}")
    case = random_view(seed)
    query = write_case(case, tmp_path / "in")
    place = Place(tmp_path)
    for count in sorted(rng.sample(range(5), 3)):
        with first_files_only(query, count):
            run_local(query, place, plan=any_plan(query, rng), drain=False, partitions=2)
    run_local(query, place, plan=any_plan(query, rng))
    assert told(place, query) == expected(case, query)


@pytest.mark.parametrize("seed", range(500, 524))
def test_plans_and_early_inputs_may_change_at_batch_boundaries(seed: int, tmp_path: Path) -> None:
    rng = Random(f"view boundary {seed}")
    case = random_view(seed)
    query = write_case(case, tmp_path / "in")
    place = Place(tmp_path)
    run_replanning(query, place, rng, any_plan)
    assert told(place, query) == expected(case, query)
    listed = sorted(chunk.name for chunk in place.manifest.chunks())
    assert listed == place.store.names("state")


# ── sinks and refusals ────────────────────────────────────────────────────────────────────────────


def test_lines_and_console_say_when_and_how(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    batches = [table_of([0, 4], [1, 2], [0.5, 0.25])]
    query = one_stream(tmp_path, batches, "SELECT SUM(v) AS s FROM a [NOW] HAVING COUNT(*) > 0")
    place = Place(tmp_path, "jsonl")
    reports = run_local(query, place)
    lines = Path(place.sink.place).read_text().splitlines()
    stamp = "1970-01-01T00:00:0{}Z"
    assert [json.loads(line) for line in lines] == [
        {"s": s, "_time": stamp.format(time), "_change": change}
        for s, time, change in (
            (1, "0.000000", "upsert"),
            (1, "0.000001", "delete"),
            (2, "4.000000", "upsert"),
            (2, "4.000001", "delete"),
        )
    ]
    assert reports[-1].total_results == 4
    run_local(query, place, sink=console(), checkpoint=tmp_path / "other")
    assert capfdbinary.readouterr().out.decode().splitlines() == lines


def test_only_views_are_aggregated_early(tmp_path: Path) -> None:
    query = one_stream(tmp_path, [], "SELECT v FROM a [NOW]")
    with pytest.raises(PlanError, match="aggregates a early, but the query does not"):
        run_local(query, Place(tmp_path), plan=replace(planned(query), early=("a",)))


# ── on Spark ──────────────────────────────────────────────────────────────────────────────────────


@lru_cache(maxsize=1)
def chosen() -> tuple[int, ...]:
    """Seeds of cases of two or three batches that cover most traits, then others."""
    missing = set(WANTED)
    covering: list[int] = []
    others: list[int] = []
    for seed in range(700, 780):
        case = random_view(seed)
        found = traits(case.query)
        is_short = max(map(len, case.batches.values())) in (2, 3)
        is_enough = len(covering) + len(others) >= SPARK_CASES and not missing & found
        if is_enough or not is_short or len(view_changes(case.query, case.batches)) < 4:
            continue
        (covering if missing & found else others).append(seed)
        missing -= found
    return tuple(covering + others)[:SPARK_CASES]


def test_the_cases_for_spark_cover_most() -> None:
    covered = set().union(*(traits(random_view(seed).query) for seed in chosen()))
    assert len(chosen()) == SPARK_CASES
    assert len(WANTED - covered) <= 2


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("number", range(SPARK_CASES))
def test_spark_views_are_what_the_reference_says(
    number: int, spark: SparkSession, tmp_path: Path
) -> None:
    case = random_view(chosen()[number])
    query = write_case(case, tmp_path / "in")
    place = Place(tmp_path)
    plan = any_plan(query, Random(number))
    run_spark(spark, query, place, plan=plan, drain=number % 3 > 0)
    assert told(place, query) == expected(case, query, number % 3 > 0)


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("windows", [SLIDING, ROWS], ids=["slide", "rows"])
def test_views_may_change_their_plans_on_spark(
    windows: tuple[str, ...], spark: SparkSession, tmp_path: Path
) -> None:
    case = long_case(tmp_path / "in", windows, CHAIN, batches=6)
    query, place = case.query, Place(tmp_path)
    late, bushy = planned(query), tree(query, (("a", "b"), "c"))
    assert isinstance(late, MultiwayJoin)
    first = late if windows is ROWS else replace(late, early=("a", "b", "c"), recompute="b")
    for count, plan in ((2, first), (4, replace(bushy, early=("a", "b")))):
        with first_files_only(query, count):
            run_spark(spark, query, place, plan=plan, drain=False)
    run_spark(spark, query, place, plan=replace(late, early=("c",)))
    assert told(place, query) == expected(case, query)


@pytest.mark.classic
@pytest.mark.spark
@pytest.mark.slow
def test_a_function_gets_the_changes_of_a_view(spark: SparkSession, tmp_path: Path) -> None:
    batches = [table_of([0, 4], [1, 2], [0.5, 0.25])]
    query = one_stream(tmp_path, batches, "SELECT SUM(v) AS s FROM a [RANGE 2 SECONDS]")
    found = []
    sink = foreach_batch(lambda frame, number: found.extend(frame.collect()))
    run_spark(spark, query, Place(tmp_path), sink=sink)
    assert {tuple(row.asDict()) for row in found} == {("s", "_time", "_change")}
    changes = sorted((row["_time"], row["_change"], row["s"]) for row in found)
    assert [(kind, s) for _, kind, s in changes] == [("upsert", s) for s in (1, None, 2, None)]

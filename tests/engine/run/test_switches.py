"""Whatever plans a run switches between, and when, its results are those of the reference.

`make soak` does the same with more seeds, and kills such runs.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from itertools import pairwise, product
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

from penstock.plan.plan import Plan, recomputed_by
from support.engines.long_views import CHAIN as VIEW_CHAIN
from support.engines.long_views import ROWS, SLIDING, long_case
from support.engines.runs import Place, run_local, run_replanning
from support.engines.switching import (
    Trip,
    any_trip,
    check,
    check_estimates,
    check_seed,
    on_spark,
    supervised,
)
from support.plans.every_kind import KINDS, any_kind, kind_of
from support.plans.trees import (
    CHAIN,
    COMMON,
    TIMES,
    assert_only_what_counts_is_there,
    long_query,
)
from support.streams.cases import canonical
from support.streams.hostile import Hostile, all_null, nothing_at_all, one_key_only, one_moment
from support.streams.many_batches import any_case, batches_of
from support.streams.views import expected as expected_view
from support.streams.views import told

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SEEDS = range(60)
NUMBERS = ("ROWS 6", "RANGE 25 SECONDS", "PARTITION BY k ROWS 3", "ROWS 4")
SPARK_CASES = 3


# ── in one process ────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("seed", SEEDS)
def test_local_runs_give_what_the_reference_does_whatever_they_switch_to(
    seed: int, tmp_path: Path
) -> None:
    check_seed(seed, tmp_path)


def traits(trip: Trip) -> Counter[str]:
    """What is special about a trip: what the chosen seeds must cover together."""
    found = Counter({f"{len(trip.case.query.inputs)} inputs", f"{len(trip.legs)} legs"})
    plans = [plan for leg in trip.legs for plan in leg.plans]
    found.update(f"{kind_of(one)} to {kind_of(other)}" for one, other in pairwise(plans))
    found.update(name for pair in pairwise(plans) for name in other_changes(*pair))
    found["drained after a switch"] += trip.is_drained and bool(trip.legs[-1].switches[-1])
    found["opened with nothing new"] += any(len(leg.switches) == 1 for leg in trip.legs)
    found["twice in a row"] += any(len(given) > 1 for leg in trip.legs for given in leg.switches)
    found["shed"] += any(box.kept for box in trip.boxes)
    found["view" if trip.case.query.view else "join"] += 1
    return found


def other_changes(one: Plan, other: Plan) -> set[str]:
    """What changes between two plans besides their kind."""
    found = {"early inputs"} if one.early != other.early else set()
    return found | ({"recompute"} if recomputed_by(one) != recomputed_by(other) else set())


def test_the_seeds_cover_every_kind_of_switch() -> None:
    covered = sum((traits(any_trip(seed)) for seed in SEEDS), Counter[str]())
    wanted = {f"{one} to {other}" for one, other in product(KINDS, KINDS)}
    wanted |= {"early inputs", "recompute", "drained after a switch", "opened with nothing new"}
    wanted |= {"twice in a row", "shed", "view", "join", "1 legs", "2 legs", "3 legs"}
    wanted |= {f"{count} inputs" for count in range(1, 6)}
    assert {trait for trait in wanted if covered[trait] < 3} == set()


@pytest.mark.parametrize("seed", range(1000, 1006))
@pytest.mark.parametrize("hostile", [nothing_at_all, one_key_only, all_null, one_moment])
def test_hostile_streams_are_switched_exactly_too(
    hostile: Hostile, seed: int, tmp_path: Path
) -> None:
    check(any_trip(seed, hostile(any_case(seed))), tmp_path)


@pytest.mark.parametrize("seed", range(2001, 2025, 2))
def test_views_are_estimated_alike_whatever_is_switched_to(seed: int, tmp_path: Path) -> None:
    """Shedding begins, changes and ends at any batch; that alone decides what is estimated."""
    check_estimates(any_trip(seed, sheds=True), tmp_path)


@pytest.mark.parametrize("seed", range(4000, 4012))
def test_a_supervisor_may_switch_as_recklessly(seed: int, tmp_path: Path) -> None:
    check(any_trip(seed), tmp_path, supervised)


@pytest.mark.parametrize("where", [CHAIN, COMMON], ids=["chain", "common"])
@pytest.mark.parametrize("windows", [TIMES, NUMBERS], ids=["time", "rows"])
def test_long_runs_switch_in_every_batch(
    windows: tuple[str, ...], where: str, tmp_path: Path
) -> None:
    """So that chunks of many plans are merged and expire."""
    where = f"{where} AND a.j < 2 AND c.id % 4 > 0 AND a.id % 7 > 0"
    query = long_query(tmp_path / "in", windows, where, batches=24)
    plain, place = Place(tmp_path / "plain"), Place(tmp_path / "switched")
    run_local(query, plain)
    run_replanning(query, place, Random(where), any_kind)
    assert canonical(place.results(query)) == canonical(plain.results(query))
    assert canonical(plain.results(query)).total() > 10
    assert_only_what_counts_is_there(place)


@pytest.mark.parametrize("windows", [SLIDING, ROWS], ids=["calendar", "rows"])
def test_long_views_switch_in_every_batch(windows: tuple[str, ...], tmp_path: Path) -> None:
    """The calendar of a view is given up where it is recomputed, and made again."""
    case = long_case(tmp_path / "in", windows, VIEW_CHAIN, batches=16)
    place = Place(tmp_path)
    run_replanning(case.query, place, Random("view"), any_kind)
    assert told(place, case.query) == expected_view(case, case.query)


# ── on Spark ──────────────────────────────────────────────────────────────────────────────────────


@lru_cache(maxsize=1)
def chosen() -> tuple[int, ...]:
    """Seeds of few batches, with many switches; what is shed depends on which batch sees them."""
    trips = {seed: any_trip(seed, sheds=False) for seed in range(3000, 3060)}
    short = [
        seed
        for seed, trip in trips.items()
        if batches_of(trip.case) in (3, 4, 5) and len(trip.case.query.inputs) > 1
    ]
    return tuple(sorted(short, key=lambda seed: -len(traits(trips[seed])))[:SPARK_CASES])


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("number", range(SPARK_CASES))
def test_spark_runs_give_what_the_reference_does_whatever_they_switch_to(
    number: int, spark: SparkSession, tmp_path: Path
) -> None:
    check(any_trip(chosen()[number], sheds=False), tmp_path, on_spark(spark))

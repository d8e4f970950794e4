"""The reservoir: what is drawn and kept while a query runs, and the training by it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from penstock.adapt.settings import DEFAULT_SETTINGS, Settings
from penstock.adapt.training.rehearsal import rehearsed
from penstock.adapt.training.reservoir import Reservoir
from penstock.cql import parse
from penstock.engine.rows.columns import TS
from penstock.optimize.mesh.reckon import operator_name
from penstock.optimize.options import PlanOptions
from penstock.stats.statistics import Statistics
from support.adapt.sectors import drawn, mesh_by, sector_query, tuples

SMALL = Settings(sample_size=200, sample_enough=150, sample_draw=100, sample_every=4)


def filled(shift: int = 0, settings: Settings = DEFAULT_SETTINGS) -> Reservoir:
    reservoir = Reservoir(sector_query(), settings=settings)
    for batch in range(2):
        reservoir.take([drawn(tuples(1_000, batch, shift), 1_000 * batch)])
    return reservoir


def statistics() -> Statistics:
    return Statistics(sector_query())


def times_kept(reservoir: Reservoir) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    kept = reservoir._kept["S"].rows
    assert kept is not None
    return np.asarray(kept.column(TS).to_numpy())


def test_all_batches_draw_until_there_is_enough_and_then_few() -> None:
    reservoir = Reservoir(sector_query(), settings=SMALL)
    asked = []
    for batch in range(10):
        wanted = reservoir.wanted()
        asked.append(bool(wanted))
        facts = [drawn(tuples(100, batch), 100 * batch, of=1_000)] if wanted else []
        reservoir.take(facts)
    assert asked == [True, True, False, False, True, False, False, False, True, False]
    assert reservoir.wanted() == {}
    assert reservoir.sizes == {"S": 200}


def test_the_part_to_draw_follows_from_the_last_batch() -> None:
    reservoir = Reservoir(sector_query(), settings=SMALL)
    assert reservoir.wanted()["S"].share == 1.0
    reservoir.take([drawn(tuples(100, 0), of=2_000), drawn(tuples(20, 1), 100, of=3_000)])
    assert reservoir.wanted()["S"].share == 100 / 5_000


def test_all_columns_are_drawn_that_may_tell_tuples_apart() -> None:
    reservoir = Reservoir(sector_query())
    assert reservoir.wanted()["S"].columns == ("kind", "size", "name", "x")
    reservoir.take([drawn(tuples(1_000, 0))])
    # Names are no classes of tuples, and not worth reading.
    assert reservoir.wanted()["S"].columns == ("kind", "size", "x")
    late = drawn(tuples(400, 1), 1_000)
    reservoir.take([late])
    assert reservoir.sizes == {"S": 1_400}


@pytest.mark.parametrize(
    "options",
    [
        PlanOptions(off=frozenset({"mesh"})),
        PlanOptions(kinds=frozenset({"tree", "multiway"})),
        PlanOptions(plan="S"),
    ],
)
def test_nothing_is_drawn_where_no_mesh_can_be_chosen(options: PlanOptions) -> None:
    reservoir = Reservoir(sector_query(), options)
    assert reservoir.wanted() == {}
    reservoir.take([])
    assert not reservoir.is_ready
    assert reservoir.training(statistics()) == ({}, {})


def test_nothing_is_drawn_where_there_is_one_order() -> None:
    query = parse(
        "CREATE STREAM A (ts TIMESTAMP, k BIGINT) "
        "WITH (format='synthetic', rate=1, timestamp='ts');"
        "SELECT A.k FROM A [RANGE 1 SECOND], A [RANGE 1 SECOND] AS B WHERE A.k = B.k"
    )
    assert Reservoir(query).wanted() == {}


def test_recent_tuples_replace_old_ones() -> None:
    reservoir = Reservoir(sector_query(), settings=SMALL)
    for batch in range(60):
        reservoir.take([drawn(tuples(50, batch), 50 * batch)])
    ages = 60 - 1 - times_kept(reservoir) // 50_000
    assert len(ages) == 200
    # The weight halves in ten batches.
    by_ten = [int(((ages >= n) & (ages < n + 10)).sum()) for n in range(0, 60, 10)]
    assert by_ten[0] > 1.3 * by_ten[1] > 1.3 * 1.3 * by_ten[2] > 0
    assert sum(by_ten[4:]) < 30


def test_long_windows_are_remembered_longer() -> None:
    query = sector_query()
    (item,) = query.inputs
    (long,) = parse(
        "CREATE STREAM S (ts TIMESTAMP, k INT) WITH (format='synthetic', rate=1, timestamp='ts');"
        "SELECT S.k FROM S [RANGE 1 HOUR]"
    ).inputs
    query = replace(query, inputs=(replace(item, window=long.window),))
    reservoir = Reservoir(query, settings=SMALL)
    for batch in range(60):
        reservoir.take([drawn(tuples(50, batch), 50 * batch)])
    ages = 60 - 1 - times_kept(reservoir) // 50_000
    assert 24 < ages.mean() < 35


def test_a_large_batch_counts_for_more() -> None:
    reservoir = Reservoir(sector_query(), settings=replace(SMALL, sample_half_life=1_000))
    reservoir.take([drawn(tuples(3_000, 0))])
    reservoir.take([drawn(tuples(1_000, 1), 3_000)])
    kept = times_kept(reservoir)
    assert 120 < int((kept < 3_000_000).sum()) < 175


def test_the_same_tuples_give_the_same_sample_and_training() -> None:
    one, other = filled(), filled()
    parts = [drawn(tuples(1_000, 7).slice(at, 250), 5_000 + at) for at in range(0, 1_000, 250)]
    one.take([drawn(tuples(1_000, 7), 5_000)])
    other.take(parts[::-1])
    assert sorted(times_kept(one)) == sorted(times_kept(other))
    assert filled().training(statistics()) == filled().training(statistics())


def test_what_came_before_a_drift_is_forgotten() -> None:
    reservoir = filled()
    reservoir.take([drawn(tuples(300, 9, 1), 9_000)])
    assert reservoir.is_ready
    reservoir.forget(1)
    assert reservoir.sizes == {"S": int((times_kept(reservoir) >= 9_000_000).sum())}
    assert not reservoir.is_ready
    assert reservoir.wanted()["S"].columns == ("kind", "size", "x")
    reservoir.take([drawn(tuples(1_000, 10, 1), 10_000)])
    assert reservoir.is_ready
    training, _ = reservoir.training(statistics())
    found = training["S"]
    kinds = {values[0]: yields for values, yields in zip(found.values, found.yields, strict=True)}
    assert kinds[0.0] == pytest.approx((0.95, 0.05, 0.95), abs=0.05)


def test_training_by_the_reservoir_tells_the_kinds_apart() -> None:
    training, untrained = filled().training(statistics())
    assert untrained == {}
    mesh = mesh_by(dict(training)).meshes[0]
    assert len(mesh.routes) == 3
    assert mesh.shares == pytest.approx((1 / 3,) * 3, abs=0.05)
    first = {operator_name(route.operators[0]) for route in mesh.routes}
    assert first == {str(condition) for condition in sector_query().filters}


def test_dear_functions_are_tried_on_fewer_tuples() -> None:
    query = sector_query()
    assert rehearsed(query, DEFAULT_SETTINGS) == 1_000
    assert rehearsed(query, replace(DEFAULT_SETTINGS, training_seconds=0.15)) < 500
    assert rehearsed(query, replace(DEFAULT_SETTINGS, training_seconds=1e-6)) == 100


def test_an_empty_sample_says_so() -> None:
    training, untrained = Reservoir(sector_query()).training(statistics())
    assert (training, untrained) == ({}, {"S": "the sample is empty"})

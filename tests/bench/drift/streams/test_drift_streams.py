"""Streams that drift have the rates, keys and regimes that they are said to have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from penstock.bench.data import stream_files
from penstock.bench.drift.cases import migration
from penstock.bench.drift.streams import steps, waves
from penstock.bench.drift.streams.data import ensure_files, tuples_of
from penstock.bench.drift.streams.keys import Keys, Range, equal_fraction, uniform
from penstock.bench.drift.streams.scenario import Scenario
from penstock.bench.drift.streams.steps import STAR3, Shape, Size, sharper_key, swapped_rates
from penstock.bench.drift.streams.truth import known_in

SMALL = Size(3, 2_000.0)
EVERY = (
    *steps.steps(SMALL),
    *waves.waves(waves.Size(1, 100.0, 2_000.0)),
    waves.stationary(waves.Size(1, 100.0), 1),
    waves.near_tie(waves.Size(1, 100.0)),
    migration.migrating(migration.Size(1e4, 200.0, 2)),
)


def counts(scenario: Scenario, name: str) -> list[int]:
    flows = [regime[name] for regime in scenario.regimes()]
    return [len(tuples_of(scenario, name, flow, n)) for n, flow in enumerate(flows)]


@pytest.mark.parametrize("scenario", EVERY, ids=lambda scenario: str(scenario.name))
def test_each_batch_has_the_rate_of_its_regime(scenario: Scenario) -> None:
    for name in scenario.windows:
        wanted = np.array([regime[name].rate for regime in scenario.regimes()]) * scenario.step
        found = np.array(counts(scenario, name))
        assert len(found) == scenario.batches
        assert np.all(np.abs(found - wanted) <= 6.0 * np.sqrt(wanted) + 1.0)


@pytest.mark.parametrize("scenario", EVERY, ids=lambda scenario: str(scenario.name))
def test_its_query_has_a_stream_for_each_flow(scenario: Scenario, tmp_path: Path) -> None:
    query = scenario.query(tmp_path)
    assert set(query.aliases) == set(scenario.stretches[0].regime) == set(scenario.windows)
    assert set(scenario.edges) <= set(range(1, scenario.batches))


def test_a_step_swaps_two_rates_by_a_factor_of_a_hundred() -> None:
    before, after = (each.regime for each in swapped_rates(STAR3, SMALL).stretches)
    first, second = STAR3.pair
    assert before[second].rate / before[first].rate == pytest.approx(100.0)
    assert (after[first], after[second]) == (before[second], before[first])
    assert after["S"] == before["S"]


def test_a_step_makes_one_selectivity_fifty_times_as_large(tmp_path: Path) -> None:
    scenario = sharper_key(STAR3, SMALL)
    query = scenario.query(tmp_path)
    before, after = (
        known_in(scenario, stretch.regime, query, None).groups for stretch in scenario.stretches
    )
    changed = frozenset({"S", "B"})
    for old, new in zip(before, after, strict=True):
        for streams, figure in old.items():
            factor = 50.0 if streams == changed else 1.0
            assert new[streams].value / figure.value == pytest.approx(factor)


def test_waves_swing_by_a_factor_of_ten_within_a_minute() -> None:
    # A sine's two rates are equal a quarter of a period earlier than a square's change.
    edges = {"square": (15, 30, 45), "sine": (8, 23, 38, 53)}
    for scenario in waves.waves(waves.Size(2, 100.0, 2_000.0)):
        for name in STAR3.pair:
            rates = [regime[name].rate for regime in scenario.regimes()]
            assert 9.0 < max(rates) / min(rates) <= 10.0 + 1e-9
            period = round(waves.PERIOD / scenario.step)
            assert rates[:period] == pytest.approx(rates[period:])
        assert scenario.edges == edges[scenario.name]


def test_keys_are_drawn_as_often_as_their_ranges_say() -> None:
    keys = Keys((Range(0, 10, 0.25), Range(100, 200, 0.75)))
    drawn = keys.draw(np.random.default_rng(1), 10_000)
    assert set(drawn.tolist()) <= set(range(10)) | set(range(100, 200))
    assert np.mean(drawn < 10) == pytest.approx(0.25, abs=0.02)


def test_the_fraction_of_equal_keys_follows_from_the_ranges() -> None:
    one = Keys((Range(0, 10, 0.5), Range(10, 20, 0.5)))
    assert equal_fraction([uniform(20), uniform(20)]) == pytest.approx(1 / 20)
    assert equal_fraction([one, uniform(10)]) == pytest.approx(0.5 / 10)
    assert equal_fraction([uniform(10), Keys((Range(10, 20),))]) == 0.0
    assert equal_fraction([uniform(4), uniform(4), uniform(4)]) == pytest.approx(1 / 16)


@pytest.mark.parametrize("make", [swapped_rates, sharper_key])
def test_predicates_let_through_what_is_said(make: Callable[[Shape, Size], Scenario]) -> None:
    scenario, rng = make(STAR3, SMALL), np.random.default_rng(2)
    regime = scenario.stretches[0].regime
    v, u = regime["B"].columns["v"], regime["S"].columns["u"]
    passes = np.mean(v.draw(rng, 1_000_000) < u.draw(rng, 1_000_000))
    assert passes == pytest.approx(scenario.predicates["B.v < S.u"], rel=0.2)


def test_files_are_the_same_for_one_seed_and_others_for_another(tmp_path: Path) -> None:
    scenario = swapped_rates(STAR3, Size(1, 500.0))
    folders = [
        ensure_files(scenario, tmp_path / "one"),
        ensure_files(scenario, tmp_path / "two"),
        ensure_files(replace(scenario, seed=2), tmp_path / "two"),
    ]
    first, again, other = (
        [pq.read_table(path) for path in stream_files(folder, "S")] for folder in folders
    )
    assert first == again
    assert first != other
    assert len(first) == scenario.batches

"""The streams, charges and training of the experiments on query meshes."""

from __future__ import annotations

from datetime import datetime, timedelta
from math import exp

import numpy as np
import pyarrow as pa
import pytest

from penstock.bench.mesh.figures import MESH, SINGLE, Half, Runs
from penstock.engine.rows.columns import TS
from penstock.experiments.query_mesh.charged import TEST, charged
from penstock.experiments.query_mesh.on_spark import spark_claims
from penstock.experiments.query_mesh.over_time import over_time
from penstock.experiments.query_mesh.road import parted
from penstock.experiments.query_mesh.ten_way import (
    BATCHED,
    EDDY,
    NAMES,
    Contest,
    contest_of,
    poisson,
)
from penstock.experiments.query_mesh.trained import effort, matches, mesh_by, train
from penstock.plan.mesh_search import MeshSearch, Rounds


@pytest.fixture(scope="module")
def contest() -> Contest:
    return contest_of(poisson(rate=100, seconds=15))


def test_partitions_are_as_frequent_as_values_of_poisson() -> None:
    data = poisson(rate=100, seconds=15)
    wanted = [exp(-1), exp(-1), 1 - 2 * exp(-1)]
    for stream in range(10):
        assert sorted(data.shares(stream)) == pytest.approx(sorted(wanted))
    assert {data.shares(stream).index(min(data.shares(stream))) for stream in range(3)} == {0, 1, 2}


def test_rivals_give_the_same_results_and_are_charged_for_deciding(contest: Contest) -> None:
    found = {rival: charged(rival, contest) for rival in NAMES}
    rows = {
        rival: sorted(map(repr, each.outcome.results.to_pylist())) for rival, each in found.items()
    }
    assert len(rows[MESH]) > 100
    assert all(each == rows[MESH] for each in rows.values())
    for rival, hop in ((SINGLE, 0.0), (EDDY, 4.5 * TEST), (BATCHED, 0.045 * TEST)):
        work = found[rival].outcome.work
        units = work.inserts + work.compares + (1 + hop) * work.probes
        assert found[rival].units == pytest.approx(units)


def test_results_over_time_never_fall(contest: Contest) -> None:
    found = over_time(contest)
    for counts in found.counts.values():
        assert list(counts) == sorted(counts)
    assert found.lead < 1.0
    assert found.seconds[-1] == pytest.approx(15.0, abs=0.5)


def test_matches_are_those_in_the_window() -> None:
    random = np.random.default_rng(3)
    window = {"k": random.integers(0, 5, 300), TS: np.sort(random.integers(0, 20_000_000, 300))}
    drawn = {"k": random.integers(0, 6, 40), TS: random.integers(0, 20_000_000, 40)}
    codes = np.sort(window["k"] * 10**9 + window[TS])
    found = matches(pa.table(drawn), codes)
    for key, time, count in zip(drawn["k"], drawn[TS], found, strict=True):
        alive = (window[TS] <= time) & (window[TS] > time - 5_000_000)
        assert count == int((alive & (window["k"] == key)).sum())


def test_training_of_a_size_gives_meshes_and_takes_work(contest: Contest) -> None:
    training = train(contest, 12, seed=0)
    assert {len(each.values) for each in training.values()} == {12}
    assert sum(training["S0"].weights) == pytest.approx(1.0)
    assert effort(contest.known, training["S0"], "ii", "each").trees >= 1
    plan = mesh_by(contest.known, training, MeshSearch("ii", "route", Rounds(1)))
    assert [mesh.driver for mesh in plan.meshes] == list(contest.tuples)


def test_reports_of_a_road_are_parted_by_place() -> None:
    start = datetime(2017, 3, 15, 14, 41)
    rows = [
        (f"lane{lane}", place, start + timedelta(minutes=minute), 90.4 + lane)
        for minute in range(3)
        for place in (51.1, 51.2, 51.3, 51.4)
        for lane in (1, 2)
    ]
    lanes, places, times, speeds = (list(column) for column in zip(*rows, strict=True))
    reports = pa.table({"lane": lanes, "lat": places, "ts": times, "speed": speeds})
    found = parted(reports)
    assert [set(each["lat"].to_pylist()) for each in found.values()] == [
        {51.1},
        {51.2},
        {51.3},
        {51.4},
    ]
    assert found["South"]["pace"].to_pylist() == [91, 92] * 3
    every = [time for each in found.values() for time in each["ts"].to_pylist()]
    assert len(set(every)) == len(rows)
    assert {time.minute for time in every} == {41, 42, 43}


@pytest.mark.parametrize(("seconds", "verdict"), [(1.0, "holds"), (2.0, "fails")])
def test_claims_on_spark_are_ratios(seconds: float, verdict: str) -> None:
    runs = Runs(100, 10, {MESH: [seconds], SINGLE: [1.5]})
    claims = spark_claims(Half(runs, runs, {}))
    assert [claim.verdict for claim in claims] == [verdict, verdict]
    assert all(claim.timed for claim in claims)

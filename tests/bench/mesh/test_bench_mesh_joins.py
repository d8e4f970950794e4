"""The rivals of the mesh benchmark on joins, and its skewed data."""

from __future__ import annotations

import pytest

from penstock.bench.mesh.joins import contest
from penstock.bench.mesh.joins_data import STREAMS, skewed

# ── the benchmark ─────────────────────────────────────────────────────────────────────────────────


def test_the_rivals_of_the_benchmark_join_the_same() -> None:
    told: list[str] = []
    found = contest(skewed(rate=100, window=5, seconds=10), 1, told.append)
    assert len(told) == 3
    assert found.tuples == 10_000
    assert found.results > 1_000
    assert {len(runs) for runs in found.runs.values()} == {1}
    assert len({run.checksum for runs in found.runs.values() for run in runs}) == 1
    assert max(found.routes) > 1
    assert found.runs["mesh"][0].compares < found.runs["single"][0].compares
    assert found.ratio("mesh") == 1.0
    assert 0.0 < found.classification < 1.0


def test_each_stream_of_the_skewed_data_has_a_rare_sector() -> None:
    data = skewed(rate=100, window=5, seconds=10)
    rare, frequent, _ = data.matches
    for stream in range(len(STREAMS)):
        in_window = [share * data.rate * data.window / data.keys for share in data.shares(stream)]
        wanted = [rare if stream % 3 == sector else frequent for sector in range(3)]
        assert in_window == pytest.approx(wanted, rel=0.02)

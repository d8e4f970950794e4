"""Sums in views: exact, and told where they cannot be."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from penstock.errors import EvaluationError
from support.engines.long_views import one_stream, table_of
from support.engines.runs import (
    Place,
    run_local,
)
from support.streams.views import told


def test_sums_of_floats_do_not_drift(tmp_path: Path) -> None:
    """Ten million tuples come and go through a short window, of very different sizes."""
    rng = np.random.default_rng(5)
    ticks, each = 20, 500_000
    batches = [
        table_of(
            np.full(each, tick),
            np.zeros(each, np.int64),
            rng.random(each) * 10.0 ** rng.integers(-8, 12, each),
        )
        for tick in range(ticks)
    ]
    select = "SELECT SUM(x) AS s, COUNT(*) AS n FROM a [RANGE 1 SECOND] EVERY 1 SECOND"
    query = one_stream(tmp_path, batches, select)
    place = Place(tmp_path)
    run_local(query, place)
    found = {time: total for time, _, total, count in told(place, query) if count}
    for tick in range(1, ticks):
        values = [
            x for batch in batches[tick - 1 : tick + 1] for x in batch.column("x").to_pylist()
        ]
        assert found[datetime.fromtimestamp(tick, UTC)] == pytest.approx(
            math.fsum(values), rel=1e-15
        )


def test_a_sum_returns_exactly_to_what_it_was(tmp_path: Path) -> None:
    """A huge value, an infinity and a NaN leave nothing behind."""
    batches = [
        table_of([0, 1, 2, 3], [0] * 4, [0.1, 1e300, math.inf, math.nan]),
        table_of([20, 21], [0] * 2, [0.1, 0.2]),
    ]
    query = one_stream(tmp_path, batches, "SELECT SUM(x) AS s FROM a [RANGE 5 SECONDS]")
    place = Place(tmp_path)
    run_local(query, place)
    sums = sorted((time.timestamp(), total) for time, _, total in told(place, query))
    assert sums[0] == (0.0, 0.1)
    assert sums[-4:] == [(20.0, 0.1), (21.0, 0.1 + 0.2), (25.000001, 0.2), (26.000001, None)]


def test_sums_of_integers_are_exact_and_overflow_is_an_error(tmp_path: Path) -> None:
    big = (1 << 63) - 1
    exact = one_stream(
        tmp_path / "exact",
        [table_of([1, 2, 3, 4], [big, big, -big, -big + 1], [0.0] * 4)],
        "SELECT SUM(v) AS s FROM a [UNBOUNDED] EVERY 10 SECONDS",
    )
    place = Place(tmp_path / "exact")
    run_local(exact, place)
    assert [row[2:] for row in told(place, exact)] == [(1,)]
    over = one_stream(
        tmp_path / "over",
        [table_of([0, 1], [big, 1], [0.0] * 2)],
        "SELECT SUM(v) AS s FROM a [UNBOUNDED]",
    )
    with pytest.raises(EvaluationError, match="which BIGINT does not hold"):
        run_local(over, Place(tmp_path / "over"))

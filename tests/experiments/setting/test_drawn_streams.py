"""Streams of random tuples for experiments: rates, values and seeds."""

from __future__ import annotations

import numpy as np
import pytest

from penstock.duration import MICROS
from penstock.engine.rows.columns import TS
from penstock.experiments.setting.streams import Stream, tuples_of


@pytest.mark.parametrize("poisson", [False, True])
def test_a_stream_has_its_rate_and_all_values_as_often(poisson: bool) -> None:
    found = tuples_of({"A": Stream(50.0, {"k": 10}, poisson=poisson)}, 40.0, seed=3)["A"]
    times = found[TS].to_numpy() / MICROS
    assert len(found) == 2000
    assert times[-1] == pytest.approx(40.0, rel=0.1)
    assert (np.diff(times) >= 0).all()
    assert np.bincount(found["k"].to_numpy()).tolist() == [200] * 10


def test_the_same_seed_gives_the_same_tuples_and_ends_where_it_must() -> None:
    streams = {"A": Stream(50.0, {"k": 7}, cardinality=30), "B": Stream(5.0)}
    one, other, third = (tuples_of(streams, 10.0, seed) for seed in (1, 1, 2))
    assert all(one[alias].equals(other[alias]) for alias in streams)
    assert not one["A"].equals(third["A"])
    assert (len(one["A"]), len(one["B"])) == (30, 50)

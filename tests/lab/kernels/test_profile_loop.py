"""The profile of an eddy: it goes by the attribute that tells most."""

from __future__ import annotations

import numpy as np
import pytest

from penstock.lab.kernels.profile_loop import BUCKETS, NOTHING, teach


def taught(values: np.ndarray, matched: np.ndarray) -> tuple[int, np.ndarray]:
    """The attribute to go by and the rows to expect of one input that is tried once a tuple."""
    attributes, expected = np.zeros(1, np.int64), np.zeros((1, BUCKETS + 1))
    bounds = np.zeros((len(values), BUCKETS - 1))
    counts = (np.ones((len(matched), 1), np.int32), matched.astype(np.int32)[:, None])
    teach(values, np.array([False, True]), *counts, bounds, attributes, expected)
    return int(attributes[0]), expected[0]


def test_it_goes_by_the_attribute_that_tells_most() -> None:
    rng = np.random.default_rng(3)
    numbers, texts = rng.random(400), rng.integers(0, 3, 400).astype(float)
    attribute, expected = taught(np.stack([numbers, texts]), 3 * (texts == 1))
    assert attribute == 1
    assert expected[:3] == pytest.approx([0.0, 3.0, 0.0], abs=0.1)
    attribute, expected = taught(np.stack([numbers, texts]), 3 * (numbers > 0.5))
    assert attribute == 0
    assert (np.diff(expected[:BUCKETS]) > -0.2).all()
    assert expected[0] < 0.5 < 2.5 < expected[BUCKETS - 1]


def test_it_goes_by_no_attribute_where_none_tells_anything() -> None:
    rng = np.random.default_rng(4)
    values = np.stack([rng.random(400), rng.integers(0, 3, 400).astype(float)])
    attribute, expected = taught(values, rng.integers(0, 3, 400))
    assert attribute == NOTHING
    assert expected == pytest.approx(np.full(BUCKETS + 1, 1.0), abs=0.2)

"""Rows that others outlive, against a count for each of them."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from penstock.kernels.ranking.outlived import outlived


@pytest.mark.parametrize("seed", range(60))
def test_rows_are_outlived_by_enough_copies_before_them(seed: int) -> None:
    rng = Random(seed)
    size, most = rng.randint(0, 25), rng.choice((1, 2, 3, 9))
    parts = np.sort(np.array([rng.randrange(3) for _ in range(size)], np.int64))
    untils = np.array([rng.randrange(6) for _ in range(size)], np.int64)
    copies = np.array([rng.randint(1, 4) for _ in range(size)], np.int64)
    is_there = np.array([rng.random() < 0.7 for _ in range(size)], np.bool_)
    found = outlived(parts, untils, copies, is_there, most)
    for row in range(size):
        before = np.arange(size) < row
        longer = before & is_there & (parts == parts[row]) & (untils >= untils[row])
        assert found[row] == (copies[longer].sum() >= most)

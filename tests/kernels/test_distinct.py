"""Different numbers: as NumPy finds them."""

from __future__ import annotations

import numpy as np
import pytest

from penstock.kernels.sorting import distinct


@pytest.mark.parametrize("count", [0, 1, 2, 100, 5_000])
@pytest.mark.parametrize("spread", [1, 3, 2**62])
def test_different_numbers_come_in_order(count: int, spread: int) -> None:
    numbers = np.random.default_rng(count).integers(-spread, spread, count)
    assert distinct(numbers).tolist() == np.unique(numbers).tolist()

"""Membership of hashes: as NumPy finds it."""

from __future__ import annotations

import numpy as np
import pytest

from penstock.kernels.hashing import among


@pytest.mark.parametrize("count", [0, 1, 2, 3, 100])
@pytest.mark.parametrize("spread", [3, 2**62])
def test_hashes_are_found_as_numpy_finds_them(count: int, spread: int) -> None:
    rng = np.random.default_rng(count)
    wanted = rng.integers(-spread, spread, count)
    hashes = np.concatenate([rng.integers(-spread, spread, 500), wanted, [0, -1, -(2**63)]])
    assert among(hashes, wanted).tolist() == np.isin(hashes, wanted).tolist()
    assert among(hashes[:0], wanted).tolist() == []

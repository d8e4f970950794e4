"""Views over outer, semi and anti joins: plain SQL over the windows as they are at each tick."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from support.engines.runs import planned, random_plan
from support.engines.viewed_runs import told_and_expected
from support.outer.outer_cases import outer_view


@pytest.mark.parametrize("seed", range(80))
def test_views_are_those_of_the_reference(seed: int, tmp_path: Path) -> None:
    rng = Random(f"view {seed}")
    found, wanted = told_and_expected(
        outer_view(seed), tmp_path, rng, lambda query, rng: planned(query, random_plan(query, rng))
    )
    assert found == wanted

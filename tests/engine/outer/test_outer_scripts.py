"""Outer joins in scripts against their meaning: over what other queries make, and under views."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from support.engines.script_runs import expected, found, opened, plans_of
from support.outer.outer_scripts import outer_script
from support.streams.scripts import write_script


@pytest.mark.parametrize("seed", range(20))
def test_outer_joins_read_queries_and_are_read_as_views(seed: int, tmp_path: Path) -> None:
    case, rng = outer_script(seed), Random(seed)
    script = write_script(case, tmp_path)
    run = opened(script, tmp_path, plans_of(script), partitions=rng.randint(1, 3))
    run.available_now(drain=True)
    assert found(script, tmp_path) == expected(case)


@pytest.mark.parametrize("seed", range(20, 30))
def test_who_may_still_meet_a_result_waits(seed: int, tmp_path: Path) -> None:
    case = outer_script(seed)
    script = write_script(case, tmp_path)
    opened(script, tmp_path).available_now()
    assert found(script, tmp_path) == expected(case, drain=False)

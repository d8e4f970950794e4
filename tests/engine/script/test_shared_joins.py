"""Queries that share a join give what they mean, whoever finds their combinations."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from support.engines.script_runs import expected, found, opened
from support.sharing.forced import any_plans, forced
from support.sharing.shared_scripts import shared_case
from support.streams.scripts import write_script


@pytest.mark.parametrize("seed", range(30))
def test_a_shared_join_gives_what_each_query_means(seed: int, tmp_path: Path) -> None:
    case, rng = shared_case(seed), Random(seed)
    planned = forced(write_script(case, tmp_path))
    script, plans = planned.script, any_plans(planned, rng)
    assert planned.sharing
    opened(script, tmp_path, plans, partitions=rng.randint(1, 3)).available_now(drain=True)
    assert found(script, tmp_path) == expected(case)

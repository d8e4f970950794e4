"""Scripts in this process against their meaning: random queries over queries, any plans."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from support.engines.script_runs import expected, found, opened, plans_of
from support.streams.scripts import random_script, write_script


@pytest.mark.parametrize("seed", range(40))
def test_a_script_gives_what_it_means(seed: int, tmp_path: Path) -> None:
    case, rng = random_script(seed), Random(seed)
    script = write_script(case, tmp_path)
    plans = plans_of(script, rng if seed % 2 else None)
    run = opened(script, tmp_path, plans, partitions=rng.randint(1, 3))
    run.available_now(drain=True)
    assert found(script, tmp_path) == expected(case)


@pytest.mark.parametrize("seed", range(40, 50))
def test_what_is_not_drained_waits(seed: int, tmp_path: Path) -> None:
    case = random_script(seed)
    script = write_script(case, tmp_path)
    opened(script, tmp_path).available_now()
    assert found(script, tmp_path) == expected(case, drain=False)

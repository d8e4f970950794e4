"""Inner state that fills itself: whatever plans do meanwhile, results are the reference's."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from penstock.engine.local import open_run
from penstock.engine.run.options import RunOptions
from penstock.plan.plan import Plan
from reference import answer
from support.engines.runs import Place, planned, run_local, tree
from support.plans.filling import (
    FillingRun,
    in_many_batches,
    mostly_trees,
    mostly_trees_or_meshes,
)
from support.plans.meshes import timed
from support.plans.trees import (
    CHAIN,
    COMMON,
    TIMES,
    assert_only_what_counts_is_there,
    long_query,
)
from support.streams.cases import canonical, random_case, random_view, write_case
from support.streams.views import expected as expected_view
from support.streams.views import told

SEEDS = range(8000, 8040)
COVERED: Counter[str] = Counter()


@pytest.mark.parametrize("seed", SEEDS)
def test_results_are_the_references_while_state_fills(seed: int, tmp_path: Path) -> None:
    rng = Random(f"filling {seed}")
    case = in_many_batches(random_case(seed), rng)
    query = write_case(case, tmp_path / "in")
    place = Place(tmp_path)
    run = FillingRun(query, place, rng, mostly_trees)
    run.run()
    assert canonical(place.results(query)) == canonical(answer(query, case.batches))
    assert_only_what_counts_is_there(place)
    COVERED.update(run.seen)

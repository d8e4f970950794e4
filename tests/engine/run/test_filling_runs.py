"""Inner state that fills itself: whatever plans do meanwhile, results are the reference's."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import pytest

from reference import answer
from support.engines.runs import Place
from support.plans.filling import (
    FillingRun,
    in_many_batches,
    mostly_trees,
)
from support.plans.trees import (
    assert_only_what_counts_is_there,
)
from support.streams.cases import canonical, random_case, write_case

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

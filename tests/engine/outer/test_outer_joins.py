"""Outer, semi and anti joins against the reference, whatever the plan, batches and partitions."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from support.engines.runs import (
    Place,
    expected,
    random_plan,
    run_local,
)
from support.streams.cases import canonical, write_case
from support.streams.outer_cases import outer_case


@pytest.mark.parametrize("seed", range(160))
def test_results_are_those_of_the_reference(seed: int, tmp_path: Path) -> None:
    rng = Random(f"local {seed}")
    case = outer_case(seed)
    query = write_case(case, tmp_path / "in")
    place = Place(tmp_path, rng.choice(("parquet", "jsonl")))
    drain = rng.random() < 0.5
    plan = random_plan(query, rng) if rng.random() < 0.5 else None
    run_local(query, place, plan=plan, drain=drain, partitions=rng.randint(1, 3))
    assert canonical(place.results(query)) == expected(case, query, place.kind, drain)

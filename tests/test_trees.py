"""Join trees on both engines against the reference, and one plan after another on one checkpoint."""

from __future__ import annotations

from functools import lru_cache
from random import Random

import pytest
from cases import Case, canonical, random_case, write_case
from engines import Place, random_tree, run_local, without_nan
from reference import answer

from penstock.query import Query


def expected(case: Case, query: Query, kind: str, drain: bool = True):
    rows = answer(query, case.batches, drain)
    return canonical(without_nan(rows) if kind == "jsonl" else rows)


@pytest.mark.parametrize("seed", range(4000, 4400))
def test_local_trees_give_what_the_reference_does(seed, tmp_path):
    rng = Random(f"tree {seed}")
    case = random_case(seed)
    query = write_case(case, tmp_path / "in")
    place = Place(tmp_path, rng.choice(("parquet", "jsonl")))
    drain = rng.random() < 0.5
    plan = random_tree(query, rng)
    run_local(query, place, plan=plan, drain=drain, partitions=rng.randint(1, 3))
    assert canonical(place.results(query)) == expected(case, query, place.kind, drain), plan.root

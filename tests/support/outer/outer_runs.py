"""Outer joins run in one process, beside what the reference says of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from penstock.plan.plan import Plan
from penstock.query import Query
from support.engines.runs import (
    Place,
    expected,
    planned,
    random_plan,
    random_tree,
    run_local,
    run_replanning,
)
from support.outer.outer_text import asked_case
from support.streams.cases import Case, canonical, write_case

Both = tuple[Counter[Any], Counter[Any]]
"""The results that are there, and those that should be."""


def any_plan(query: Query, rng: Random) -> Plan:
    """A multi-way join, or a tree where pairs are results."""
    assert query.outer is not None
    if query.outer.has_pairs and rng.random() < 0.5:
        return random_tree(query, rng)
    return planned(query, random_plan(query, rng))


def replanned_and_expected(case: Case, folder: Path, rng: Random) -> Both:
    """A case whose plan changes after each batch."""
    query, place = write_case(case, folder / "in"), Place(folder)
    run_replanning(query, place, rng, any_plan)
    return canonical(place.results(query)), expected(case, query, place.kind)


def answers_and_expected(select: str, folder: Path) -> Iterator[Both]:
    """What is asked in text, drained and not."""
    case = asked_case(select, folder / "in")
    for number, drain in enumerate((True, False)):
        place = Place(folder / str(number))
        run_local(case.query, place, drain=drain, partitions=2)
        wanted = expected(case, case.query, place.kind, drain)
        yield canonical(place.results(case.query)), wanted

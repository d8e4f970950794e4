"""Views run in one process beside what the reference says of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

from penstock.plan.plan import Plan
from penstock.query import Query
from support.engines.runs import Place, run_local
from support.streams.cases import Case, write_case
from support.streams.views import Told, expected, told

Drawn = Callable[[Query, Random], Plan]


def told_and_expected(case: Case, folder: Path, rng: Random, plan_of: Drawn) -> tuple[Told, Told]:
    """What a view tells under a plan, drained or not and in any number of partitions, and what it
    should."""
    query = write_case(case, folder / "in")
    place, drain = Place(folder), rng.random() < 0.6
    plan = plan_of(query, rng)
    run_local(query, place, plan=plan, drain=drain, partitions=rng.randint(1, 3))
    return told(place, query), expected(case, query, drain)

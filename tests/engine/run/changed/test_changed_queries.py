"""Queries that are changed on their checkpoints: results are those of the new query over what is
still there, on whatever plans."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest

from penstock.engine.local import open_run
from penstock.engine.run.options import RunOptions
from penstock.errors import CheckpointError
from penstock.plan.plan import Plan
from penstock.query import Query
from reference_changes import answer_changed, changes_changed
from support.changed.changed_runs import found
from support.changed.changing_queries import changed, with_other_aggregates
from support.engines.runs import Place, first_files_only
from support.plans.every_kind import any_kind
from support.plans.filling import in_many_batches
from support.streams.cases import EPOCH, Case, canonical, random_case, random_view, write_case


def run(query: Query, place: Place, plan: Plan, *, drain: bool, **more: Any) -> None:
    options = RunOptions(sink=place.sink, checkpoint=str(place.checkpoint), **more)
    open_run(plan, options).available_now(drain=drain)


def batches_of(case: Case) -> int:
    return max(len(case.batches[item.alias]) for item in case.query.streams)


def tried(case: Case, folder: Path, rng: Random, new: Query | None = None) -> Counter[Any] | None:
    """What a changed query adds to its results, if that is right; None if it was refused."""
    old = write_case(case, folder / "in")
    new = changed(old, rng) if new is None else _over(old, new)
    since, drain, place = rng.randint(1, batches_of(case) - 1), rng.random() < 0.6, Place(folder)
    partitions = rng.randint(1, 3)
    with first_files_only(old, since):
        plan = replace(any_kind(old, rng), early=()) if old.view is not None else any_kind(old, rng)
        run(old, place, plan, drain=False, partitions=partitions)
    plan = any_kind(new, rng)
    try:
        run(new, place, plan, drain=drain, change=True)
    except CheckpointError as error:
        if "cannot go on with this query" not in error.message:
            raise
        return None
    return _compared(case, old, new, place, since, drain)


def _over(old: Query, new: Query) -> Query:
    """A query over the files of another."""
    inputs = tuple(replace(i, source=old.input(i.alias).source) for i in new.inputs)
    return replace(new, inputs=inputs)


def _compared(
    case: Case, old: Query, new: Query, place: Place, since: int, drain: bool
) -> Counter[Any]:
    if old.view is None:
        before, after = answer_changed(old, new, case.batches, since, drain)
        wanted = canonical(before), canonical(after)
    else:
        told, tells = changes_changed(old, new, case.batches, since, drain)
        wanted = _canonical(told), _canonical(tells)
    assert found(place, new, since) == wanted
    return wanted[1]


def _canonical(changes: Any) -> Counter[Any]:
    return canonical((EPOCH + timedelta(microseconds=c.time), c.kind, *c.values) for c in changes)


@pytest.mark.parametrize("seed", range(6000, 6040))
def test_a_join_goes_on_as_it_is_asked_now(seed: int, tmp_path: Path) -> None:
    case, rng = random_case(seed), Random(f"changed {seed}")
    if batches_of(case) > 1:
        assert tried(case, tmp_path, rng) is not None


@pytest.mark.parametrize("seed", range(6040, 6052))
def test_chunks_of_both_queries_are_merged(seed: int, tmp_path: Path) -> None:
    rng = Random(f"merged {seed}")
    drawn = random_view(seed) if seed % 2 else random_case(seed)
    tried(in_many_batches(drawn, rng, 20), tmp_path, rng)


@pytest.mark.parametrize("seed", range(6100, 6140))
def test_a_view_goes_on_as_it_is_asked_now(seed: int, tmp_path: Path) -> None:
    case, rng = random_view(seed), Random(f"changed {seed}")
    if batches_of(case) > 1:
        tried(case, tmp_path, rng)


@pytest.mark.parametrize("seed", range(6200, 6240))
def test_a_view_has_more_aggregates_where_its_state_has_the_columns(
    seed: int, tmp_path: Path
) -> None:
    case, rng = random_view(seed), Random(f"aggregated {seed}")
    if batches_of(case) > 1:
        tried(case, tmp_path, rng, with_other_aggregates(case.query, rng))

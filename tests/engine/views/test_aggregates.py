"""Aggregates of every kind against the reference, whatever the plan."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from penstock.query.view import AggregateFunction
from support.engines.viewed_runs import told_and_expected
from support.plans.every_kind import any_kind
from support.streams.aggregated import DRAWN, aggregated_view


@pytest.mark.parametrize("function", sorted(DRAWN))
@pytest.mark.parametrize("seed", range(12))
def test_aggregates_are_what_the_reference_says(
    function: AggregateFunction, seed: int, tmp_path: Path
) -> None:
    case = aggregated_view(hash_of(function) + seed, [function])
    found, wanted = told_and_expected(case, tmp_path, Random(f"{function} {seed}"), any_kind)
    assert found == wanted


def hash_of(function: str) -> int:
    """Where the seeds of a function begin: the same in every run."""
    return sum(map(ord, function)) * 100

"""The first rows and the first tuples of outer, semi and anti joins, against the reference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from support.engines.runs import planned, random_plan
from support.engines.viewed_runs import told_and_expected
from support.outer.joint_cases import joint_case
from support.outer.outer_cases import outer_case, viewed
from support.streams.cases import Case
from support.streams.hostile import all_null, nothing_at_all, one_key_only, one_moment
from support.streams.views import expected
from support.tops.top_cases import with_first_rows, with_first_tuples

Make = Callable[[int], Case]
HOSTILE = (nothing_at_all, one_key_only, all_null, one_moment)


def drawn(seed: int) -> Case:
    """One outer join, or several."""
    return joint_case(seed) if seed % 3 == 2 else outer_case(seed)


def first_rows(seed: int) -> Case:
    rng = Random(f"outer top {seed}")
    return with_first_rows(viewed(drawn(seed), rng), rng)


def first_tuples(seed: int) -> Case:
    return with_first_tuples(drawn(seed), Random(f"outer tuples {seed}"))


@pytest.mark.parametrize("make", [first_rows, first_tuples])
@pytest.mark.parametrize("seed", range(30))
def test_the_first_are_those_of_the_reference(make: Make, seed: int, tmp_path: Path) -> None:
    case = make(seed) if seed % 5 else HOSTILE[seed // 5 % len(HOSTILE)](make(seed))
    found, wanted = told_and_expected(
        case,
        tmp_path,
        Random(f"outer first {seed}"),
        lambda query, rng: planned(query, random_plan(query, rng)),
    )
    assert found == wanted


@pytest.mark.parametrize("make", [first_rows, first_tuples])
def test_who_lacks_a_partner_is_among_the_first(make: Make) -> None:
    """Of an inner join others would be."""
    kinds: Counter[str] = Counter()
    for case in map(make, range(30)):
        query = case.query
        assert query.outer is not None
        if expected(case, query) != expected(case, replace(query, outer=None)):
            kinds[query.outer.joins[0].kind] += 1
    assert kinds["left"] > 3
    assert kinds["full"] > 1
    assert kinds["semi"] + kinds["anti"] > 3

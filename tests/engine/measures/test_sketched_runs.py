"""Sketches of a run: of what each input brings and its filters let pass, whatever the plan does."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from penstock.engine.measures.sketches import equal_fraction
from penstock.engine.wire.facts import Fact, KeySketch, OperatorFlow
from support.aggregates.counted import Counted
from support.engines.runs import Place, planned
from support.engines.watched import facts_of_run

COUNTED = Counted.drawn(seed=7, sizes=(400, 600, 200), batches=3, keys=50, reach=1.0)


def sketches(facts: list[Fact]) -> Mapping[tuple[str, int], KeySketch]:
    found = [fact for fact in facts if isinstance(fact, KeySketch)]
    assert len({(each.alias, each.key) for each in found}) == len(found)
    return {(each.alias, each.key): each for each in found}


@pytest.mark.parametrize("window", [None, "ROWS 50"])
@pytest.mark.parametrize("partitions", [1, 3])
def test_what_two_inputs_have_in_common_is_known(
    tmp_path: Path, partitions: int, window: str | None
) -> None:
    query = COUNTED.query(tmp_path, window)
    batches = facts_of_run(planned(query), Place(tmp_path / "run"), partitions)
    assert len(batches) == 3
    for number, facts in enumerate(batches):
        found = sketches(facts)
        assert set(found) == {("a", 0), ("b", 0), ("b", 1), ("c", 1)}
        rows = COUNTED.batches[number]
        passing = rows["a"]["x"] < 7
        assert found["a", 0].rows == found["a", 0].known == passing.sum()
        for key, one, other in (
            (0, rows["a"]["k"][passing], rows["b"]["k"]),
            (1, rows["b"]["m"], rows["c"]["m"]),
        ):
            ours, theirs = (np.bincount(values, minlength=50) for values in (one, other))
            equal = equal_fraction([sketch for (_, k), sketch in found.items() if k == key])
            assert equal is not None
            assert equal.hits == (ours * theirs).sum()
            assert equal.value == pytest.approx(equal.hits / len(one) / len(other))


def test_of_many_keys_few_are_told(tmp_path: Path) -> None:
    counted = Counted.drawn(seed=8, sizes=(9_000, 9_000, 10), batches=3, keys=5_000, reach=0.1)
    query = counted.query(tmp_path)
    for number, facts in enumerate(facts_of_run(planned(query), Place(tmp_path / "run"))):
        found = sketches(facts)
        for alias in "ab":
            kept = len(found[alias, 0].hashes) / 8
            assert kept <= 1_024 if number == 0 else 150 < kept < 700
        equal = equal_fraction([found["a", 0], found["b", 0]])
        assert equal is not None
        assert abs(equal.value - 1 / 5_000) < 4 * equal.error


def test_flows_are_told_once_whatever_the_partitions(tmp_path: Path) -> None:
    query = COUNTED.query(tmp_path)
    for facts in facts_of_run(planned(query), Place(tmp_path / "run"), 3):
        flows = [(f.driver, f.route, f.operator) for f in facts if isinstance(f, OperatorFlow)]
        assert len(flows) == len(set(flows)) > 6

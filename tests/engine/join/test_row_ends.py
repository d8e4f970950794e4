"""Row ends: inner results die with the first of their ROWS members."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from penstock.engine.join.row_ends import DEAD, KnownEnds
from penstock.engine.places.place import Place
from penstock.engine.rows.columns import END, SEQUENCE, TS, number_name
from penstock.engine.state.store import Store
from penstock.engine.wire.facts import RowEnds


@pytest.mark.parametrize("seed", range(10))
def test_a_result_ends_with_the_first_of_its_members(seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    root = Place.of(tmp_path)
    ends = {
        alias: {int(n): int(rng.integers(0, 99)) for n in rng.choice(40, size, replace=False)}
        for alias, size in (("a", 25), ("b", int(rng.integers(0, 30))))
    }
    facts = [
        RowEnds(alias, Store(root).write_chunk(("lives", alias), told(ends[alias])))
        for alias in ends
    ]
    members = {alias: rng.integers(0, 40, 60) for alias in ends}
    columns = {number_name(alias): pa.array(numbers) for alias, numbers in members.items()}
    rows = pa.RecordBatch.from_pydict(
        {TS: pa.array(np.arange(60)), **columns, END: pa.array(np.zeros(60, np.int64))}
    )
    found = KnownEnds.of(root, facts).updated(rows, ("a", "b"))
    assert found.column(END).to_pylist() == [
        min(ends["a"].get(a, DEAD), ends["b"].get(b, DEAD))
        for a, b in zip(members["a"].tolist(), members["b"].tolist(), strict=True)
    ]
    assert found.drop_columns([END]).equals(rows.drop_columns([END]))


def test_what_nobody_tells_of_has_died_before(tmp_path: Path) -> None:
    rows = pa.RecordBatch.from_pydict({number_name("a"): pa.array([1, 2]), END: pa.array([7, 7])})
    found = KnownEnds.of(Place.of(tmp_path), ()).updated(rows, ("a",))
    assert found.column(END).to_pylist() == [DEAD, DEAD]


def told(ends: dict[int, int]) -> pa.RecordBatch:
    """The ends of tuples by number, in order."""
    numbers = pa.array(sorted(ends), pa.int64())
    return pa.RecordBatch.from_pydict(
        {TS: numbers, SEQUENCE: numbers, END: pa.array([ends[n] for n in sorted(ends)], pa.int64())}
    )

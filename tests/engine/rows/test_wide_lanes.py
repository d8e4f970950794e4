"""Wide lanes by reference: whatever a join does to rows, their lists are those that they had."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.engine.rows.accumulators import as_lists
from penstock.engine.rows.lanes import count_of
from penstock.engine.rows.references import put_together, resolved, table_and_places, taken

LANE = str(count_of("a").estimate)
PLACES = st.lists(st.integers(0, 9), max_size=12)


def rows_from(first: int) -> pa.RecordBatch:
    """Ten rows, with a number and a list of it."""
    numbers = np.arange(first, first + 10)
    lists = as_lists(np.repeat(numbers.astype(np.float64), 3).reshape(10, 3))
    return pa.RecordBatch.from_pydict({"n": pa.array(numbers), LANE: lists})


def assert_lists_fit(rows: pa.RecordBatch) -> None:
    numbers = rows.column("n").to_numpy()
    assert resolved(rows.column(LANE)).to_pylist() == [[float(n)] * 3 for n in numbers]
    table, places = table_and_places(rows.column(LANE))
    assert table[places, 0].tolist() == numbers.tolist()


@given(PLACES, PLACES, PLACES)
def test_lists_stay_with_their_rows(one: list[int], other: list[int], third: list[int]) -> None:
    first, second = rows_from(0), rows_from(100).slice(2)
    parts = [
        taken(first, np.array(one, np.int64)),
        taken(second, np.array([place % 8 for place in other], np.int64)),
        taken(first, np.array(third, np.int64)),
    ]
    for part in parts:
        assert_lists_fit(part)
    together = put_together(parts)
    assert together.column("n").to_pylist() == [n for part in parts for n in part["n"].to_pylist()]
    assert_lists_fit(together)
    assert_lists_fit(taken(together, np.arange(len(together))[::-2]))
    assert_lists_fit(put_together([together, first]))


def test_lists_are_not_copied_where_one_table_has_them() -> None:
    rows = rows_from(0)
    parts = [taken(rows, np.arange(10)) for _ in range(3)]
    column = put_together([taken(part, np.arange(5)) for part in parts]).column(LANE)
    owned = rows.column(LANE).values.buffers()[1].address
    assert column.dictionary.values.buffers()[1].address == owned


@pytest.mark.parametrize("names", [[], ["n"]])
def test_rows_without_such_lanes_are_taken_as_they_are(names: list[str]) -> None:
    rows = rows_from(0).select(names)
    found = taken(rows, np.array([3, 1]))
    assert found.schema == rows.schema
    assert found.to_pydict() == ({"n": [3, 1]} if names else {})

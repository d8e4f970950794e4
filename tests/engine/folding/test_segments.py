"""Segments: what is seen of each cell between two changes, against plain loops."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from penstock.engine.folding.segments import segments
from penstock.engine.rows.ticks import Ticks
from penstock.engine.state.tick_span import TickSpan


@pytest.mark.parametrize("seed", range(4))
def test_segments_are_what_is_seen_of_each_cell_and_change_where_it_does(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size, every = 60, 4
    born = every * rng.integers(0, 20, size)
    columns = {
        "#ts": pa.array(born),
        "#until": pa.array(born + every * rng.integers(0, 6, size)),
        ".g": pa.array(rng.integers(0, 5, size)),
        "=n:A": pa.array(rng.integers(1, 4, size)),
        "=max:x": pa.array(rng.integers(0, 99, size)),
    }
    rows = pa.RecordBatch.from_pydict(columns)
    span = TickSpan(first=3 * every, last=17 * every, every=every, begin=0)
    found = segments("A", rows, Ticks(every, 0), span).to_pylist()
    assert [row["#ts"] for row in found] == sorted(row["#ts"] for row in found)
    for tick in range(0, 25 * every, every):
        for group in range(5):
            seen = [
                (row["=n:A"], row["=max:x"])
                for row in rows.to_pylist()
                if row[".g"] == group and row["#ts"] <= tick <= row["#until"]
            ]
            mine = [r for r in found if r[".g"] == group and r["#ts"] <= tick <= r["#until"]]
            if not span.first <= tick <= span.last or not seen:
                assert mine == []
                continue
            (segment,) = mine
            assert segment["=n:A"] == sum(count for count, _ in seen)
            assert segment["=max:x"] == max(value for _, value in seen)

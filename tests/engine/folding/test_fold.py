"""Folding: one row for all tuples that a view cannot tell apart, against a plain loop."""

from __future__ import annotations

from collections import defaultdict
from random import Random

import numpy as np
import pyarrow as pa
import pytest

from penstock.cql import parse
from penstock.engine.folding.fold import folded
from penstock.engine.rows.columns import TS, UNTIL, hash_name
from penstock.engine.rows.layout import Layout

EVERY, EXTENT = 4_000_000, 10_000_000
SCRIPT = """
CREATE STREAM a (ts BIGINT, k INT, g INT, x INT)
  WITH (format='csv', path='a', timestamp='ts', unit='us');
CREATE STREAM b (ts BIGINT, k INT) WITH (format='csv', path='b', timestamp='ts', unit='us');
SELECT a.g AS g, COUNT(*) AS n, MAX(a.x) AS top FROM a [RANGE 10 SECONDS], b [RANGE 10 SECONDS]
WHERE a.k = b.k GROUP BY a.g EVERY 4 SECONDS
"""


@pytest.mark.parametrize("open_tick", [-(1 << 40), 8_000_000, 24_000_000])
@pytest.mark.parametrize("seed", range(4))
def test_rows_are_folded_by_key_group_and_ticks(seed: int, open_tick: int) -> None:
    rng = Random(seed)
    tuples = [
        (rng.randrange(30_000_000), rng.randrange(3), rng.randrange(2), rng.randrange(99))
        for _ in range(120)
    ]
    times, keys, groups, values = (pa.array(list(column)) for column in zip(*tuples, strict=True))
    plain = {TS: times, hash_name(0): keys, "a.g": groups, "a.x": values}
    layout = Layout(parse(SCRIPT), weighted=frozenset("a"), early=frozenset("a"))
    found = folded(layout, "a", pa.RecordBatch.from_pydict(plain), open_tick)

    wanted: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for ts, key, group, value in tuples:
        first = max(-(-ts // EVERY) * EVERY, open_tick)
        last = (ts + EXTENT) // EVERY * EVERY
        if first <= last:
            wanted[first, last, key, group].append(value)
    rows = {
        (row[TS], row[UNTIL], row[hash_name(0)], row[".#g0"]): (row["=n:a"], row["=max:#a0"])
        for row in found.to_pylist()
    }
    assert rows == {cell: (len(each), max(each)) for cell, each in wanted.items()}
    assert len(found) == len(rows)


def test_an_input_that_is_not_early_stays_as_it_is() -> None:
    rows = pa.RecordBatch.from_pydict({TS: pa.array(np.arange(3))})
    assert folded(Layout(parse(SCRIPT)), "a", rows, 0) is rows

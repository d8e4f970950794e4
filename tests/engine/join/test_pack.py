"""Pack: the tuples that can be in a result, with hashes that are equal where keys are."""

from __future__ import annotations

from random import Random

import numpy as np
import pyarrow as pa
import pytest

from penstock.cql import parse
from penstock.engine.expressions.evaluate import passing
from penstock.engine.join.pack import tuples_of
from penstock.engine.routes.screening import Screened
from penstock.engine.rows.columns import PASSES, TS, hash_name, plain_name
from penstock.engine.rows.layout import Layout
from penstock.engine.sources.read_slice import Arrivals

SCRIPT = """
CREATE STREAM a (ts BIGINT, k INT, s STRING, x INT)
  WITH (format='csv', path='a', timestamp='ts', unit='us');
CREATE STREAM b (ts BIGINT, k BIGINT, s STRING)
  WITH (format='csv', path='b', timestamp='ts', unit='us');
SELECT a.x AS x, b.ts AS at FROM a [{window}], b [RANGE 9 SECONDS]
WHERE a.k = b.k AND a.s = b.s AND a.x > 3
"""


def arrivals(seed: int) -> Arrivals:
    rng = Random(seed)
    size = 80
    columns = {
        "k": pa.array([rng.choice((None, 1, 2, 3)) for _ in range(size)], pa.int32()),
        "s": pa.array([rng.choice((None, "", "u", "v")) for _ in range(size)]),
        "x": pa.array([rng.randrange(8) for _ in range(size)], pa.int32()),
    }
    times = np.sort(np.array([rng.randrange(99) for _ in range(size)]))
    columns = {"ts": pa.array(times), **columns}
    return Arrivals(pa.RecordBatch.from_pydict(columns), times, np.arange(size))


@pytest.mark.parametrize("window", ["RANGE 9 SECONDS", "ROWS 4"])
@pytest.mark.parametrize("seed", range(6))
def test_what_can_never_join_goes_no_further_unless_it_counts(seed: int, window: str) -> None:
    query = parse(SCRIPT.format(window=window))
    layout, block, item = Layout(query), arrivals(seed), query.input("a")
    screened = Screened(passing(query.filters_of("a"), block.rows, plain_name))
    packed = tuples_of(layout, item, block, screened)
    found = packed.rows
    rows = [(t, r) for t, r in zip(block.times.tolist(), block.rows.to_pylist(), strict=True)]
    met = [r for _, r in rows if r["x"] > 3]
    assert packed.known == {0: sum(r["k"] is not None and r["s"] is not None for r in met)}
    able = [r["k"] is not None and r["s"] is not None and r["x"] > 3 for _, r in rows]
    if window == "ROWS 4":
        assert found.column(PASSES).to_pylist() == able
        assert found.column(TS).to_pylist() == [t for t, _ in rows]
        return
    left = [row for row, is_able in zip(rows, able, strict=True) if is_able]
    assert found.column(TS).to_pylist() == [t for t, _ in left]
    assert found.column("a.x").to_pylist() == [r["x"] for _, r in left]
    keys = [(r["k"], r["s"]) for _, r in left]
    hashes = found.column(hash_name(0)).to_pylist()
    # As many hashes as keys, and one for each: equal where they are, and nowhere else.
    assert len(set(keys)) == len(set(hashes)) == len(set(zip(keys, hashes, strict=True)))

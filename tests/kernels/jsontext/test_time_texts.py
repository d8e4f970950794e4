"""Times as JSON text, beside Arrow's own."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pytest

from penstock.kernels.jsontext.jsonlines import json_lines, json_objects

FIRST = int(datetime(1, 1, 1, tzinfo=UTC).timestamp()) * 1_000_000
LAST = int(datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC).timestamp()) * 1_000_000 + 999_999
DAY = 86_400_000_000


def by_arrow(micros: np.ndarray, *, is_utc: bool) -> list[str]:
    texts = pa.array(micros, pa.timestamp("us")).cast(pa.string()).to_pylist()
    return [f'"{text.replace(" ", "T")}{"Z" if is_utc else ""}"' for text in texts]


@pytest.mark.parametrize("is_utc", [True, False])
def test_texts_are_arrows_on_every_day_and_at_random(is_utc: bool) -> None:
    rng = np.random.default_rng(3)
    edges = np.array([FIRST, LAST, -1, 0, 1, -DAY, DAY - 1, 951_782_400_000_000])
    days = np.arange(FIRST, LAST, 17 * DAY)
    leaps = np.arange(0, 200 * 366 * DAY, DAY) - 3_000_000
    outside = np.array([0, FIRST - 1, LAST + 1])
    for micros in (edges, days, leaps, rng.integers(FIRST, LAST, 20_000), outside):
        times = pa.array(micros, pa.timestamp("us", "UTC" if is_utc else None))
        found = json_objects(pa.RecordBatch.from_pydict({"t": times})).to_pylist()
        assert found == [f'{{"t":{text}}}' for text in by_arrow(micros, is_utc=is_utc)]


def test_lines_have_nulls_and_parts_of_columns() -> None:
    """Whatever the unit, in a slice of a column too."""
    kind = pa.timestamp("ms", "UTC")
    times = pa.array([None, 0, 1_500, None], kind)
    rows = pa.RecordBatch.from_pydict({"t": times, "x": pa.array([1.0, float("nan"), None, 2.5])})
    lines = bytes(json_lines(rows)).decode().splitlines()
    assert lines == [
        '{"t":null,"x":1}',
        '{"t":"1970-01-01T00:00:00.000000Z","x":null}',
        '{"t":"1970-01-01T00:00:01.500000Z","x":null}',
        '{"t":null,"x":2.5}',
    ]
    assert bytes(json_lines(rows.slice(1, 2))).decode().splitlines() == lines[1:3]
    assert bytes(json_lines(rows.slice(2, 1))).decode().splitlines() == lines[2:3]
    assert bytes(json_lines(rows.slice(4))) == b""

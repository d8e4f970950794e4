"""Times in plain lines of JSON: those of all years, and nothing that is no time."""

from __future__ import annotations

import json
from random import Random

import pyarrow as pa
import pytest

from penstock.kernels.jsontext.flat_columns import flat_columns


def test_times_of_all_days_and_digits_are_read_as_from_texts() -> None:
    random = Random(5)
    moments = [
        random.randrange(-62_135_596_800_000_000, 253_402_300_800_000_000) for _ in range(4000)
    ]
    times = pa.array(moments).cast(pa.timestamp("us"))
    texts = [each.as_py().isoformat(random.choice(" T")) for each in times]
    data = "\n".join(json.dumps({"t": each}) for each in texts)
    found = flat_columns(["t"], [pa.timestamp("us", tz="UTC")], data.encode())
    assert found is not None
    assert found[0].cast(pa.int64()).to_pylist() == moments


@pytest.mark.parametrize("value", ["1", "1.5", "true", "null", '["2026-11-17"]', '"a\\n"'])
def test_times_that_are_no_texts_are_left_to_others(value: str) -> None:
    found = flat_columns(["t"], [pa.timestamp("us", tz="UTC")], f'{{"t": {value}}}'.encode())
    assert (found is None) == (value != "null")

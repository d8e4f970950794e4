"""One hot key does not fill the memory: not where it is probed for, nor where what was found goes
on to another key, nor where results are made."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from penstock.engine.wire import spilling
from penstock.engine.wire.packets import Packet, pack_rows
from penstock.engine.wire.spilling import Spill
from penstock.engine.wire.tags import Tag
from support.scale import hot_key

MEGABYTE = 1 << 20
# What is imported and compiled meanwhile is Python's too.
CODE = 64 * MEGABYTE


@pytest.mark.slow
@pytest.mark.parametrize(
    ("asked", "rows", "partitions", "most"),
    [
        ("two", (2000, 2000, 0), 1, 32 * MEGABYTE),
        ("three", (300, 300, 300), 1, 32 * MEGABYTE),
        # 4,000,000 partial results of 80 bytes wait for the other key.
        ("chain", (2000, 2000, 1), 2, 128 * MEGABYTE),
    ],
)
def test_a_hot_key_takes_little_memory(
    tmp_path: Path, asked: str, rows: tuple[int, ...], partitions: int, most: int
) -> None:
    hot_key.write(tmp_path, rows)
    command = [sys.executable, hot_key.__file__, str(tmp_path), asked, str(partitions)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    held = json.loads(done.stdout)
    assert held["arrow"] <= most
    assert held["python"] <= most + CODE
    # All tuples meet: the reference would give every combination once.
    found = pq.read_table(tmp_path / "results")
    numbers = [column.to_numpy() for column in found.columns]
    counts = [max(count, 1) for count in rows]
    assert found.num_rows == int(np.prod(counts))
    last = numbers[0] * counts[2 if asked == "three" else 1] + numbers[1]
    _, times = np.unique(last, return_counts=True)
    assert set(times.tolist()) == {counts[1] if asked == "three" else counts[2]}
    assert len(times) == counts[0] * counts[2 if asked == "three" else 1]


def test_what_is_spilled_comes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spilling, "HELD", 1 << 18)
    batches = [pa.RecordBatch.from_pydict({"x": [n] * 20_000}) for n in range(6)]
    packets = [pack_rows(n, Tag("new", "a"), batch) for n, batch in enumerate(batches)]
    small = Packet(7, Tag("meta"), b"[]")
    with Spill() as spill:
        held = spill.held([*packets, small])
        assert [packet.tag.is_filed for packet in held] == [False] * 2 + [True] * 4 + [False]
        found = list(spill.fetched(held))
        assert [packet.pid for packet in found] == [0, 1, 2, 3, 4, 5, 7]
        for packet, batch in zip(found, batches, strict=False):
            assert next(iter(packet.batches())).equals(batch)
        folder = Path(spill._own or "")
        assert len(list(folder.iterdir())) == 4
    assert not folder.exists()

"""Which chunks become one: few stay, and modules have their turns in different batches."""

from __future__ import annotations

import pytest

from penstock.engine.state.merging import FAN_IN, FEWEST, MANY, SOME, merged_next
from penstock.engine.state.modules import Module
from penstock.engine.state.store import ChunkInfo


def infos(count: int, rows: int = 10) -> tuple[ChunkInfo, ...]:
    return tuple(ChunkInfo(f"c{n}", rows, 1, 0, n, n) for n in range(count))


def first_of(module: Module, pid: int, rows: int) -> int:
    """The number of chunks of so many rows at which some of them are merged."""
    return next(n for n in range(1, 50) if merged_next(module, pid, infos(n, rows)))


def first_merged(module: Module, pid: int) -> int:
    """The same of small ones."""
    return first_of(module, pid, 10)


def test_modules_and_partitions_take_turns() -> None:
    counts = {first_merged(Module("A@0"), pid) for pid in range(FAN_IN)}
    assert counts == {FEWEST + 1 + turn for turn in range(FAN_IN)}


@pytest.mark.parametrize(("rows", "few"), [(100_000, SOME), (1_000_000, MANY)])
def test_large_chunks_are_merged_once_there_are_some_and_huge_ones_many(
    rows: int, few: int
) -> None:
    module = Module("A@0")
    turns = {first_of(module, pid, rows) for pid in range(FAN_IN)}
    assert few + 1 in turns
    assert turns <= {few + 1, FEWEST + FAN_IN}
    chunks = infos(40, rows)
    merged = merged_next(module, 0, chunks)
    assert merged == chunks[-FAN_IN:]

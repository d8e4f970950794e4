"""Which chunks become one: few stay, and modules have their turns in different batches."""

from __future__ import annotations

from penstock.engine.state.merging import FAN_IN, FEWEST, MANY, merged_next
from penstock.engine.state.modules import Module
from penstock.engine.state.store import ChunkInfo


def infos(count: int, rows: int = 10) -> tuple[ChunkInfo, ...]:
    return tuple(ChunkInfo(f"c{n}", rows, 1, 0, n, n) for n in range(count))


def first_merged(module: Module, pid: int) -> int:
    """The number of chunks at which some of them are merged."""
    return next(n for n in range(1, 50) if merged_next(module, pid, infos(n)))


def test_modules_and_partitions_take_turns() -> None:
    counts = {first_merged(Module("A@0"), pid) for pid in range(FAN_IN)}
    assert counts == {FEWEST + 1 + turn for turn in range(FAN_IN)}


def test_large_chunks_are_merged_once_there_are_many() -> None:
    module = Module("A@0")
    assert not merged_next(module, 0, infos(MANY, 100_000))
    merged = merged_next(module, 0, infos(MANY + 1, 100_000))
    assert len(merged) == FAN_IN

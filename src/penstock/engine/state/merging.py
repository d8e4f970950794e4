"""Merging: keep the chunks of a module few, so that a long window costs no more than a short."""

from __future__ import annotations

import zlib
from collections import defaultdict

from penstock.engine.state.modules import Module
from penstock.engine.state.store import ChunkInfo

# A probe costs a little for each chunk, a merge costs each tuple once a tier. Four chunks of a tier
# become one of the next; below some eight chunks there is nothing to gain, since they soon expire.
FAN_IN = 4
FEWEST = 6

# Chunks with more rows than these together are merged only once there are some, or many, and then
# the newest four, which stay the longest: a batch has to wait for it. Four of 50,000 rows take as
# long to merge as it takes to search three more chunks in four batches.
LARGE, HUGE = 1 << 17, 1 << 20
SOME, MANY = 8, 32


def merged_next(module: Module, pid: int, chunks: tuple[ChunkInfo, ...]) -> tuple[ChunkInfo, ...]:
    """Those of the chunks at a partition that are to be merged in the next batch.

    Modules and partitions that get a chunk in every batch have their turns in different ones.
    """
    if len(chunks) <= FEWEST:
        return ()
    turn = zlib.crc32(str(module).encode())
    return _full_tier(chunks, FEWEST + (turn + pid) % FAN_IN)


def _full_tier(chunks: tuple[ChunkInfo, ...], few: int) -> tuple[ChunkInfo, ...]:
    """The lowest tier's chunks that are to be merged, if there are enough of them."""
    if len(chunks) <= few:
        return ()
    tiers: dict[int, list[ChunkInfo]] = defaultdict(list)
    for chunk in chunks:
        tiers[chunk.tier].append(chunk)
    full = [tier for tier, members in tiers.items() if len(members) >= FAN_IN]
    lowest = tuple(tiers[min(full)]) if full else ()
    if sum(chunk.rows for chunk in lowest) <= LARGE:
        return lowest
    newest = lowest[-FAN_IN:]
    is_huge = sum(chunk.rows for chunk in newest) > HUGE
    return newest if len(chunks) > (MANY if is_huge else SOME) else ()

"""Merging: keep the chunks of a module few, so that a long window costs no more than a short."""

from __future__ import annotations

from collections import defaultdict

from penstock.engine.state.manifest import Modules
from penstock.engine.state.modules import Module
from penstock.engine.state.store import ChunkInfo

# A probe costs a little for each chunk, a merge costs each tuple once a tier. Four chunks of a tier
# become one of the next; below eight chunks there is nothing to gain, since they soon expire.
FAN_IN = 4
FEW = 8


def merges_of(modules: Modules) -> dict[Module, dict[int, tuple[ChunkInfo, ...]]]:
    """The chunks to be merged in the next batch, by module and partition."""
    merges: dict[Module, dict[int, tuple[ChunkInfo, ...]]] = {}
    for module, partitions in modules.items():
        for pid, chunks in partitions.items():
            group = _full_tier(chunks)
            if group:
                merges.setdefault(module, {})[pid] = group
    return merges


def _full_tier(chunks: tuple[ChunkInfo, ...]) -> tuple[ChunkInfo, ...]:
    """The lowest tier's chunks, if there are enough of them."""
    if len(chunks) <= FEW:
        return ()
    tiers: dict[int, list[ChunkInfo]] = defaultdict(list)
    for chunk in chunks:
        tiers[chunk.tier].append(chunk)
    full = [tier for tier, members in tiers.items() if len(members) >= FAN_IN]
    return tuple(tiers[min(full)]) if full else ()

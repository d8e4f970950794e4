"""Chunks that a task writes, each with the fact that says so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

from penstock.engine.places.place import Place
from penstock.engine.state.modules import Module
from penstock.engine.state.store import ChunkInfo, Store
from penstock.engine.wire.facts import KeptChunk, PassingChunk
from penstock.engine.wire.packets import Packet, pack_fact


def keep_chunk(
    root: Place,
    module: Module,
    pid: int,
    rows: pa.RecordBatch | None,
    *,
    replaces: Iterable[ChunkInfo] = (),
    tier: int = 0,
    is_fresh: bool | None = None,
) -> Iterator[Packet]:
    """Write rows as a chunk of a module, and say which others it replaces.

    Without rows it only takes those away; without either there is nothing to say. `is_fresh` is
    as in `KeptChunk`.
    """
    replaced = tuple(info.name for info in replaces)
    chunk = None
    if rows is not None and len(rows):
        chunk = Store(root).write_chunk(module.folders(pid), rows, tier)
    if chunk is not None or replaced:
        yield pack_fact(pid, KeptChunk(module, pid, chunk, replaced, is_fresh))


def pass_chunk(
    root: Place, module: Module, pid: int, rows: pa.RecordBatch, *, is_fresh: bool
) -> Packet:
    """Write rows that only later rounds of the batch read."""
    chunk = Store(root).write_chunk(module.folders(pid), rows, lasts=False)
    return pack_fact(pid, PassingChunk(module, chunk, is_fresh))

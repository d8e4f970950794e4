"""Hot keys: the join keys of which the state holds the most, counted in its chunks on demand.

Nothing of it is measured while the query runs: a look reads some of the chunks that the newest
manifest lists, whoever wrote them and wherever they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from zlib import crc32

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.results.kept_query import KeptQuery, kept_query
from penstock.engine.results.key_values import key_text, unknown_hash
from penstock.engine.rows.columns import hash_name
from penstock.engine.rows.layout import Layout
from penstock.engine.state.manifest import Manifest
from penstock.engine.state.modules import Module
from penstock.engine.state.store import ChunkInfo, read_rows
from penstock.errors import PenstockError, StateError, without_passwords
from penstock.watch.log_view import LogView
from penstock.watch.plan_places import asked_in

SHOWN = 8
"""Keys of a module that are shown."""
MOST_BYTES = 64 << 20
"""Bytes of chunks that a look reads, of all modules together."""
_TRIES = 5
"""Batches that may pass, and delete chunks, while a look goes on."""


@dataclass(frozen=True)
class KeyLine:
    """A key: rows that have it, as a part of those that were looked at, and as a multiple of the
    mean over all keys."""

    key: str
    rows: int
    part: float
    times_mean: float


@dataclass(frozen=True)
class ModuleKeys:
    """The keys of a module of the state."""

    module: str
    by: str
    """The equality whose key it is."""

    rows: int
    """Rows in it."""

    looked_at: int
    """Rows that were looked at."""

    keys: int
    """Different keys among these."""

    hottest: tuple[KeyLine, ...] = ()


@dataclass(frozen=True)
class HotKeys:
    """The hot keys of a query after a batch."""

    batch: int | None = None
    modules: tuple[ModuleKeys, ...] = ()
    missing: str | None = None
    """Why there are none."""


def hot_keys(log: LogView, functions: str | None = None, most: int = MOST_BYTES) -> HotKeys:
    """The hot keys by the newest manifest; about `most` bytes are read for them."""
    text = "" if log.head is None else without_passwords(log.head.query)
    query = asked_in(text, log.query, functions)
    if query is None:
        return HotKeys(missing="the query cannot be read here: choose one, or give --functions")
    try:
        kept = kept_query(log.checkpoint, log.query)
        for _ in range(_TRIES):
            made = kept.newest(1)
            try:
                return _looked(kept, made, Layout(query), most)
            except StateError:
                if kept.newest(1) == made:
                    raise
    except (PenstockError, OSError) as error:
        return HotKeys(missing=getattr(error, "message", str(error)))
    return HotKeys(missing="the state changes faster than it can be read: try again")


def _looked(kept: KeptQuery, made: Sequence[Manifest], layout: Layout, most: int) -> HotKeys:
    if not made:
        return HotKeys(missing="no batch yet")
    (manifest,) = made
    found = [module for module in manifest.modules if _space(module, layout) is not None]
    share = most // max(1, len(found))
    modules = tuple(_of_module(kept, manifest, module, layout, share) for module in found)
    missing = None if modules else "no key is kept: the inputs are joined by no equality"
    return HotKeys(manifest.batch, modules, missing)


def _space(module: Module, layout: Layout) -> int | None:
    """The number of the key class by which a module is kept, if it is by one."""
    place = module.place
    return place[1] if place is not None and place[1] < len(layout.keys) else None


def _keeps_unknown(module: Module, layout: Layout) -> bool:
    """Whether tuples are kept that are NULL in the key: they have the hash of 0, or of no text."""
    assert module.place is not None, "it is kept by a key"
    name, space = module.place
    inputs = layout.keys[space].streams
    return name in inputs and layout.keeps_unknown(name, space)


def _of_module(
    kept: KeptQuery, manifest: Manifest, module: Module, layout: Layout, most: int
) -> ModuleKeys:
    space = _space(module, layout)
    assert space is not None, "it is kept by a key"
    key, partitions = layout.keys[space], manifest.modules[module]
    unknown = unknown_hash(key) if _keeps_unknown(module, layout) else None
    chunks = list(_some(partitions.values(), most))
    batches = [read_rows(kept.store.root, chunk) for chunk in chunks]
    hashes, counts = _counted([rows.column(hash_name(space)).to_numpy() for rows in batches])
    rows = int(counts.sum())
    order = np.lexsort((hashes, -counts))[:SHOWN]
    lines = [
        KeyLine(
            f"NULL or {text if key.is_exact else 'no text'}" if hashes[at] == unknown else text,
            int(counts[at]),
            counts[at] / rows,
            counts[at] * len(counts) / rows,
        )
        for at in order
        if (text := key_text(key, int(hashes[at]), _row(batches, space, hashes[at]))) is not None
    ]
    whole = sum(chunk.rows for part in partitions.values() for chunk in part)
    return ModuleKeys(str(module), str(key), whole, rows, len(counts), tuple(lines))


def _some(partitions: Iterable[Sequence[ChunkInfo]], most: int) -> Iterator[ChunkInfo]:
    """Chunks of about so many bytes, some of each partition, drawn by their names: which ones must
    not depend on how old they are."""
    drawn = [sorted(chunks, key=lambda chunk: crc32(chunk.name.encode())) for chunks in partitions]
    size = 0
    for chunk in chain.from_iterable(zip_longest(*drawn)):
        if chunk is None or (size and size + chunk.size > most):
            continue
        size += chunk.size
        yield chunk


def _counted(hashes: Sequence[NDArray[np.int64]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The different hashes, and how often each is there."""
    whole = np.concatenate(hashes) if hashes else np.empty(0, np.int64)
    return np.unique(whole, return_counts=True)


def _row(batches: Sequence[pa.RecordBatch], space: int, hash_: np.int64) -> pa.RecordBatch:
    """A row of that hash."""
    for rows in batches:
        (places,) = np.nonzero(rows.column(hash_name(space)).to_numpy() == hash_)
        if len(places):
            return rows.slice(int(places[0]), 1)
    raise AssertionError("the hash is of one of them")

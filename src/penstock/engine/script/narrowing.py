"""Narrowing: the state of a shared join whose inputs are fewer, since nobody wants the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from penstock.engine.rows.columns import hash_name
from penstock.engine.rows.layout import Layout, key_text
from penstock.engine.state.manifest import Manifest
from penstock.engine.state.modules import Module
from penstock.engine.state.store import ChunkInfo, Store, read_rows
from penstock.errors import CheckpointError

PlacedBy = Mapping[str, str]
"""The key by which an input is kept, in words, by the text of its module."""


def placed_by(layout: Layout) -> dict[str, str]:
    """Where the inputs of a query lie, and by what."""
    return {
        str(Module.kept(alias, space)): _key(layout, alias, space)
        for alias, spaces in layout.spaces.items()
        for space in spaces
    }


def _key(layout: Layout, alias: str, space: int) -> str:
    """The key of a space in words; nothing for an input that has none."""
    return key_text(layout.keys[space], alias) if space < len(layout.keys) else ""


def narrowed(store: Store, standing: Manifest, layout: Layout, partitions: int) -> Manifest:
    """The state of the inputs that a query still has, in the spaces where it now looks for them.

    Chunks are written once more where their keys have other numbers. It becomes final with the
    next batch: until then the manifest has the state as it was.
    """
    now = placed_by(layout)
    if not standing.placed_by or dict(standing.placed_by) == now:
        return standing
    moving = _Moving(store, layout, partitions, _places(standing.placed_by))
    modules = {
        Module(text): moving.chunks(Module(text), key, standing) for text, key in now.items()
    }
    sources = layout.query.sources
    streams = {name: each for name, each in standing.streams.items() if name in sources}
    return replace(standing, modules=modules, streams=streams, inner=(), gaps={})


def _places(known: PlacedBy) -> dict[tuple[str, str], int]:
    """The space of each input and key."""
    found = {}
    for text, key in known.items():
        place = Module(text).place
        assert place is not None, "inputs are kept in spaces"
        found[place[0], key] = place[1]
    return found


@dataclass(frozen=True)
class _Moving:
    """Moves what is kept by a key to the space that the key has now."""

    store: Store
    layout: Layout
    partitions: int
    spaces: Mapping[tuple[str, str], int]

    def chunks(
        self, module: Module, key: str, standing: Manifest
    ) -> dict[int, tuple[ChunkInfo, ...]]:
        """The chunks of a module, from where they lay by the same key."""
        assert module.place is not None, "inputs are kept in spaces"
        alias, space = module.place
        old = self.spaces.get((alias, key))
        if old is None:
            raise CheckpointError(
                f"checkpoint {self.store.root} does not keep {alias} by {key}",
                hint="ask again what was asked before, or use another --checkpoint",
            )
        by, names = (space - old) * self.partitions, self._names(alias)
        found = standing.modules.get(Module.kept(alias, old), {})
        return {
            pid + by: tuple(self._moved(module, pid + by, chunk, names) for chunk in chunks)
            for pid, chunks in found.items()
        }

    def _names(self, alias: str) -> dict[str, str]:
        """The columns of an input's hashes that have another name now."""
        pairs = {
            hash_name(self.spaces[alias, _key(self.layout, alias, key)]): hash_name(key)
            for key in self.layout.keys_of(alias)
            if (alias, _key(self.layout, alias, key)) in self.spaces
        }
        return {old: new for old, new in pairs.items() if old != new}

    def _moved(
        self, module: Module, pid: int, info: ChunkInfo, names: Mapping[str, str]
    ) -> ChunkInfo:
        if not names:
            return info
        rows = read_rows(self.store.root, info)
        # What a key was called that is gone may be what another is called now.
        taken = set(names.values()) - names.keys()
        rows = rows.drop_columns([name for name in rows.schema.names if name in taken])
        rows = rows.rename_columns([names.get(name, name) for name in rows.schema.names])
        return self.store.write_chunk(module.folders(pid), rows, info.tier)

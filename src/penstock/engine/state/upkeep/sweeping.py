"""Sweeping: chunks are deleted a batch after nothing lists them, so that the manifest before the
newest can be gone back to."""

from __future__ import annotations

from collections.abc import Iterable

from penstock.engine.state.listing.differences import left_and_come
from penstock.engine.state.listing.filed_state import is_large
from penstock.engine.state.manifest import Manifest
from penstock.engine.state.modules import Modules
from penstock.engine.state.store import Store, chunk_folder
from penstock.engine.state.upkeep.litter import Litter

_ORPHANS = 64
"""Batches after which the state has been looked through for files that no manifest lists, and that
no task has told of: those of task attempts that were lost or came second."""


class Sweeper:
    """Deletes the chunks of one checkpoint, or of one query of a script.

    Those of a large state on a disk that all share are left as `litter`, if there is somebody who
    takes it; what nobody has taken by the next batch is deleted here.
    """

    def __init__(self, store: Store, litter: Litter | None = None):
        self._store = store
        self._litter = litter
        self._standing: Modules = {}
        self._late: set[str] = set()
        self._batches = 0

    def begin(self, standing: Manifest, before: Manifest | None) -> None:
        """Delete what neither the newest manifest lists nor the one before it.

        Where there is no lock, a run that was fenced off may yet commit what it has begun: only
        after a commit of our own is that sure to be of no use.
        """
        self._standing = standing.modules
        old: Modules = {} if before is None else before.modules
        self._late = left_and_come(old, self._standing)[0]
        if self._store.fence is None:
            self._remove_unlisted()
        else:
            self._batches = _ORPHANS - 1

    def sweep(self, made: Manifest, begun: Iterable[Modules], written: Iterable[str]) -> None:
        """Delete what neither a new manifest lists nor the one before it: of what tasks have
        `written`, of what the batch had `begun` with, and of what was kept a batch longer.

        Once the streams are drained, no batch comes after which more could be deleted.
        """
        left, come = left_and_come(self._standing, made.modules)
        others = {*written, *(name for each in begun for name in self._left(each, made))}
        late = set() if made.is_closed else left
        over = sorted((self._late | left | others) - come - late)
        self._standing, self._late = made.modules, late
        self._batches += 1
        untaken = [] if self._litter is None else self._litter.taken()
        if not (self._store.is_local and is_large(made.modules)):
            self._store.remove([*untaken, *over])
            if self._batches % _ORPHANS == 0:
                self._remove_unlisted()
        elif self._litter is None:
            self._store.remove(over)
            self._remove_unlisted_of(self._batches % _ORPHANS)
        else:
            self._store.remove(untaken)
            self._litter.leave(over)
            self._remove_unlisted_of(self._batches % _ORPHANS, known=over)

    def _left(self, begun: Modules, made: Manifest) -> set[str]:
        """What a batch had begun with and does not list; none of it is new, if it began with what
        was standing."""
        standing = self._standing
        is_known = all(standing.get(module) is each for module, each in begun.items())
        return set() if is_known else left_and_come(begun, made.modules)[0]

    def _remove_unlisted_of(self, turn: int, known: Iterable[str] = ()) -> None:
        """The same for some partitions of a large state, so that no batch looks through all; some
        files are `known` to be deleted by others."""
        if turn == 0:
            remove_packets(self._store)
        found: list[str] = []
        for module, partitions in self._standing.items():
            for pid in (pid for pid in partitions if pid % _ORPHANS == turn):
                listed = {chunk.name for chunk in partitions[pid]}
                there = self._store.names(chunk_folder(module.folders(pid)))
                found += [name for name in there if name not in listed]
        lost = set(found) - self._late.union(known)
        if lost:
            self._store.remove(sorted(lost - set(_names(self._standing))))

    def _remove_unlisted(self) -> None:
        listed = {*_names(self._standing), *self._late}
        self._store.remove([name for name in self._store.names("state") if name not in listed])
        remove_packets(self._store)


def remove_packets(store: Store) -> None:
    """Delete packets that a batch has left, which is over."""
    store.remove(store.names("transit"))


def _names(modules: Modules) -> Iterable[str]:
    parts = (chunks for partitions in modules.values() for chunks in partitions.values())
    return (chunk.name for chunks in parts for chunk in chunks)

"""Sweeping: chunks are deleted a batch after nothing lists them, so that the manifest before the
newest can be gone back to."""

from __future__ import annotations

from collections.abc import Iterable

from penstock.engine.state.manifest import Manifest
from penstock.engine.state.store import Store

_ORPHANS = 64
"""Batches after which the state is looked through for files that no manifest lists, and that no
task has told of: those of task attempts that were lost or came second."""


class Sweeper:
    """Deletes the chunks of one checkpoint, or of one query of a script."""

    def __init__(self, store: Store):
        self._store = store
        self._standing: set[str] = set()
        self._late: set[str] = set()
        self._batches = 0

    def begin(self, standing: Manifest, before: Manifest | None) -> None:
        """Delete what neither the newest manifest lists nor the one before it.

        Where there is no lock, a run that was fenced off may yet commit what it has begun: only
        after a commit of our own is that sure to be of no use.
        """
        self._standing = _names(standing)
        self._late = set() if before is None else _names(before) - self._standing
        if self._store.fence is None:
            self._remove_unlisted()
        else:
            self._batches = _ORPHANS - 1

    def sweep(self, made: Manifest, others: Iterable[str]) -> None:
        """Delete what neither a new manifest lists nor the one before it: of the `others`, and of
        what was kept a batch longer.

        Once the streams are drained, no batch comes after which more could be deleted.
        """
        old, self._standing = self._standing, _names(made)
        late = set() if made.is_closed else old - self._standing
        self._store.remove(sorted({*self._late, *old, *others} - self._standing - late))
        self._late = late
        self._batches += 1
        if self._batches % _ORPHANS == 0:
            self._remove_unlisted()

    def _remove_unlisted(self) -> None:
        listed = self._standing | self._late
        self._store.remove([name for name in self._store.names("state") if name not in listed])
        remove_packets(self._store)


def remove_packets(store: Store) -> None:
    """Delete packets that a batch has left, which is over."""
    store.remove(store.names("transit"))


def _names(manifest: Manifest) -> set[str]:
    return {chunk.name for chunk in manifest.chunks()}

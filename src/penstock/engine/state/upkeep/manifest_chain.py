"""The manifests of one run, each written over the one before it."""

from __future__ import annotations

from penstock.engine.state import manifest as manifests
from penstock.engine.state.listing.chain import Link
from penstock.engine.state.manifest import Manifest
from penstock.engine.state.store import Store


class ManifestChain:
    """Commits manifest after manifest, and forgets those that no other is read with.

    The first of a run is read by itself.
    """

    def __init__(self, store: Store):
        self._store = store
        self._before: Link | None = None
        self._last: Link | None = None

    def commit(self, made: Manifest) -> None:
        """Make a batch final."""
        last = manifests.commit(self._store, made, self._last)
        self._before, self._last = self._last, last

    def forget(self, before: int) -> None:
        """Delete the manifests of batches before the given one, but those that it is read with: a
        run may go back to it."""
        known = self._before
        if known is not None and known.batch == before:
            manifests.forget(self._store, before=known.since)
        else:
            manifests.forget(self._store, before=manifests.read_since(self._store, before))

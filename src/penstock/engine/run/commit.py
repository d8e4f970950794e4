"""Commit: make a batch final, show its results, and clear away what nobody needs any more."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

from penstock.engine.measures.watch import Watch
from penstock.engine.places.flushing import flush_disks
from penstock.engine.run.inner_state import passing_chunks
from penstock.engine.sinks.malformed_rows import clean_kept, prepare_keeping, publish_kept
from penstock.engine.sinks.publisher import Publisher
from penstock.engine.sinks.sink import Sink, Staging
from penstock.engine.sources.feed import serving_name
from penstock.engine.state import manifest as manifests
from penstock.engine.state.checkpoint import Checkpoint
from penstock.engine.state.manifest import Manifest
from penstock.engine.state.modules import Modules
from penstock.engine.state.silence import decision_name
from penstock.engine.state.store import Store, storage_errors
from penstock.engine.state.upkeep.litter import Litter
from penstock.engine.state.upkeep.manifest_chain import ManifestChain
from penstock.engine.state.upkeep.sweeping import Sweeper
from penstock.engine.wire.facts import Fact, KeptChunk, KeptRows, of_kind
from penstock.errors import StateError
from penstock.query import Query


@dataclass(frozen=True)
class Committer:
    """Makes the batches of one checkpoint final, with their results in one sink.

    `deliver` hands the results of a batch to whoever takes them before it is final.
    """

    checkpoint: Checkpoint
    sink: Sink
    deliver: Callable[[Manifest], None]

    @cached_property
    def _publisher(self) -> Publisher:
        held = self.checkpoint
        return Publisher(self.sink, held.store, held.mark, self.deliver)

    @property
    def staging(self) -> Staging | None:
        """Where tasks write results, if anywhere."""
        return self._publisher.staging

    def placed(self, made: Manifest) -> Manifest:
        """A manifest with the place after which its results go."""
        return self._publisher.placed(made)

    @cached_property
    def _chain(self) -> ManifestChain:
        return ManifestChain(self.checkpoint.store)

    @cached_property
    def _sweeper(self) -> Sweeper:
        return Sweeper(self.checkpoint.store, self.litter)

    @cached_property
    def litter(self) -> Litter:
        """Chunks that the tasks of the next batch may delete."""
        return Litter()

    def close(self) -> None:
        """Let go of the sink, once what was published is on its disk."""
        self._publisher.close()
        with suppress(StateError):
            flush(self.checkpoint.store, [self._publisher])
            self.checkpoint.store.remove(self.litter.taken())

    def recover(self, standing: Manifest, query: Query, *, overwrite: bool) -> Manifest:
        """After a crash: show what is final, remove what is not. The manifest to go on from."""
        store = self.checkpoint.store
        standing = self._publisher.recover(standing, query, overwrite=overwrite)
        publish_kept(store, standing.kept)
        sources = query.sources.values()
        kept = prepare_keeping(sources, standing, self.sink, overwrite=overwrite)
        self._sweeper.begin(standing, manifests.before(store, standing))
        if store.fence is None:  # Else what is left is cleared away behind the first commit.
            self._publisher.clean()
            clean_kept(store)
        return replace(standing, kept=kept)

    def commit(self, made: Manifest, watch: Watch) -> None:
        """Make a batch final, and show its results."""
        with watch.phase("commit"):
            flush(self.checkpoint.store, [self._publisher])
        with watch.phase("publish"):
            self._publisher.hand_out(made)
        with watch.phase("commit"):
            self._chain.commit(made)
        with watch.phase("publish"):
            self.show(made)
        watch.show()

    def show(self, made: Manifest) -> None:
        """Show the results of a final batch; again, if need be."""
        self._publisher.show(made)
        publish_kept(self.checkpoint.store, made.kept)

    def sweep(
        self, made: Manifest, old: int, begun: Iterable[Modules], facts: Sequence[Fact]
    ) -> None:
        """Delete what nobody needs any more who goes on from a batch, or from the `old` one before
        it; `begun` are the states that it began with."""
        store = self.checkpoint.store
        self._sweeper.sweep(made, begun, written_by(facts))
        forget_batch(store, old, self._chain)
        self._publisher.clean()
        if of_kind(facts, KeptRows):
            clean_kept(store)


def flush(store: Store, publishers: Iterable[Publisher]) -> None:
    """Have all that a batch has written on the disks, before anybody counts on it."""
    staged = [each.staging.folder for each in publishers if each.staging is not None]
    with storage_errors("write", store.root.path):
        flush_disks([store.root, *staged])


def written_by(facts: Sequence[Fact]) -> list[str]:
    """The chunks that tasks have written in a batch."""
    new = [fact.chunk.name for fact in of_kind(facts, KeptChunk) if fact.chunk]
    return [*new, *passing_chunks(facts)]


def forget_batch(store: Store, batch: int, chain: ManifestChain) -> None:
    """Delete what was written down for a batch to be run again, and what came before it, once
    another one after it is final."""
    chain.forget(before=batch)
    if batch < 0:
        return
    store.remove([decision_name(batch)])
    last = serving_name(batch)
    store.remove([name for name in store.names("feed") if name <= last])

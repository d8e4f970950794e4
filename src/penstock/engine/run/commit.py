"""Commit: make a batch final, show its results, and clear away what nobody needs any more."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from penstock.engine.measures.watch import Watch
from penstock.engine.run.inner_state import passing_chunks
from penstock.engine.sinks.malformed_rows import clean_kept, prepare_keeping, publish_kept
from penstock.engine.sinks.publisher import Publisher
from penstock.engine.sinks.sink import Sink, Staging
from penstock.engine.sources.feed import serving_name
from penstock.engine.state import manifest as manifests
from penstock.engine.state.checkpoint import Checkpoint
from penstock.engine.state.manifest import Manifest
from penstock.engine.state.silence import decision_name
from penstock.engine.state.store import ChunkInfo, Store
from penstock.engine.wire.facts import Fact, KeptChunk, KeptRows
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

    def positions(self, made: Manifest) -> Mapping[int, int]:
        """Where a topic ends before a batch with results is published."""
        return self._publisher.positions(made)

    def close(self) -> None:
        """Let go of the sink."""
        self._publisher.close()

    def recover(self, standing: Manifest, query: Query, *, overwrite: bool) -> Manifest:
        """After a crash: show what is final, remove what is not. The manifest to go on from."""
        store = self.checkpoint.store
        standing = self._publisher.recover(standing, query, overwrite=overwrite)
        publish_kept(store, standing.kept)
        sources = query.sources.values()
        kept = prepare_keeping(sources, standing, self.sink, overwrite=overwrite)
        remove_unlisted(store, standing)
        store.remove(store.names("transit"))
        self._publisher.clean()
        clean_kept(store)
        return replace(standing, kept=kept)

    def commit(self, made: Manifest, watch: Watch) -> None:
        """Make a batch final, and show its results."""
        with watch.phase("publish"):
            self._publisher.hand_out(made)
        with watch.phase("commit"):
            manifests.commit(self.checkpoint.store, made)
        with watch.phase("publish"):
            self.show(made)
        watch.show()

    def show(self, made: Manifest) -> None:
        """Show the results of a final batch; again, if need be."""
        self._publisher.show(made)
        publish_kept(self.checkpoint.store, made.kept)

    def sweep(self, made: Manifest, before: Iterable[ChunkInfo], facts: Sequence[Fact]) -> None:
        """Delete what a batch made unreachable; a batch that runs again needs none of it."""
        store = self.checkpoint.store
        store.remove(unreachable(made, before, facts))
        forget_batch(store, made.batch)
        self._publisher.clean()
        if any(isinstance(fact, KeptRows) for fact in facts):
            clean_kept(store)


def remove_unlisted(store: Store, standing: Manifest) -> None:
    """Remove the chunks that no manifest lists: those of a batch that was not made final."""
    listed = {chunk.name for chunk in standing.chunks()}
    store.remove([name for name in store.names("state") if name not in listed])


def unreachable(made: Manifest, before: Iterable[ChunkInfo], facts: Sequence[Fact]) -> list[str]:
    """The chunks that were there before or made in a batch, and are not listed after it."""
    kept = {chunk.name for chunk in made.chunks()}
    new = [f.chunk.name for f in facts if isinstance(f, KeptChunk) and f.chunk]
    gone = {*new, *(chunk.name for chunk in before)} - kept
    return [*gone, *passing_chunks(facts)]


def forget_batch(store: Store, batch: int) -> None:
    """Delete what was written down for a batch to be run again, and what came before it."""
    manifests.forget(store, before=batch - 1)
    store.remove([decision_name(batch)])
    last = serving_name(batch)
    store.remove([name for name in store.names("feed") if name <= last])

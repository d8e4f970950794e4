"""Commit: make a batch final, show its results, and clear away what nobody needs any more."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from penstock.engine.measures.watch import Watch
from penstock.engine.run.inner_state import passing_chunks
from penstock.engine.run.silence import decision_name
from penstock.engine.sinks.kafka.topic_writer import TopicWriter
from penstock.engine.sinks.malformed_rows import clean_kept, prepare_keeping, publish_kept
from penstock.engine.sinks.publish import (
    clean,
    length_of,
    prepare,
    print_results,
    publish,
    publish_once,
    staging_of,
    writer_to,
)
from penstock.engine.sinks.sink import Sink, Staging
from penstock.engine.sources.feed import serving_name
from penstock.engine.state import manifest as manifests
from penstock.engine.state.checkpoint import Checkpoint
from penstock.engine.state.manifest import Manifest
from penstock.engine.state.store import ChunkInfo
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
    def staging(self) -> Staging | None:
        """Where tasks write results, if anywhere."""
        return staging_of(self.sink, self.checkpoint.store, self.checkpoint.mark)

    @cached_property
    def _writer(self) -> TopicWriter | None:
        return writer_to(self.sink, self.staging, self.checkpoint.mark)

    def positions(self, made: Manifest) -> Mapping[int, int]:
        """Where a topic ends before a batch with results is published."""
        return self._writer.positions() if self._writer is not None and made.parts else {}

    def close(self) -> None:
        """Let go of the sink."""
        if self._writer is not None:
            self._writer.close()

    def recover(self, standing: Manifest, query: Query, *, overwrite: bool) -> Manifest:
        """After a crash: show what is final, remove what is not. The manifest to go on from."""
        store, mark = self.checkpoint.store, self.checkpoint.mark
        shown = Sink.named(standing.sink) if standing.sink else None
        is_new = shown != self.sink
        if shown is not None:
            self._show_last(shown, standing)
        prepare(self.sink, mark, query, is_new=is_new, overwrite=overwrite)
        if is_new:
            standing = replace(standing, sink_length=length_of(self.sink), parts=())
        publish_kept(store, standing.kept)
        sources = query.sources.values()
        kept = prepare_keeping(sources, standing, self.sink, overwrite=overwrite)
        listed = {chunk.name for chunk in standing.chunks()}
        store.remove([name for name in store.names("state") if name not in listed])
        store.remove(store.names("transit"))
        clean(self.staging)
        clean_kept(store)
        return replace(standing, kept=kept)

    def _show_last(self, shown: Sink, standing: Manifest) -> None:
        """Show what is final in the sink that it was made for, and clear away the rest."""
        if shown == self.sink:
            # This one may know better how it is reached.
            publish(self.sink, standing, self._writer)
            clean(self.staging)
        else:
            store, mark = self.checkpoint.store, self.checkpoint.mark
            publish_once(shown, standing, staging_of(shown, store, mark), mark)

    def commit(self, made: Manifest, watch: Watch) -> None:
        """Make a batch final, and show its results."""
        with watch.phase("publish"):
            if self.sink.kind == "console":
                print_results(self.staging, made.parts)
            self.deliver(made)
        with watch.phase("commit"):
            manifests.commit(self.checkpoint.store, made)
        with watch.phase("publish"):
            self.show(made)
        watch.show()

    def show(self, made: Manifest) -> None:
        """Show the results of a final batch; again, if need be."""
        publish(self.sink, made, self._writer)
        publish_kept(self.checkpoint.store, made.kept)

    def sweep(self, made: Manifest, before: Iterable[ChunkInfo], facts: Sequence[Fact]) -> None:
        """Delete what a batch made unreachable; a batch that runs again needs none of it."""
        store = self.checkpoint.store
        kept = {chunk.name for chunk in made.chunks()}
        new = [f.chunk.name for f in facts if isinstance(f, KeptChunk) and f.chunk]
        gone = {*new, *(chunk.name for chunk in before)} - kept
        store.remove([*gone, *passing_chunks(facts)])
        manifests.forget(store, before=made.batch - 1)
        store.remove([decision_name(made.batch)])
        last = serving_name(made.batch)
        store.remove([name for name in store.names("feed") if name <= last])
        clean(self.staging)
        if any(isinstance(fact, KeptRows) for fact in facts):
            clean_kept(store)

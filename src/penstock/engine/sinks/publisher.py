"""The publisher of a sink: where a query's results are staged, and how they come to be seen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from penstock.engine.sinks.kafka.topic_writer import TopicWriter
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
from penstock.engine.state.manifest import Manifest
from penstock.engine.state.store import Store
from penstock.query import Query


@dataclass(frozen=True)
class Publisher:
    """Brings the results of one query to one sink, signed with a mark.

    `deliver` hands the results of a batch to whoever takes them before it is final.
    """

    sink: Sink
    store: Store
    mark: str
    deliver: Callable[[Manifest], None]

    @cached_property
    def staging(self) -> Staging | None:
        """Where tasks write results, if anywhere."""
        return staging_of(self.sink, self.store, self.mark)

    @cached_property
    def _writer(self) -> TopicWriter | None:
        return writer_to(self.sink, self.staging, self.mark)

    def positions(self, made: Manifest) -> Mapping[int, int]:
        """Where a topic ends before a batch with results is published."""
        return self._writer.positions() if self._writer is not None and made.parts else {}

    def close(self) -> None:
        """Let go of the sink."""
        if self._writer is not None:
            self._writer.close()

    def recover(self, standing: Manifest, query: Query, *, overwrite: bool) -> Manifest:
        """After a crash: show what is final. The manifest to go on from."""
        shown = Sink.named(standing.sink) if standing.sink else None
        is_new = shown != self.sink
        if shown is not None:
            self._show_last(shown, standing)
        prepare(self.sink, self.mark, query, is_new=is_new, overwrite=overwrite)
        if is_new:
            standing = replace(standing, sink_length=length_of(self.sink), parts=())
        return standing

    def _show_last(self, shown: Sink, standing: Manifest) -> None:
        """Show what is final in the sink that it was made for, and clear away the rest."""
        if shown == self.sink:
            # This one may know better how it is reached.
            publish(self.sink, standing, self._writer)
            clean(self.staging)
        else:
            publish_once(shown, standing, staging_of(shown, self.store, self.mark), self.mark)

    def hand_out(self, made: Manifest) -> None:
        """Give the results of a batch to those who get them before it is final."""
        if self.sink.kind == "console":
            print_results(self.staging, made.parts)
        self.deliver(made)

    def show(self, made: Manifest) -> None:
        """Show the results of a final batch; again, if need be."""
        publish(self.sink, made, self._writer)

    def clean(self) -> None:
        """Remove what was staged and not published."""
        clean(self.staging)

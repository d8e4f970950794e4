"""The publisher of a sink: where a query's results are staged, and how they come to be seen."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from penstock.engine.places.appending import cut_back
from penstock.engine.sinks.kafka.topic_writer import TopicWriter
from penstock.engine.sinks.ledger import SinkHold
from penstock.engine.sinks.publish import (
    clean,
    is_new_to,
    length_of,
    prepare,
    print_results,
    publish,
    publish_once,
    remove_beyond,
    staging_of,
    writer_to,
)
from penstock.engine.sinks.sink import Sink, Staging
from penstock.engine.state.manifest import Manifest
from penstock.engine.state.store import Store
from penstock.engine.state.upkeep.going_back import run_again
from penstock.engine.state.upkeep.known_sinks import KnownSink, enter_sink, known_sinks
from penstock.query import Query

_LOG = logging.getLogger(__name__)


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

    @cached_property
    def _held(self) -> list[SinkHold]:
        return []

    def _positions(self, made: Manifest) -> Mapping[int, int]:
        """Where a topic ends before a batch with results is published; of one that was published
        before, and gone back from, where it ended before the one before."""
        if self._writer is None or not made.parts:
            return {}
        return self._again.pop(made.batch, None) or self._writer.positions()

    @cached_property
    def _again(self) -> dict[int, Mapping[int, int]]:
        return {}

    def close(self) -> None:
        """Let go of the sink."""
        for hold in self._held:
            hold.close()
        if self._writer is not None:
            self._writer.close()

    def recover(self, standing: Manifest, query: Query, *, overwrite: bool) -> Manifest:
        """After a crash: show what is final. The manifest to go on from."""
        shown = Sink.named(standing.sink) if standing.sink else None
        if shown is not None:
            self._show_last(shown, standing)
            self._leave(shown, standing)
        is_new = is_new_to(self.sink, standing, self.store)
        prepare(self.sink, self.mark, query, is_new=is_new, overwrite=overwrite)
        if self.sink.kind == "parquet":
            self._held.append(SinkHold(self.sink.place, self.mark))
        remove_beyond(self.sink, self.mark, standing.batch, self.store)
        again = run_again(self.store, standing)
        if again is not None and shown == self.sink:
            self._again[again] = standing.sink_positions
        length = self._length(shown, standing, overwrite=overwrite)
        if shown != self.sink and self.sink.is_exact:
            given = KnownSink(self.sink.name, standing.batch, length)
            enter_sink(self.store, given, lambda name: Sink.named(name) == self.sink)
        if shown != self.sink or self.sink.kind == "jsonl":
            standing = replace(standing, sink_length=length, parts=())
        if shown is not None and shown != self.sink:
            _tell_of_split(shown, self.sink, standing.batch)
        return standing

    def _length(self, shown: Sink | None, standing: Manifest, *, overwrite: bool) -> int:
        """The bytes of a jsonl file after which the next results go."""
        if self.sink.kind != "jsonl":
            return 0
        end = _end_of(standing) if shown == self.sink else self._left_at()
        if end is None:
            return length_of(self.sink)
        return cut_back(self.sink.place, end, overwrite=overwrite)

    def _left_at(self) -> int | None:
        """The length of a jsonl file when another sink was given; None if it is new."""
        known = (each for each in known_sinks(self.store) if Sink.named(each.sink) == self.sink)
        return next((each.end for each in known), None)

    def _leave(self, shown: Sink, standing: Manifest) -> None:
        """Remember how long the file of lines is that the results have gone to until now."""
        if shown == self.sink or shown.kind != "jsonl":
            return
        known = [each for each in known_sinks(self.store) if Sink.named(each.sink) == shown]
        for each in known:
            left = replace(each, end=_end_of(standing))
            enter_sink(self.store, left, lambda name: Sink.named(name) == shown)

    def placed(self, made: Manifest) -> Manifest:
        """A manifest with the place after which its results go, as it is just before that."""
        if self.sink.kind == "jsonl":
            return replace(made, sink_length=length_of(self.sink))
        return replace(made, sink_positions=self._positions(made))

    def _show_last(self, shown: Sink, standing: Manifest) -> None:
        """Show what is final in the sink that it was made for, and clear away the rest."""
        if shown == self.sink:
            # This one may know better how it is reached.
            publish(self.sink, standing, self.staging, self._writer)
            if self.store.fence is None:
                clean(self.staging)
        else:
            staging = staging_of(shown, self.store, self.mark)
            publish_once(shown, standing, staging, self.mark, self.store)

    def hand_out(self, made: Manifest) -> None:
        """Give the results of a batch to those who get them before it is final."""
        if self.sink.kind == "console":
            print_results(self.staging, made.parts)
        self.deliver(made)

    def show(self, made: Manifest) -> None:
        """Show the results of a final batch; again, if need be."""
        publish(self.sink, made, self.staging, self._writer)

    def clean(self) -> None:
        """Remove what was staged and not published."""
        clean(self.staging, self.store)


def _tell_of_split(old: Sink, new: Sink, batch: int) -> None:
    """Say that from now on the results of a query are in two places, if they are kept at all."""
    are_there = "are in" if old.is_exact else "went to"
    told = "results up to batch %d %s %s; from now on they go to %s"
    _LOG.warning(told, batch, are_there, old, new)


def _end_of(standing: Manifest) -> int:
    """The length of a jsonl file after a batch."""
    return standing.sink_length + sum(part.size for part in standing.parts)

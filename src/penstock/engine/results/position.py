"""Positions: how far the results of a query have been published, by its manifests."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.engine.results.kept_query import KeptQuery
from penstock.engine.sinks.publish import is_unpublished, length_of, staging_of
from penstock.engine.sinks.sink import Sink
from penstock.engine.state.checkpoint import mark_of
from penstock.engine.state.manifest import Manifest
from penstock.engine.state.store import Store
from penstock.errors import SinkError


@dataclass(frozen=True)
class Position:
    """The results of all batches up to one. It is what readers remember, as JSON."""

    batch: int = -1
    """The number of the last batch, which is that of its manifest."""

    results: int = 0
    """How many results all batches up to it had."""

    sink: str = ""
    """Where they are, without passwords."""

    length: int = 0
    """The bytes of a jsonl file up to there."""


def published(kept: KeptQuery) -> Position:
    """How far the results of a query can be read: to the newest batch that is published.

    A run that is killed between the manifest of a batch and its files leaves that batch to the next
    run. Until then it is not to be seen, as in the sink itself.
    """
    found = kept.newest(2)
    for made in found:
        sink = readable(Sink.named(made.sink), kept.store)
        if _is_published(sink, made, kept.store):
            return Position(made.batch, made.results, _where(sink), _length_after(sink, made))
    if len(found) > 1:
        raise SinkError(
            f"{Sink.named(found[1].sink).path} lacks results that were there",
            hint="somebody has written to it, or put something else in its place",
        )
    return Position()


def sink_of(kept: KeptQuery) -> Sink:
    """The sink that keeps the results of a query; a SinkError if it keeps none."""
    made = kept.newest(1)
    return readable(Sink.named(made[0].sink if made else kept.first_sink), kept.store)


def readable(sink: Sink, store: Store) -> Sink:
    """A sink whose results can be read back; others are refused."""
    if sink.kind in ("parquet", "jsonl"):
        return sink
    if sink.kind == "kafka":
        raise SinkError(
            f"the results of {store.root} are in a topic, {sink.name}, and not read from here",
            hint="read the topic, with isolation.level = read_committed",
        )
    raise SinkError(
        f"the results of {store.root} cannot be read back: its sink, {sink.kind or 'none'}, "
        "keeps none",
        hint="run the query with a sink that does, parquet:DIR or jsonl:PATH",
    )


def _where(sink: Sink) -> str:
    return f"{sink.kind}:{sink.place.where}"


def _length_after(sink: Sink, made: Manifest) -> int:
    if sink.kind != "jsonl":
        return 0
    return made.sink_length + sum(part.size for part in made.parts)


def _is_published(sink: Sink, made: Manifest, store: Store) -> bool:
    """Whether the results of a final batch are all in the sink."""
    if sink.kind == "jsonl":
        return length_of(sink) >= _length_after(sink, made)
    return not is_unpublished(sink, made, staging_of(sink, store, mark_of(store)))

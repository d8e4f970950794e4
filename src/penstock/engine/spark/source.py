"""The Spark source: a feed as a streaming data source, whose rows are slices to be read.

One source for all streams of a query keeps Spark's bookkeeping small; its offsets are in Spark's
own log, so a batch that is run again has the same slices.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import SupportsTriggerAvailableNow

from penstock.engine.feed import Feed
from penstock.engine.packets import SPARK_SCHEMA, Packet, to_batches
from penstock.engine.store import Store
from penstock.query.source import Source

FORMAT = "penstock"
_SOURCES = "sources.pickle"


def leave_sources(sources: Sequence[Source], store: Store) -> None:
    """Put the sources where the feed's process finds them; options of a data source are short."""
    store.write(_SOURCES, pickle.dumps(tuple(sources)))


class FeedSource(DataSource):
    """Slices of the sources of one query."""

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def schema(self) -> str:
        return SPARK_SCHEMA

    def streamReader(self, schema: Any) -> FeedReader:  # noqa: N802
        return FeedReader(self.options["root"], int(self.options["tasks"]))


class _Group(InputPartition):
    """The slices that one task reads."""

    def __init__(self, packets: list[tuple[int, str, bytes]]):
        self.packets = packets


class FeedReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Offsets of a feed, in the words of Spark's streaming sources."""

    def __init__(self, root: str, tasks: int):
        self._root = root
        self._tasks = tasks
        self._made: Feed | None = None

    @property
    def _feed(self) -> Feed:
        if self._made is None:
            store = Store(self._root)
            self._made = Feed(pickle.loads(store.read(_SOURCES)), store)
        return self._made

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_made": None}

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        self._feed.freeze()

    def initialOffset(self) -> dict[str, int]:  # noqa: N802
        return dict(self._feed.start())

    def latestOffset(self, start: dict[str, int], limit: Any) -> dict[str, int]:  # noqa: N802
        return dict(self._feed.next(start))

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        slices = self._feed.slices(start, end)
        groups: list[list[tuple[int, str, bytes]]] = [[] for _ in range(self._tasks)]
        for number, piece in enumerate(slices):
            packet = piece.packet(0)
            groups[number % self._tasks].append((packet.pid, packet.tag, bytes(packet.data)))
        return [_Group(group) for group in groups if group]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, _Group)
        return to_batches(Packet(*packet) for packet in partition.packets)

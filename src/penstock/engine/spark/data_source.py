"""The data source `penstock`: results, reports, plans and state of a query as DataFrames."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    InputPartition,
)
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    SupportsTriggerAvailableNow,
)
from pyspark.sql.types import StructType

from penstock.arguments import as_one_of
from penstock.engine.results.content import Content, Offset, content_of
from penstock.engine.results.reading import in_columns
from penstock.errors import PenstockError, UsageError

NAME = "penstock"
_STARTS = ("earliest", "latest")
_FLAGS = ("false", "true")
_HIDDEN = "SPARK_HIDE_TRACEBACK"
"""What Spark's Python processes look for before they tell of an error."""


def register(spark: SparkSession) -> None:
    """Have a session know the format `penstock`; to do so twice changes nothing."""
    spark.dataSource.register(PenstockDataSource)


@contextmanager
def plain_errors() -> Iterator[None]:
    """Have Spark pass on what users can mend without a stack trace before it.

    The process that tells of an error ends with it, so that errors of others keep theirs.
    """
    try:
        yield
    except PenstockError:
        os.environ[_HIDDEN] = "1"
        raise


@dataclass(frozen=True)
class Piece(InputPartition):
    """What one task reads."""

    value: object


class PenstockDataSource(DataSource):
    """Reads a query by its `checkpoint`, while it runs and after its end; of a script the `query`
    that is named.

    `what` is results, reports, plans or state. A stream begins with the `earliest` result, or after
    the `latest` one if `start` says so. A table of a view has its rows, or all its `changes`.
    """

    @classmethod
    def name(cls) -> str:
        return NAME

    @plain_errors()
    def schema(self) -> StructType:
        return from_arrow_schema(self.content().schema)

    def reader(self, schema: StructType) -> TableReader:
        return TableReader(self, schema)

    def streamReader(self, schema: StructType) -> StreamReader:  # noqa: N802
        return StreamReader(self, schema)

    def content(self) -> Content:
        """What the options ask for."""
        checkpoint = self.options.get("checkpoint") or self.options.get("path")
        if not checkpoint:
            raise UsageError(
                "the data source penstock needs the checkpoint of a query",
                hint='.option("checkpoint", "/folder/of/the/checkpoint")',
            )
        what = self.options.get("what", "results").lower()
        changes = as_one_of(self.options.get("changes", "false").lower(), _FLAGS, "changes")
        query = self.options.get("query")
        return content_of(checkpoint, what, changes=changes == "true", query=query)

    @property
    @plain_errors()
    def starts_late(self) -> bool:
        """Whether a stream is to begin after what is there now."""
        start = as_one_of(self.options.get("start", "earliest").lower(), _STARTS, "start")
        return start == "latest"


@dataclass(frozen=True)
class TableReader(DataSourceReader):
    """Reads all there is now."""

    source: PenstockDataSource
    schema: StructType

    @plain_errors()
    def partitions(self) -> list[Piece]:
        return [Piece(piece) for piece in self.source.content().table()] or [Piece(None)]

    def read(self, partition: Piece) -> Iterator[pa.RecordBatch]:
        return _rows(self.source, self.schema, partition)


class StreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reads what is new, from one position to the next: Spark's own checkpoint remembers it."""

    def __init__(self, source: PenstockDataSource, schema: StructType):
        self._source = source
        self._schema = schema
        self._last: Offset | None = None

    @plain_errors()
    def initialOffset(self) -> Offset:  # noqa: N802
        content = self._source.content()
        return content.latest() if self._source.starts_late else content.first()

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        return ReadAllAvailable()

    @plain_errors()
    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        self._last = self._source.content().latest()

    @plain_errors()
    def latestOffset(self, start: Offset, limit: ReadLimit) -> Offset:  # noqa: N802
        end = self._source.content().latest() if self._last is None else self._last
        # A checkpoint that was put back to an earlier state has nothing new until it is past that.
        return end if end["batch"] > start["batch"] else start

    @plain_errors()
    def reportLatestOffset(self) -> Offset:  # noqa: N802
        return self._source.content().latest()

    @plain_errors()
    def partitions(self, start: Offset, end: Offset) -> list[Piece]:
        return [Piece(piece) for piece in self._source.content().between(start, end)]

    def read(self, partition: Piece) -> Iterator[pa.RecordBatch]:
        return _rows(self._source, self._schema, partition)


def _rows(
    source: PenstockDataSource, schema: StructType, partition: Piece
) -> Iterator[pa.RecordBatch]:
    """The rows of a piece in Spark's own types."""
    if partition.value is None:
        return
    wanted = to_arrow_schema(schema, timezone="UTC")
    with plain_errors():
        found = source.content().read(partition.value)
        yield from map(partial(in_columns, schema=wanted), found)

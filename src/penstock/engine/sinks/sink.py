"""Sinks: where results go. Tasks stage files; the driver publishes them once a batch is final."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, cast

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from penstock.arguments import as_callback, as_path, as_text
from penstock.engine.expressions.arrow_types import TIMESTAMP, arrow_type
from penstock.engine.places.file_names import staged_name
from penstock.engine.places.flushing import note
from penstock.engine.places.place import Place, open_new
from penstock.engine.sinks.kafka.keyed import record_lines
from penstock.engine.sinks.kafka.topic import Topic
from penstock.engine.state.manifest import StagedPart
from penstock.errors import SinkError
from penstock.kernels.jsontext.jsonlines import json_lines
from penstock.query import Query
from penstock.query.view import CHANGE, TIME

# Rows of results that are written at once: a parquet row group of them is worth its metadata; lines
# should still be in the processor's memory when they are written.
ROW_GROUP = 1 << 17
_LINES = 1 << 15

Kind = Literal["parquet", "jsonl", "kafka", "console", "foreach_batch", "noop"]


@dataclass(frozen=True)
class Sink:
    """A place for results; parquet, jsonl and kafka hold each once, the others at least once."""

    kind: Kind
    path: Place | None = None
    topic: Topic | None = None
    function: Callable[[Any, int], None] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        # A path that is still text is parsed here, once.
        if self.path is not None:
            object.__setattr__(self, "path", Place.of(self.path))

    @property
    def place(self) -> Place:
        """Where the results of a sink with files lie."""
        assert self.path is not None, f"a {self.kind} sink has no files"
        return self.path

    @property
    def name(self) -> str:
        """The sink as manifests and the command line write it, without credentials of a store."""
        place = "" if self.topic is None else self.topic.text
        return f"{self.kind}:{place if self.path is None else self.path.plain}"

    def __str__(self) -> str:
        """The sink for people to read, without passwords."""
        place = self.topic or self.path
        return self.kind if place is None else f"{self.kind}:{place}"

    @classmethod
    def named(cls, name: str) -> Sink:
        """The sink of a name."""
        kind, _, path = name.partition(":")
        if kind == "kafka":
            return cls("kafka", topic=Topic.of(path))
        return cls(cast(Kind, kind), Place.of(path) if path else None)

    @property
    def is_exact(self) -> bool:
        return self.kind in ("parquet", "jsonl", "kafka")


def parquet(path: str | os.PathLike[str]) -> Sink:
    """A folder of parquet files, a few for each batch."""
    return Sink("parquet", _place(path, "the folder of a parquet sink"))


def jsonl(path: str | os.PathLike[str]) -> Sink:
    """One local file of JSON lines."""
    return Sink("jsonl", _place(path, "the file of a jsonl sink"))


def kafka(servers: str, topic: str, *, config: str | os.PathLike[str] | None = None) -> Sink:
    """A topic of Kafka, a transaction for each batch.

    `config` is a file with settings of the clients, a line `name=value` for each.
    """
    brokers = as_text(servers, "servers", "is a text, such as 'localhost:9092'")
    name = as_text(topic, "topic", "is the name of a topic")
    file = None if config is None else as_path(config, "config")
    return Sink("kafka", topic=Topic.made(brokers.strip(), name.strip(), file))


def _place(path: object, name: str) -> Place:
    return path if isinstance(path, Place) else Place.of(as_path(path, name))


def console() -> Sink:
    """Standard output; a batch that is run again is printed again."""
    return Sink("console")


def noop() -> Sink:
    """Nowhere: results are made and counted, then dropped."""
    return Sink("noop")


def foreach_batch(function: Callable[[Any, int], None]) -> Sink:
    """A function of (DataFrame, batch id); a batch that is run again is handed over again."""
    called = as_callback(function, "a foreach_batch sink", "(DataFrame, batch id)")
    return Sink("foreach_batch", function=called)


@dataclass(frozen=True)
class Staging:
    """How and where tasks write results."""

    format: Literal["parquet", "jsonl", "records"]
    folder: Place


class PartWriter:
    """Collects the results of one task in one file, opened at the first result."""

    def __init__(self, staging: Staging | None, query: Query):
        self._staging = staging
        self._query = query
        self._schema = result_schema(query)
        self._together = ROW_GROUP if staging and staging.format == "parquet" else _LINES
        self._rows = 0
        self._held: list[pa.RecordBatch] = []
        self._held_rows = 0
        self._path = ""
        self._stream: fs.NativeFile | None = None
        self._parquet: pq.ParquetWriter | None = None

    def write(self, results: pa.RecordBatch) -> None:
        """Add results, in the query's output columns."""
        self._rows += len(results)
        if self._staging is None or not len(results):
            return
        self._held.append(results)
        self._held_rows += len(results)
        if self._held_rows >= self._together:
            self._flush()

    def close(self) -> Iterator[StagedPart]:
        """The files written, if any."""
        self._flush()
        size = 0
        with self._writing():
            if self._parquet is not None:
                self._parquet.close()
            if self._stream is not None:
                size = self._stream.tell()
                self._stream.close()
                note(self._staged)
        if self._rows:
            yield StagedPart(self._path, self._rows, size)

    def _flush(self) -> None:
        if self._held:
            with self._writing():
                self._append(pa.concat_batches(self._held))
            self._held, self._held_rows = [], 0

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise SinkError(
                f"cannot write results to {self._path}: {error.strerror or error}",
                hint="nothing is lost: mend the sink, then run again on this checkpoint",
            ) from None

    def _append(self, results: pa.RecordBatch) -> None:
        if self._stream is None:
            self._open()
        assert self._stream is not None
        if self._parquet is not None:
            self._parquet.write_batch(results.cast(self._schema))
        elif self._staging is not None and self._staging.format == "records":
            self._stream.write(record_lines(results, self._query))
        else:
            self._stream.write(json_lines(results))

    def _open(self) -> None:
        assert self._staging is not None, "what goes nowhere needs no file"
        self._staged = self._staging.folder / staged_name(self._staging.format)
        self._path = self._staged.path
        self._stream = open_new(self._staged)
        if self._staging.format == "parquet":
            texts = [f.name for f in self._schema if pa.types.is_large_string(f.type)]
            # Dictionaries of numbers cost more time than they save space.
            self._parquet = pq.ParquetWriter(self._stream, self._schema, use_dictionary=texts)


def result_schema(query: Query) -> pa.Schema:
    """The columns of a query's results; those of a view say when a group has changed, and how."""
    columns = [(o.name, arrow_type(o.expression.type)) for o in query.results]
    if query.view is not None:
        columns += [(TIME, TIMESTAMP), (CHANGE, pa.large_string())]
    return pa.schema(columns)

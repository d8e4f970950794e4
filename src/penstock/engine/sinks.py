"""Sinks: where results go. Tasks stage files; the driver publishes them once a batch is final."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, cast

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from penstock.engine.arrow_types import TIMESTAMP, arrow_type
from penstock.engine.store import absolute_root, open_filesystem
from penstock.errors import SinkError
from penstock.kernels.jsonlines import json_lines
from penstock.query import Query
from penstock.query.view import CHANGE, TIME

# Rows of results that are written at once; a parquet row group of them is worth its metadata.
ROW_GROUP = 1 << 17

Kind = Literal["parquet", "jsonl", "console", "foreach_batch", "noop"]


@dataclass(frozen=True)
class Sink:
    """A place for results; parquet and jsonl hold each result once, the others at least once."""

    kind: Kind
    path: str = ""
    function: Callable[[Any, int], None] | None = None

    @property
    def name(self) -> str:
        """The sink as manifests and the command line write it."""
        return f"{self.kind}:{self.path}"

    @classmethod
    def named(cls, name: str) -> Sink:
        """The sink of a name."""
        kind, _, path = name.partition(":")
        return cls(cast(Kind, kind), path)

    @property
    def is_exact(self) -> bool:
        return self.kind in ("parquet", "jsonl")


def parquet(path: str | os.PathLike[str]) -> Sink:
    """A folder of parquet files, a few for each batch."""
    return Sink("parquet", absolute_root(os.fspath(path)))


def jsonl(path: str | os.PathLike[str]) -> Sink:
    """One local file of JSON lines."""
    return Sink("jsonl", absolute_root(os.fspath(path)))


def console() -> Sink:
    """Standard output; a batch that is run again is printed again."""
    return Sink("console")


def noop() -> Sink:
    """Nowhere: results are made and counted, then dropped."""
    return Sink("noop")


def foreach_batch(function: Callable[[Any, int], None]) -> Sink:
    """A function of (DataFrame, batch id); a batch that is run again is handed over again."""
    return Sink("foreach_batch", function=function)


@dataclass(frozen=True)
class StagedPart:
    """A file of results that a task has written."""

    staged: str
    rows: int
    size: int


@dataclass(frozen=True)
class Staging:
    """How and where tasks write results; nowhere if there is no format."""

    format: Literal["parquet", "jsonl"] | None
    folder: str


class PartWriter:
    """Collects the results of one task in one file, opened at the first result."""

    def __init__(self, staging: Staging, query: Query):
        self._staging = staging
        self._schema = result_schema(query)
        self._rows = 0
        self._held: list[pa.RecordBatch] = []
        self._held_rows = 0
        self._path = ""
        self._stream: fs.NativeFile | None = None
        self._parquet: pq.ParquetWriter | None = None

    def write(self, results: pa.RecordBatch) -> None:
        """Add results, in the query's output columns."""
        self._rows += len(results)
        if self._staging.format is None or not len(results):
            return
        self._held.append(results)
        self._held_rows += len(results)
        if self._held_rows >= ROW_GROUP:
            self._flush()

    def close(self) -> Iterator[StagedPart]:
        """What was written, if anything."""
        self._flush()
        size = 0
        with self._writing():
            if self._parquet is not None:
                self._parquet.close()
            if self._stream is not None:
                size = self._stream.tell()
                self._stream.close()
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
        else:
            self._stream.write(json_lines(results))

    def _open(self) -> None:
        filesystem, folder = open_filesystem(self._staging.folder)
        self._path = f"{folder}/{uuid.uuid4().hex}.{self._staging.format}"
        try:
            self._stream = filesystem.open_output_stream(self._path)
        except FileNotFoundError:
            filesystem.create_dir(folder, recursive=True)
            self._stream = filesystem.open_output_stream(self._path)
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

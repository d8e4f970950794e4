"""Reading pieces of results: the rows of their files, in the columns of the query."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.json as pajson
import pyarrow.parquet as pq

from penstock.engine.results.pieces import LineRange, PartFiles, Piece
from penstock.errors import SinkError

_ROWS = 1 << 16


def rows_of(piece: Piece, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The rows of a piece; a column that they lack is NULL."""
    try:
        match piece:
            case PartFiles():
                yield from _rows_of_files(piece, schema)
            case LineRange():
                yield from _rows_of_lines(piece, schema)
    except FileNotFoundError as error:
        raise SinkError(
            f"results were removed while they were read: {error}",
            hint="whoever clears a sink must leave what is still to be read",
        ) from None


def _rows_of_files(piece: PartFiles, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    for name in piece.names:
        with piece.folder.filesystem.open_input_file((piece.folder / name).path) as file:
            for batch in pq.ParquetFile(file).iter_batches(_ROWS):
                yield in_columns(batch, schema)


def _rows_of_lines(piece: LineRange, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    with piece.file.filesystem.open_input_file(piece.file.path) as file:
        data = file.read_at(piece.size, piece.first)
    written = pa.schema([(field.name, _as_written(field.type)) for field in schema])
    table = pajson.read_json(
        pa.BufferReader(data),
        # Objects must not go beyond a block.
        pajson.ReadOptions(block_size=len(data) + 1),
        pajson.ParseOptions(explicit_schema=written, unexpected_field_behavior="ignore"),
    )
    for batch in table.to_batches(_ROWS):
        yield in_columns(batch, schema)


def _as_written(kind: pa.DataType) -> pa.DataType:
    """How a jsonl sink writes a type: times are text."""
    return pa.large_string() if pa.types.is_temporal(kind) else kind


def in_columns(rows: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Rows in the columns of a schema, by their names."""
    names = set(rows.schema.names)
    arrays = [
        rows.column(field.name).cast(field.type)
        if field.name in names
        else pa.nulls(len(rows), field.type)
        for field in schema
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)

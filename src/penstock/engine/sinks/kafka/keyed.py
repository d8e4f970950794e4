"""Results as records: lines of JSON that tasks stage, those of a view with their keys before."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from penstock.engine.places.place import Place
from penstock.errors import SinkError
from penstock.kernels.jsontext.jsonlines import as_lines, json_objects
from penstock.query.query import Query, hidden_group
from penstock.query.view import CHANGE, View

_BETWEEN = "\t"
"""Between key and value: in JSON there is no tab, it is escaped."""
_TEXT = pa.large_string()
Record = tuple[bytes | None, bytes | None]
"""Key and value; a view's deletion has no value, the results of a join have no key."""


def check_keys(query: Query) -> None:
    """Refuse a view whose results do not tell which group they are of."""
    text = hidden_group(query)
    if text is not None:
        raise SinkError(
            f"records of a view are keyed by its groups, and {text} is not selected",
            hint=f"add {text} to SELECT",
        )


def record_lines(rows: pa.RecordBatch, query: Query) -> pa.Buffer:
    """A line for each result: its value, after its key if it is of a view."""
    values = json_objects(rows)
    if query.view is None:
        return as_lines(values)
    keys = _keys(rows, key_names(query.view))
    is_gone = pc.equal(rows.column(CHANGE), "delete")
    values = pc.if_else(is_gone, pa.scalar("", _TEXT), values)
    return as_lines(pc.binary_join_element_wise(keys, values, pa.scalar(_BETWEEN, _TEXT)))


def key_names(view: View) -> tuple[str, ...]:
    """The outputs that tell a view's rows apart, one for each group."""
    names = {output.expression: output.name for output in reversed(view.outputs)}
    return tuple(names[part] for part in view.key)


def _keys(rows: pa.RecordBatch, names: Sequence[str]) -> pa.Array:
    if not names:
        return pa.array(["{}"] * len(rows), _TEXT)
    return json_objects(rows.select(names), is_key=True)


def staged_records(file: Place, path: str) -> Iterator[Record]:
    """The records of a staged file, as its file system calls it."""
    with file.filesystem.open_input_stream(path) as stream, io.BufferedReader(stream) as lines:
        for line in lines:
            key, tab, value = line.rstrip(b"\n").partition(_BETWEEN.encode())
            yield (key, value or None) if tab else (None, key)

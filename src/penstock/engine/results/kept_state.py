"""The state of a query as rows: its tuples, and the rows that a view shows now."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from penstock.engine.expressions.arrow_types import TIMESTAMP
from penstock.engine.results.kept_query import KeptQuery
from penstock.engine.rows.columns import TS, is_control
from penstock.engine.rows.lifetimes import FOREVER
from penstock.engine.state.modules import SHOWN, Module
from penstock.engine.state.store import read_rows
from penstock.engine.views.interval_table import shown_name
from penstock.errors import StateError
from penstock.kernels.jsontext.jsonlines import json_lines
from penstock.query.view import CHANGE, TIME

STATE = pa.schema(
    [
        ("batch", pa.int64()),
        ("module", pa.string()),
        ("partition", pa.int32()),
        ("time", TIMESTAMP),
        ("tuple", pa.string()),
    ]
)
"""The columns of the state: which tuple is kept where, and as of which batch."""

_TRIES = 20
"""Batches that may pass while the state of one is opened."""


@dataclass(frozen=True)
class Kept:
    """Rows that a partition of a module holds after a batch."""

    batch: int
    module: Module
    partition: int
    rows: pa.RecordBatch


def state_rows(query: KeptQuery) -> Iterator[pa.RecordBatch]:
    """The tuples in the state after the newest batch, in the columns of `STATE`."""
    for kept in _snapshot(query, lambda module: True):
        names = [name for name in kept.rows.schema.names if not is_control(name)]
        held = len(kept.rows)
        columns = [
            pa.array(np.full(held, kept.batch)),
            pa.array([str(kept.module)] * held, pa.string()),
            pa.array(np.full(held, kept.partition, np.int32)),
            _times(kept.rows),
            _as_json(kept.rows.select(names)),
        ]
        yield pa.RecordBatch.from_arrays(columns, schema=STATE)


def view_rows(query: KeptQuery, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The rows that a view shows after the newest batch, in the columns of its results."""
    for kept in _snapshot(query, lambda module: module == SHOWN):
        yield pa.RecordBatch.from_arrays(
            [_shown(kept.rows, field) for field in schema], schema=schema
        )


def _shown(rows: pa.RecordBatch, field: pa.Field) -> pa.Array:
    match field.name:
        case name if name == TIME:
            return _times(rows)
        case name if name == CHANGE:
            return pa.array(["upsert"] * len(rows), field.type)
    name = shown_name(field.name)
    is_there = name in rows.schema.names  # Or it was not shown then.
    return rows.column(name).cast(field.type) if is_there else pa.nulls(len(rows), field.type)


def _snapshot(query: KeptQuery, is_wanted: Callable[[Module], bool]) -> list[Kept]:
    """The state after one batch, opened as a whole: the next batch may delete its files."""
    for _ in range(_TRIES):
        made = query.newest(1)
        try:
            return [
                Kept(manifest.batch, module, pid, read_rows(query.store.root, chunk))
                for manifest in made
                for module, partitions in manifest.modules.items()
                if is_wanted(module)
                for pid, chunks in partitions.items()
                for chunk in chunks
            ]
        except StateError:
            if query.newest(1) == made:
                raise
    raise StateError(
        f"the state of {query.store.root} changes faster than it can be read",
        hint="try again while its query has less to do",
    )


def _times(rows: pa.RecordBatch) -> pa.Array:
    """Event times; NULL where a row has none, or stands for all times."""
    times = rows.column(TS).to_numpy()
    return pa.array(times, mask=np.abs(times) >= FOREVER).cast(TIMESTAMP)


def _as_json(rows: pa.RecordBatch) -> pa.Array:
    if not rows.num_columns:
        return pa.array(["{}"] * len(rows), pa.string())
    lines = bytes(json_lines(rows)).decode().split("\n")
    return pa.array(lines[: len(rows)], pa.string())

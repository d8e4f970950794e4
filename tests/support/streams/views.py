"""Views as the reference and the engines tell them."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from penstock.query import Query
from reference import Change, Rows, differences, evaluations, in_time, view_at, view_changes
from support.engines.runs import (
    Place,
)
from support.streams.cases import EPOCH, Case, canonical

Told = Counter[tuple[Any, ...]]


def told(place: Place, query: Query) -> Told:
    """What the sink holds: time, change and values."""
    return told_in(Path(place.sink.place), query)


def told_in(folder: Path, query: Query) -> Told:
    """What a folder of parquet files holds: time, change and values."""
    names = [output.name for output in query.results]
    rows = []
    for path in sorted(folder.glob("*.parquet")):
        for row in pq.read_table(path).to_pylist():
            assert list(row) == [*names, "_time", "_change"]
            rows.append((row["_time"], row["_change"], *(row[name] for name in names)))
    return canonical(rows)


def expected(case: Case, query: Query, drain: bool = True) -> Told:
    changes = view_changes(query, case.batches, drain)
    return canonical((EPOCH + timedelta(microseconds=c.time), c.kind, *c.values) for c in changes)


def told_in_micros(place: Place, query: Query) -> Told:
    """What the sink holds; times in microseconds, because some are after all dates."""
    rows = []
    for path in sorted(Path(place.sink.place).glob("*.parquet")):
        table = pq.read_table(path)
        times = table.column("_time").cast(pa.int64()).to_pylist()
        values = table.drop_columns(["_time"]).to_pylist()
        names = ["_change", *(output.name for output in query.results)]
        rows += [(t, *(v[name] for name in names)) for t, v in zip(times, values, strict=True)]
    return canonical(rows)


def expected_in_micros(case: Case, query: Query, drain: bool = True) -> Told:
    changes = view_changes(query, case.batches, drain)
    return canonical((c.time, c.kind, *c.values) for c in changes)


def expected_of_kept(case: Case, kept: Case, query: Query) -> Told:
    """What a view tells of what is kept of a case, in plain values.

    Its one row in total is there from the first tuple on that is read, whether or not it is kept.
    """
    read, left = (
        {item.alias: in_time(item, given.batches[item.alias]) for item in query.inputs}
        for given in (case, kept)
    )
    changes: list[Change] = []
    shown: Rows = {}
    for time in evaluations(query, read):
        now = view_at(query, left, time)
        changes += differences(time, shown, now)
        shown = now
    return canonical((c.time, c.kind, *c.values) for c in changes)

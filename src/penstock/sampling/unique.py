"""Unique keys: those that never come twice in a sample that is large enough to tell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.expressions.evaluate import evaluate
from penstock.engine.rows.codes import group_codes
from penstock.engine.rows.columns import TS, plain_name
from penstock.query import Column, Query
from penstock.query.keys import key_classes
from penstock.sampling.sample import Sample
from penstock.stats.statistics import Unique

ENOUGH = 1_000
"""Keys that tell: of 100,000 values that come at random, one comes twice among so many in 99 of 100
samples."""


def unique_keys(query: Query, alias: str, sample: Sample) -> Unique:
    """The join keys of an input that no two sampled tuples have in common, before filters; where a
    column is one by itself, no more of them are needed.

    The beginning of a stream says nothing of what comes later: all of it, or stretches that are
    spread over it, are asked for.
    """
    if not sample.is_whole and not sample.source.is_table and len(sample.spans) < 2:
        return {}
    rows = sample.rows.filter(pa.array(_seen_once(sample)))
    fewest = 1 if sample.source.is_table and sample.count == len(rows) else ENOUGH
    found = (key for columns in _keys(query, alias) for key in _shortest(columns, rows, fewest))
    return {tuple(sorted(column.name for column in key)): "sampled" for key in found}


def _keys(query: Query, alias: str) -> Iterator[list[Column]]:
    """The columns of each key of an input."""
    for key in key_classes(query):
        parts = key.parts(alias) if alias in key.streams else ()
        yield [part for part in parts if isinstance(part, Column) and not part.path]


def _shortest(columns: list[Column], rows: pa.Table, fewest: int) -> list[list[Column]]:
    single = [[column] for column in columns if _is_unique([column], rows, fewest)]
    if single or len(columns) < 2:
        return single
    return [columns] if _is_unique(columns, rows, fewest) else []


def _is_unique(columns: Sequence[Column], rows: pa.Table, fewest: int) -> bool:
    """Whether there are so many keys, and none of them twice; with a NULL it is no key."""
    values = [evaluate(column, rows, plain_name) for column in columns]
    is_key = np.ones(len(rows), np.bool_)
    for each in values:
        is_key &= each.is_valid().to_numpy(zero_copy_only=False)
    codes = group_codes(values, len(rows))[is_key]
    return len(codes) >= fewest and len(np.unique(codes)) == len(codes)


def _seen_once(sample: Sample) -> NDArray[np.bool_]:
    """Which tuples are later than all of the strips before theirs: others may be the same ones."""
    is_later = np.ones(len(sample.rows), np.bool_)
    if len(sample.spans) > 1:
        first, *others = sample.spans
        latest = np.maximum.accumulate([span.last for span in sample.spans])
        before = np.repeat(latest[:-1], [span.count for span in others])
        is_later[first.count :] = sample.rows.column(TS).to_numpy()[first.count :] > before
    return is_later

"""Changed keys: the part of a view's windows that is joined where the rest is as it was."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.changes.change_log import EVERYTHING, HASH, KEY
from penstock.engine.expressions.evaluate import evaluate, one_array
from penstock.engine.places.place import Place
from penstock.engine.rows.columns import TS, column_name, hash_name, plain_name
from penstock.engine.state.store import Store, read_rows
from penstock.engine.wire.exchange import hash_values
from penstock.engine.wire.facts import ChangesTold
from penstock.kernels.hashing import among, combine
from penstock.kernels.sorting import distinct
from penstock.query.expression import Column, Expression
from penstock.query.traces import GROUPS, Link, Trace

Int64s = NDArray[np.int64]
Bools = NDArray[np.bool_]
Windows = Mapping[str, pa.RecordBatch]
"""The tuples of ROWS windows by input."""


@dataclass(frozen=True)
class ChangedKeys:
    """By key class, the hashes of the keys that groups may have which have changed."""

    trace: Trace
    hashes: Mapping[int, Int64s]

    def of_tuples(self, alias: str, rows: pa.RecordBatch) -> Bools:
        """Whether tuples of an input may be in a group that has changed."""
        keys = [k for k in self.hashes if hash_name(k) in rows.schema.names]
        keys += [GROUPS] if alias == self.trace.pivot else []
        found = [among(key_hashes(self.trace, k, rows), self.hashes[k]) for k in keys]
        return np.logical_and.reduce(found) if found else np.ones(len(rows), np.bool_)

    def of_groups(self, shown: pa.RecordBatch) -> Bools:
        """Whether groups may have changed, by their columns."""
        hashes = _hashes(self.trace.shown, shown, plain_name)
        return among(hashes, self.hashes[self.trace.root])

    def told(self, root: Place) -> ChangesTold:
        """Them in a chunk that the other steps of the batch read."""
        keys = np.repeat(list(self.hashes), [len(each) for each in self.hashes.values()])
        hashes = np.concatenate(list(self.hashes.values()))
        columns = {TS: np.zeros(len(keys), np.int64), KEY: keys, HASH: hashes}
        rows = pa.RecordBatch.from_pydict({n: pa.array(c, pa.int64()) for n, c in columns.items()})
        return ChangesTold(Store(root).write_chunk(("changed", "keys"), rows, lasts=False))

    @classmethod
    def read(cls, trace: Trace | None, root: Place, told: ChangesTold) -> ChangedKeys | None:
        """Them as they were told; None where everything may have changed."""
        if told.chunk is None or trace is None:
            return None
        rows = read_rows(root, told.chunk)
        keys, hashes = rows.column(KEY).to_numpy(), rows.column(HASH).to_numpy()
        return cls(trace, {key: hashes[keys == key] for key in trace.classes})


def traced(trace: Trace, changed: Mapping[int, Int64s], windows: Windows) -> ChangedKeys | None:
    """The keys of all that groups which may have changed are made of; None if all may have.

    Changes are followed inwards to the groups, and from these outwards to what else is in them.
    """
    if EVERYTHING in changed:
        return None
    nothing = np.empty(0, np.int64)
    found = {key: changed.get(key, nothing) for key in trace.classes}
    for link in reversed(trace.links):
        led_to = _along(trace, link.outer, link.inner, link, windows, found)
        found[link.inner] = distinct(np.concatenate([found[link.inner], led_to]))
    for link in trace.links:
        found[link.outer] = _along(trace, link.inner, link.outer, link, windows, found)
    return ChangedKeys(trace, found)


def _along(
    trace: Trace,
    start: int,
    end: int,
    link: Link,
    windows: Windows,
    found: Mapping[int, Int64s],
) -> Int64s:
    """The keys of one class that a link's tuples have with those found of another."""
    rows = windows.get(link.alias)
    if rows is None or not len(found[start]):
        return np.empty(0, np.int64)
    mine = among(key_hashes(trace, start, rows), found[start])
    return distinct(key_hashes(trace, end, rows)[mine])


def key_hashes(trace: Trace, key: int, rows: pa.RecordBatch) -> Int64s:
    """The hashes of tuples in a key class, or of the columns by which groups are told."""
    if key == GROUPS:
        return _hashes(trace.parts, rows, column_name)
    hashes: Int64s = rows.column(hash_name(key)).to_numpy()
    return hashes


def _hashes(
    parts: tuple[Expression, ...], rows: pa.RecordBatch, name: Callable[[Column], str]
) -> Int64s:
    return combine([hash_values(one_array(evaluate(part, rows, name))) for part in parts])

"""Classifying: the route of each new tuple of a driver, by a mesh's decision tree."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.expressions.evaluate import one_array
from penstock.kernels.classify import LEAF, FlatTree, classify
from penstock.plan.mesh import DriverMesh, Fork, Goes, attributes_of

Int64s = NDArray[np.int64]
Float64s = NDArray[np.float64]


def route_numbers(mesh: DriverMesh, rows: pa.RecordBatch | pa.Table) -> Int64s:
    """The number of the route that each tuple takes; `rows` has the driver's plain columns."""
    if isinstance(mesh.classifier, Goes):
        return np.full(len(rows), mesh.classifier.route)
    return classify(*prepared(mesh, rows))


def prepared(mesh: DriverMesh, rows: pa.RecordBatch | pa.Table) -> tuple[FlatTree, Float64s]:
    """A mesh's decision tree, and what it looks at in these rows, as the kernel takes them."""
    names = attributes_of(mesh)
    values = np.empty((len(names), len(rows)))
    texts: dict[str, NDArray[np.object_]] = {}
    for place, name in enumerate(names):
        column = one_array(rows.column(name))
        if is_text(column.type):
            values[place], texts[name] = as_codes(column)
        else:
            values[place] = as_numbers(column)
    return _Flattening(names, texts).flat(mesh.classifier), values


def is_text(kind: pa.DataType) -> bool:
    """Whether a column is of text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def as_numbers(column: pa.Array) -> Float64s:
    """A column as plans see it: a boolean is 0 or 1, a time its microseconds, a date its days.

    NULL is NaN.
    """
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("us", column.type.tz)).cast(pa.int64())
    elif pa.types.is_date(column.type):
        column = column.cast(pa.date32()).cast(pa.int32())
    elif pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    numbers: Float64s = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return numbers


def as_codes(column: pa.Array) -> tuple[Float64s, NDArray[np.object_]]:
    """A number for each different text, NaN for NULL, and the texts by their numbers."""
    encoded = column.dictionary_encode()
    codes: Float64s = encoded.indices.cast(pa.float64()).to_numpy(zero_copy_only=False)
    return codes, encoded.dictionary.to_numpy(zero_copy_only=False)


@dataclass
class _Flattening:
    """Puts the nodes of a tree into arrays, each before those below it."""

    names: tuple[str, ...]
    texts: dict[str, NDArray[np.object_]]
    nodes: list[tuple[int, float, int, int, int, int]] = field(default_factory=list)
    members: list[bool] = field(default_factory=list)

    def flat(self, root: Fork) -> FlatTree:
        """The arrays."""
        self._add(root)
        columns, limits, firsts, passed, failed, routes = zip(*self.nodes, strict=True)
        return FlatTree(
            np.array(columns),
            np.array(limits, np.float64),
            np.array(firsts),
            np.array(passed),
            np.array(failed),
            np.array(routes),
            np.array(self.members, np.bool_),
        )

    def _add(self, fork: Fork) -> int:
        place = len(self.nodes)
        if isinstance(fork, Goes):
            self.nodes.append((LEAF, 0.0, -1, LEAF, LEAF, fork.route))
            return place
        first = -1
        if fork.limit is None:
            first = len(self.members)
            self.members += [text in fork.values for text in self.texts[fork.attribute]]
        limit = 0.0 if fork.limit is None else fork.limit
        self.nodes.append((LEAF, limit, first, LEAF, LEAF, LEAF))
        below = self._add(fork.passed), self._add(fork.failed)
        column = self.names.index(fork.attribute)
        self.nodes[place] = (column, limit, first, *below, LEAF)
        return place

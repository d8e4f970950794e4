"""Ways: the keys and checks by which an eddy finds rows of each input, whatever is bound."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from penstock.lab.kernels.ways import Ways
from penstock.lab.layout.columns import OPERATORS, Columns, Table
from penstock.lab.layout.loops import MIRRORED, every_table

Int64s = NDArray[np.int64]


def ways_of(columns: Columns) -> Ways:
    """The ways to every input, for the tuples of every other one, through all hash tables."""
    aliases, tables = columns.aliases, every_table(columns)
    compared = [_compared(columns, target) for target in aliases]
    keys = [[_keys(columns, tables, driver, target) for target in aliases] for driver in aliases]
    near = [
        sum(1 << other for other in {row[0] for row in mine} | {row[4] for row in ways})
        for mine, ways in zip(compared, keys[0], strict=True)
    ]
    most = max(len(ways) for row in keys for ways in row)
    return Ways(
        keys=np.stack([np.stack([_padded(ways, most, 6) for ways in row]) for row in keys]),
        compared=np.stack([_padded(rows, max(map(len, compared)), 4) for rows in compared]),
        near=np.array(near, np.int64),
    )


def most_checks(ways: Ways) -> int:
    """The most checks that one input can need."""
    return max(1, int(ways.keys.shape[2]) + int(ways.compared.shape[1]))


def _keys(
    columns: Columns, tables: Sequence[Table], driver: str, target: str
) -> list[tuple[int, ...]]:
    ways: list[tuple[int, ...]] = []
    for key in columns.layout.keys_of(target):
        others = [alias for alias in columns.layout.keys[key].streams if alias != target]
        after = len(ways) + len(others)
        # A tuple's own key is always at hand: then nothing else of the class is looked at.
        for other in sorted(others, key=lambda alias: alias != driver):
            own, there = columns.key(target, key), columns.key(other, key)
            table = tables.index((target, key))
            ways.append((after, own, own + 1, table, columns.aliases.index(other), there))
    return ways


def _compared(columns: Columns, target: str) -> list[tuple[int, ...]]:
    rows: list[tuple[int, ...]] = []
    for number, comparison in enumerate(columns.comparisons):
        left, right = comparison.streams
        operator = OPERATORS[comparison.operator]
        if target == right:
            left, right, operator = right, left, MIRRORED[operator]
        if target == left:
            own, there = columns.side(left, number), columns.side(right, number)
            rows.append((columns.aliases.index(right), own, operator, there))
    return rows


def _padded(rows: list[tuple[int, ...]], length: int, width: int) -> Int64s:
    padded = np.full((length, width), -1, np.int64)
    padded[: len(rows)] = np.array(rows, np.int64).reshape(-1, width)
    return padded

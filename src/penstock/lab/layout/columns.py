"""The kernel's rows: which column holds what, and the windows and hash tables over them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from penstock.engine.rows.layout import Layout
from penstock.lab.kernels.nested import EQ, GE, GT, LE, LT, NE, Windows
from penstock.lab.layout.joinable import Comparison, Joinable
from penstock.lab.layout.positions import Lifetimes

Int64s = NDArray[np.int64]
Table = tuple[str, int]
"""A hash table: the input it holds and the key class it is by."""

OPERATORS = {"eq": EQ, "ne": NE, "lt": LT, "le": LE, "gt": GT, "ge": GE}
_KEYS = 2
"""The column after birth and death; a key and its link take two, compared sides one each."""


@dataclass(frozen=True)
class Columns:
    """Where the rows of each input have their keys, links and compared sides."""

    layout: Layout
    comparisons: tuple[Comparison, ...]

    @property
    def aliases(self) -> tuple[str, ...]:
        return self.layout.query.aliases

    def key(self, alias: str, key: int) -> int:
        """The column of a key class in an input's rows; the next one is its link."""
        return _KEYS + 2 * self.layout.keys_of(alias).index(key)

    def side(self, alias: str, comparison: int) -> int:
        """The column of what an input brings to a comparison."""
        mine = [c for c, other in enumerate(self.comparisons) if alias in other.streams]
        return _KEYS + 2 * len(self.layout.keys_of(alias)) + mine.index(comparison)

    def windows(
        self,
        tables: Sequence[Table],
        lives: Mapping[str, Lifetimes],
        codes: Joinable,
        buckets: Mapping[str, int],
        by_bucket: bool = False,
    ) -> Windows:
        """The windows and hash tables before anything has arrived."""
        starts = np.cumsum([0, *codes.counts])
        rows = np.zeros((starts[-1], self._width()), np.int64)
        for alias, start, end in zip(self.aliases, starts, starts[1:], strict=False):
            self._fill(rows[start:end], alias, lives[alias], codes)
        placed = self._place(tables, buckets)
        room = max((offset + stride * count for offset, stride, count, *_ in placed), default=0)
        return Windows(
            rows=rows,
            head=starts[:-1].copy(),
            tail=starts[:-1].copy(),
            buckets=np.full(room, -1, np.int32),
            tables=np.array(placed, np.int64).reshape(-1, 5),
            tables_of=self._tables_of(tables),
            by_bucket=by_bucket,
        )

    def _width(self) -> int:
        return _KEYS + max(
            2 * len(self.layout.keys_of(alias)) + sum(alias in c.streams for c in self.comparisons)
            for alias in self.aliases
        )

    def _fill(self, rows: Int64s, alias: str, lives: Lifetimes, codes: Joinable) -> None:
        passes = codes.passes[alias]
        rows[:, 0], rows[:, 1] = lives.births[passes], lives.deaths[passes]
        for key in self.layout.keys_of(alias):
            rows[:, self.key(alias, key)] = codes.keys[alias, key][passes]
        for number, comparison in enumerate(self.comparisons):
            if alias in comparison.streams:
                rows[:, self.side(alias, number)] = codes.sides[alias, number][passes]

    def _tables_of(self, tables: Sequence[Table]) -> Int64s:
        most = max((sum(t[0] == alias for t in tables) for alias in self.aliases), default=0)
        numbers = np.full((len(self.aliases), most), -1)
        for i, alias in enumerate(self.aliases):
            mine = [t for t, (holder, _) in enumerate(tables) if holder == alias]
            numbers[i, : len(mine)] = mine
        return numbers

    def _place(
        self, tables: Sequence[Table], buckets: Mapping[str, int]
    ) -> list[tuple[int, int, int, int, int]]:
        """Where each hash table lies. Those of one key class and size are interleaved, so that the
        buckets of one key share a cache line."""
        placed = []
        start = 0
        groups: dict[tuple[int, int], int] = {}
        for alias, key in tables:
            count = buckets[alias]
            alike = [t for t in tables if t[1] == key and buckets[t[0]] == count]
            if (key, count) not in groups:
                groups[key, count] = start
                start += count * len(alike)
            offset = groups[key, count] + alike.index((alias, key))
            column = self.key(alias, key)
            placed.append((offset, len(alike), count, column, column + 1))
        return placed

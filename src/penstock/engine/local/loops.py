"""A multi-way plan as the loops, windows and hash tables of the nested-loops kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from penstock.engine.layout import Layout
from penstock.engine.local.joinable import Comparison, Joinable
from penstock.engine.local.positions import Lifetimes
from penstock.kernels.nested import EQ, GE, GT, LE, LT, NE, Loops, Windows, insert_all
from penstock.plan.multiway import MultiwayJoin, ProbeOrder

Int64s = NDArray[np.int64]
Table = tuple[str, int]
"""A hash table: the input it holds and the key class it is by."""

_OPERATORS = {"eq": EQ, "ne": NE, "lt": LT, "le": LE, "gt": GT, "ge": GE}
_MIRRORED = {EQ: EQ, NE: NE, LT: GT, LE: GE, GT: LT, GE: LE}
_KEYS = 2
"""The column after birth and death; a key and its link take two, compared sides one each."""


@dataclass(frozen=True)
class Lowering:
    """Turns a plan into what the kernel takes: aliases, keys and columns become numbers."""

    plan: MultiwayJoin
    layout: Layout
    comparisons: tuple[Comparison, ...]

    @property
    def aliases(self) -> tuple[str, ...]:
        return self.plan.query.aliases

    def loops(self) -> Loops:
        """The nested loops of every driver."""
        checks: list[tuple[int, int, int, int]] = []
        levels = [self._levels(order, checks) for order in self.plan.orders]
        return Loops(
            drivers=np.array([self.aliases.index(order.driver) for order in self.plan.orders]),
            positions=np.array([order.position for order in self.plan.orders]),
            levels=np.array(levels, np.int64),
            checks=np.array(checks, np.int64).reshape(-1, 4),
        )

    def tables(self) -> tuple[Table, ...]:
        """The hash tables that the loops look into."""
        wanted = [
            (target, key)
            for order in self.plan.orders
            for level, target in enumerate(sequence(order))
            if (key := self._probe_key(order, level)) is not None
        ]
        return tuple(dict.fromkeys(wanted))

    def windows(
        self, lives: Mapping[str, Lifetimes], codes: Joinable, buckets: Mapping[str, int]
    ) -> Windows:
        """The windows before anything has arrived; tables are filled."""
        sizes = [int(codes.passes[alias].sum()) for alias in self.aliases]
        starts = np.cumsum([0, *sizes])
        rows = np.zeros((starts[-1], self._width()), np.int64)
        for alias, start, end in zip(self.aliases, starts, starts[1:], strict=False):
            self._fill(rows[start:end], alias, lives[alias], codes)
        tables = _place_tables(self.tables(), self, buckets)
        room = max((offset + stride * count for offset, stride, count, *_ in tables), default=0)
        windows = Windows(
            rows=rows,
            head=starts[:-1].copy(),
            tail=starts[:-1].copy(),
            buckets=np.full(room, -1, np.int32),
            tables=np.array(tables, np.int64).reshape(-1, 5),
            tables_of=self._tables_of(),
        )
        for number, item in enumerate(self.plan.query.inputs):
            if item.is_table:
                insert_all(windows, number, sizes[number])
        return windows

    def key_column(self, alias: str, key: int) -> int:
        """The column of a key class in an input's rows; the next one is its link."""
        return _KEYS + 2 * self.layout.keys_of(alias).index(key)

    def _side_column(self, alias: str, comparison: int) -> int:
        mine = [c for c, other in enumerate(self.comparisons) if alias in other.streams]
        return _KEYS + 2 * len(self.layout.keys_of(alias)) + mine.index(comparison)

    def _width(self) -> int:
        return _KEYS + max(
            2 * len(self.layout.keys_of(alias)) + sum(alias in c.streams for c in self.comparisons)
            for alias in self.aliases
        )

    def _fill(self, rows: Int64s, alias: str, lives: Lifetimes, codes: Joinable) -> None:
        passes = codes.passes[alias]
        rows[:, 0], rows[:, 1] = lives.births[passes], lives.deaths[passes]
        for key in self.layout.keys_of(alias):
            rows[:, self.key_column(alias, key)] = codes.keys[alias, key][passes]
        for number, comparison in enumerate(self.comparisons):
            if alias in comparison.streams:
                column = self._side_column(alias, number)
                rows[:, column] = codes.sides[alias, number][passes]

    def _tables_of(self) -> Int64s:
        tables = self.tables()
        most = max((sum(t[0] == alias for t in tables) for alias in self.aliases), default=0)
        numbers = np.full((len(self.aliases), most), -1)
        for i, alias in enumerate(self.aliases):
            mine = [t for t, (holder, _) in enumerate(tables) if holder == alias]
            numbers[i, : len(mine)] = mine
        return numbers

    def _levels(
        self, order: ProbeOrder, checks: list[tuple[int, int, int, int]]
    ) -> list[tuple[int, ...]]:
        levels: list[tuple[int, ...]] = []
        for level, target in enumerate(sequence(order)):
            first = len(checks)
            checks += self._checks(order, level)
            key = self._probe_key(order, level)
            search = (-1, 0, 0, 0)
            if key is not None:
                source = self._bound_at(order, level, key)
                search = (
                    self.key_column(target, key) + 1,
                    self.tables().index((target, key)),
                    source,
                    self.key_column(sequence(order)[source], key),
                )
            levels.append((self.aliases.index(target), *search, first, len(checks)))
        return levels

    def _probe_key(self, order: ProbeOrder, level: int) -> int | None:
        """The key class by which a level finds its bucket; None if it looks at the whole window."""
        methods = {probe.target: probe.method for probe in order.probes}
        if methods.get(sequence(order)[level], "nested") == "nested":
            return None
        return next(iter(self._shared(order, level)), None)

    def _shared(self, order: ProbeOrder, level: int) -> list[int]:
        """The key classes of a level's input that a row in hand has too."""
        bound = set(sequence(order)[:level])
        target = sequence(order)[level]
        return [k for k in self.layout.keys_of(target) if bound & set(self.layout.keys[k].streams)]

    def _bound_at(self, order: ProbeOrder, level: int, key: int) -> int:
        streams = self.layout.keys[key].streams
        return next(i for i in range(level) if sequence(order)[i] in streams)

    def _checks(self, order: ProbeOrder, level: int) -> list[tuple[int, int, int, int]]:
        bound, target = sequence(order)[:level], sequence(order)[level]
        checks = []
        for key in self._shared(order, level):
            source = self._bound_at(order, level, key)
            there = self.key_column(bound[source], key)
            checks.append((self.key_column(target, key), EQ, source, there))
        for number, comparison in enumerate(self.comparisons):
            left, right = comparison.streams
            operator = _OPERATORS[comparison.operator]
            if target == right:
                left, right, operator = right, left, _MIRRORED[operator]
            if target == left and right in bound:
                own, there = self._side_column(left, number), self._side_column(right, number)
                checks.append((own, operator, bound.index(right), there))
        return checks


def sequence(order: ProbeOrder) -> tuple[str, ...]:
    """The inputs in the order of their loops, outermost first."""
    return (*order.targets[: order.position], order.driver, *order.targets[order.position :])


def _place_tables(
    tables: Sequence[Table], lowering: Lowering, buckets: Mapping[str, int]
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
        column = lowering.key_column(alias, key)
        placed.append((offset, len(alike), count, column, column + 1))
    return placed

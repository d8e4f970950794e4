"""Probe orders as the loops of the nested-loops kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from penstock.engine.rows.layout import Layout
from penstock.lab.kernels.nested import EQ, GE, GT, LE, LT, NE, Loops, no_screens
from penstock.lab.layout.columns import OPERATORS, Columns, Table
from penstock.plan.multiway import ProbeOrder

Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]

MIRRORED = {EQ: EQ, NE: NE, LT: GT, LE: GE, GT: LT, GE: LE}


@dataclass(frozen=True)
class Lowering:
    """Turns orders into what the kernel takes: aliases, keys and columns become numbers.

    Where it `is_open`, other orders may follow while the join runs.
    """

    orders: tuple[ProbeOrder, ...]
    columns: Columns
    is_open: bool = False

    @property
    def aliases(self) -> tuple[str, ...]:
        return self.columns.aliases

    @property
    def layout(self) -> Layout:
        return self.columns.layout

    def loops(self, sizes: Sequence[int]) -> Loops:
        """The nested loops of every order; the rows of an input, of which there are so many, take
        the first order that it drives."""
        lowered = [self.lowered(order) for order in self.orders]
        ends = np.cumsum([len(checks) for _, checks in lowered])
        for (levels, checks), end in zip(lowered, ends, strict=True):
            levels[:, 5:] += end - len(checks)
        drivers = [order.driver for order in self.orders]
        firsts = [drivers.index(alias) if alias in drivers else 0 for alias in self.aliases]
        return Loops(
            routes=np.repeat(np.array(firsts, np.int32), sizes),
            positions=np.array([order.position for order in self.orders]),
            levels=np.stack([levels for levels, _ in lowered]),
            checks=np.concatenate([checks for _, checks in lowered]),
            passed=np.zeros((len(self.orders), len(self.aliases)), np.int64),
            screens=no_screens(),
        )

    @cached_property
    def tables(self) -> tuple[Table, ...]:
        """The hash tables that the loops look into."""
        if self.is_open:
            return every_table(self.columns)
        wanted = [
            (target, key)
            for order in self.orders
            for level, target in enumerate(sequence(order))
            if (key := self._probe_key(order, level)) is not None
        ]
        return tuple(dict.fromkeys(wanted))

    def lowered(self, order: ProbeOrder) -> tuple[Int64s, Int64s]:
        """The levels of an order, and its checks. All orders of a driver have as many checks: each
        is made where the later of its two inputs comes."""
        levels: list[tuple[int, ...]] = []
        checks: list[tuple[int, int, int, int]] = []
        for level, target in enumerate(sequence(order)):
            first = len(checks)
            checks += self._checks(order, level)
            key = self._probe_key(order, level)
            search = (-1, 0, 0, 0)
            if key is not None:
                source = self._bound_at(order, level, key)
                search = (
                    self.columns.key(target, key) + 1,
                    self.tables.index((target, key)),
                    source,
                    self.columns.key(sequence(order)[source], key),
                )
            levels.append((self.aliases.index(target), *search, first, len(checks)))
        return np.array(levels, np.int64), np.array(checks, np.int64).reshape(-1, 4)

    def _probe_key(self, order: ProbeOrder, level: int) -> int | None:
        """The key class by which a level finds its bucket; None if it looks at the whole window.

        It is the one of the level before if that serves, as on Spark, where it saves a move.
        """
        methods = {probe.target: probe.method for probe in order.probes}
        if level == 0 or methods.get(sequence(order)[level], "nested") == "nested":
            return None
        shared, before = self._shared(order, level), self._probe_key(order, level - 1)
        return before if before in shared else next(iter(shared), None)

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
            there = self.columns.key(bound[source], key)
            checks.append((self.columns.key(target, key), EQ, source, there))
        for number, comparison in enumerate(self.columns.comparisons):
            left, right = comparison.streams
            operator = OPERATORS[comparison.operator]
            if target == right:
                left, right, operator = right, left, MIRRORED[operator]
            if target == left and right in bound:
                own, there = self.columns.side(left, number), self.columns.side(right, number)
                checks.append((own, operator, bound.index(right), there))
        return checks


def sequence(order: ProbeOrder) -> tuple[str, ...]:
    """The inputs in the order of their loops, outermost first."""
    return (*order.targets[: order.position], order.driver, *order.targets[order.position :])


def every_table(columns: Columns) -> tuple[Table, ...]:
    """The hash tables that any order could look into."""
    return tuple((alias, k) for alias in columns.aliases for k in columns.layout.keys_of(alias))

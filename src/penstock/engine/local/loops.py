"""A multi-way plan as the loops of the nested-loops kernel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from penstock.engine.layout import Layout
from penstock.engine.local.columns import OPERATORS, Columns, Table
from penstock.kernels.nested import EQ, GE, GT, LE, LT, NE, Loops
from penstock.plan.multiway import MultiwayJoin, ProbeOrder

_MIRRORED = {EQ: EQ, NE: NE, LT: GT, LE: GE, GT: LT, GE: LE}


@dataclass(frozen=True)
class Lowering:
    """Turns a plan into what the kernel takes: aliases, keys and columns become numbers."""

    plan: MultiwayJoin
    columns: Columns

    @property
    def aliases(self) -> tuple[str, ...]:
        return self.plan.query.aliases

    @property
    def layout(self) -> Layout:
        return self.columns.layout

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
                    self.columns.key(target, key) + 1,
                    self.tables().index((target, key)),
                    source,
                    self.columns.key(sequence(order)[source], key),
                )
            levels.append((self.aliases.index(target), *search, first, len(checks)))
        return levels

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
                left, right, operator = right, left, _MIRRORED[operator]
            if target == left and right in bound:
                own, there = self.columns.side(left, number), self.columns.side(right, number)
                checks.append((own, operator, bound.index(right), there))
        return checks


def sequence(order: ProbeOrder) -> tuple[str, ...]:
    """The inputs in the order of their loops, outermost first."""
    return (*order.targets[: order.position], order.driver, *order.targets[order.position :])

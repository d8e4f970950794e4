"""A join tree as the paths of the tree kernel."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from penstock.lab.kernels.nested import EQ
from penstock.lab.kernels.tree import FACTS, Paths
from penstock.lab.layout.columns import OPERATORS, Columns, Table
from penstock.plan.tree import Branch, Leaf, Node, TreeJoin, branches, leaves

Place = tuple[int, int]
"""A value of a match: the input, and the column in its rows."""
Check = tuple[int, int, int, int, int]


@dataclass(frozen=True)
class TreeLowering:
    """Turns a tree into what the kernel takes: aliases, joins, keys and columns become numbers."""

    plan: TreeJoin
    columns: Columns

    @cached_property
    def joins(self) -> tuple[Branch, ...]:
        """The joins of the tree by number, the root last."""
        return tuple(branches(self.plan.root))

    def paths(self) -> Paths:
        """The paths that the rows of each input take to the root."""
        aliases = self.columns.aliases
        checks = [self._checks(join) for join in self.joins]
        ends = np.cumsum([0, *map(len, checks)])
        levels = np.full((len(aliases), max(1, len(self.joins)), FACTS), -1)
        depths = np.zeros(len(aliases), np.int64)
        for number, alias in enumerate(aliases):
            path = _path(self.plan.root, alias)
            depths[number] = len(path)
            for level, (join, side) in enumerate(path):
                j = self.joins.index(join)
                levels[number, level] = (j, *self._level(join, side), ends[j], ends[j + 1])
        return Paths(
            depths=depths,
            levels=levels,
            checks=np.array([c for some in checks for c in some], np.int64).reshape(-1, 5),
            members=self._members(),
            keys=self._row_keys(),
        )

    def tables(self) -> tuple[Table, ...]:
        """The hash tables over inputs; inner rows have chains of their own."""
        return tuple(
            (side.alias, key)
            for join in self.joins
            if (key := self._key(join)) is not None
            for side in (join.left, join.right)
            if isinstance(side, Leaf)
        )

    def key_places(self, join: Branch) -> tuple[Place, Place] | None:
        """Where the left and the right rows of a join have the key that it searches by."""
        key = self._key(join)
        if key is None:
            return None
        return self._place(join.left, key), self._place(join.right, key)

    def _level(self, join: Branch, side: int) -> tuple[int, ...]:
        """Side, other input or join, link and table there, and the place of the key."""
        other = (join.right, join.left)[side]
        key = self._key(join)
        mine = (-1, -1) if key is None else self._place((join.left, join.right)[side], key)
        if isinstance(other, Branch):
            return (side, -1, self.joins.index(other), -1, -1, *mine)
        found = (-1, -1)
        if key is not None:
            found = (
                self.columns.key(other.alias, key) + 1,
                self.tables().index((other.alias, key)),
            )
        return (side, self.columns.aliases.index(other.alias), -1, *found, *mine)

    def _key(self, join: Branch) -> int | None:
        """The key class that a join searches by; None if it looks at all rows."""
        return None if join.method == "nested" else next(iter(self._shared(join)), None)

    def _shared(self, join: Branch) -> list[int]:
        """The key classes that both sides of a join have."""
        sides = (leaves(join.left), leaves(join.right))
        return [
            k
            for k, key in enumerate(self.columns.layout.keys)
            if not any(set(side).isdisjoint(key.streams) for side in sides)
        ]

    def _place(self, node: Node, key: int) -> Place:
        """Where a node's rows have a key class: its members there are all equal."""
        streams = self.columns.layout.keys[key].streams
        alias = next(alias for alias in leaves(node) if alias in streams)
        return self.columns.aliases.index(alias), self.columns.key(alias, key)

    def _checks(self, join: Branch) -> list[Check]:
        """The predicates that a join is the lowest to have all inputs of."""
        left, right = leaves(join.left), leaves(join.right)
        checks: list[Check] = []
        for key in self._shared(join):
            checks.append((*self._place(join.left, key), EQ, *self._place(join.right, key)))
        for number, comparison in enumerate(self.columns.comparisons):
            one, other = comparison.streams
            if (one in left and other in right) or (one in right and other in left):
                places = [
                    (self.columns.aliases.index(alias), self.columns.side(alias, number))
                    for alias in (one, other)
                ]
                checks.append((*places[0], OPERATORS[comparison.operator], *places[1]))
        return checks

    def _members(self) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
        members = np.full((max(1, len(self.joins)), len(self.columns.aliases)), -1)
        for j, join in enumerate(self.joins):
            mine = leaves(join)
            members[j, : len(mine)] = [self.columns.aliases.index(alias) for alias in mine]
        return members

    def _row_keys(self) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
        keys = np.full((max(1, len(self.joins)), 2), -1)
        for join in self.joins:
            places = self.key_places(join)
            for side, node in enumerate((join.left, join.right)):
                if isinstance(node, Branch) and places is not None:
                    keys[self.joins.index(node)] = places[side]
        return keys


def _path(node: Node, alias: str) -> list[tuple[Branch, int]]:
    """The joins over an input, the lowest first, each with the side it comes from."""
    if isinstance(node, Leaf):
        return []
    side = 0 if alias in leaves(node.left) else 1
    return [*_path((node.left, node.right)[side], alias), (node, side)]

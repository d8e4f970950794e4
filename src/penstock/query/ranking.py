"""Top-N: the first rows of a view in an order, of all rows or of each part of them."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.query.expression import Column, Expression, render
from penstock.query.types import DataType

NUMBER = Column("", "#row", DataType.BIGINT)
"""The column that outputs read as the number of a row in its part, from 1 on."""
NUMBER_TEXT = "ROW_NUMBER()"
"""What it is called where it is explained."""


@dataclass(frozen=True)
class Order:
    """What rows are ordered by. NaN is above all numbers, and NULL comes first or last."""

    by: Expression
    descending: bool = False
    nulls_first: bool = True

    def __str__(self) -> str:
        way = " DESC" if self.descending else ""
        nulls = ""
        if self.nulls_first == self.descending:
            nulls = " NULLS FIRST" if self.nulls_first else " NULLS LAST"
        return f"{render(self.by)}{way}{nulls}"


@dataclass(frozen=True)
class Top:
    """The first `count` rows of each part, in an order; rows that are equal in it are ordered by
    their groups, upwards and NULL first.

    `order` and `parts` read groups and aggregates; without parts all rows are one. Where the rows
    are tuples and no groups, `copies` says how often each is there, and they are told apart by
    their part and number.
    """

    count: int
    order: tuple[Order, ...]
    parts: tuple[Expression, ...] = ()
    copies: Column | None = None

    def orders(self, groups: tuple[Column, ...]) -> tuple[Order, ...]:
        """What rows of the same part are ordered by in the end: no two of them are equal in it."""
        asked = {each.by for each in self.order}
        return (*self.order, *(Order(group) for group in groups if group not in asked))

    def in_parts(self, groups: tuple[Column, ...]) -> tuple[Column, ...]:
        """The groups that all rows of a part have in common."""
        return tuple(group for group in groups if group in self.parts)

    def __str__(self) -> str:
        of = f" of each {', '.join(map(render, self.parts))}" if self.parts else ""
        return f"first {self.count:,}{of} by {', '.join(map(str, self.order))}"

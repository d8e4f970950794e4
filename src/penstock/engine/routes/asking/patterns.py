"""Patterns: which inputs of several outer joins a result has tuples of, and which it lacks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from penstock.query import Query
from penstock.query.joins.outer import OuterJoin, OuterJoins


@dataclass(frozen=True)
class Pattern:
    """The results that have tuples of all inputs but the `absent` ones, which are NULL in them.

    Semi and anti joins only choose among them: their inputs are neither.
    """

    query: Query
    outer: OuterJoins
    absent: frozenset[str]

    @property
    def present(self) -> tuple[str, ...]:
        """The inputs that results have a tuple of, in the order of FROM."""
        chosen = {join.nullable for join in self.outer.joins if not join.has_pairs}
        return tuple(a for a in self.query.aliases if a not in chosen and a not in self.absent)

    @property
    def left(self) -> tuple[OuterJoin, ...]:
        """The left joins, in their order."""
        return tuple(join for join in self.outer.joins if join.has_pairs)

    @property
    def choosing(self) -> tuple[OuterJoin, ...]:
        """The semi and anti joins."""
        return tuple(join for join in self.outer.joins if not join.has_pairs)

    @property
    def is_of_pairs(self) -> bool:
        """Whether these are the results of an inner join, which the plan finds."""
        return not self.absent and not self.choosing

    @property
    def is_possible(self) -> bool:
        """Whether there can be such a result: nothing equals what is NULL."""
        paired = (join for join in self.outer.joins if join.nullable not in self.absent)
        return not any(self.is_unmet(join) for join in paired if join.kind != "anti")

    def is_unmet(self, join: OuterJoin) -> bool:
        """Whether no partner can be there, since it would have to equal what is NULL."""
        others = self.absent - {join.nullable}
        return any(equality.streams & others for equality in join.equalities)

    @property
    def waiting(self) -> OuterJoin | None:
        """The first join in which a partner may come for as long as the combination lives."""
        for join in self.outer.joins:
            lacks = join.kind == "anti" or join.nullable in self.absent
            is_known = self.query.input(join.nullable).is_table or self.is_unmet(join)
            if lacks and not is_known:
                return join
        return None


def patterns_of(query: Query, outer: OuterJoins) -> Iterator[Pattern]:
    """All that there can be, but the one whose results are those of an inner join."""
    left = [join.nullable for join in outer.joins if join.has_pairs]
    for lacks in product((False, True), repeat=len(left)):
        absent = frozenset(a for a, is_absent in zip(left, lacks, strict=True) if is_absent)
        pattern = Pattern(query, outer, absent)
        if pattern.is_possible and not pattern.is_of_pairs:
            yield pattern

"""Joins of a query that are not inner ones: whose tuples are results also without a partner, or for
having one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from penstock.query.expression import Call, Expression, streams_of
from penstock.query.joins.predicates import Condition, Equality
from penstock.query.types import DataType

JoinKind = Literal["left", "full", "semi", "anti"]


@dataclass(frozen=True)
class Side:
    """Combinations of the `preserved` inputs, whose partners are tuples of `nullable`."""

    preserved: tuple[str, ...]
    nullable: str


@dataclass(frozen=True)
class OuterJoin:
    """A left, full, semi or anti join; a right join is a left one.

    What ON says of partners is in four parts: `equalities` and `thetas`, which are among those of
    the query; filters of the nullable input, which are among the query's filters; and `alone`, what
    reads preserved inputs only, which decides about partners and drops nothing.
    """

    kind: JoinKind
    preserved: tuple[str, ...]
    nullable: str
    equalities: tuple[Equality, ...] = ()
    thetas: tuple[Condition, ...] = ()
    alone: tuple[Condition, ...] = ()

    @property
    def sides(self) -> tuple[Side, ...]:
        """Whose partners are asked for: of a full join, both sides'."""
        one = Side(self.preserved, self.nullable)
        if self.kind != "full":
            return (one,)
        return (one, *(Side((self.nullable,), alias) for alias in self.preserved))

    @property
    def has_pairs(self) -> bool:
        """Whether combinations with a partner are results, with its columns."""
        return self.kind in ("left", "full")


@dataclass(frozen=True)
class OuterJoins:
    """All such joins of a query, in the order in which they are made: after all inner ones, and
    semi and anti joins after the others.

    Conditions of WHERE that come `after` them read inputs that may be NULL.
    """

    joins: tuple[OuterJoin, ...]
    after: tuple[Condition, ...] = ()

    @property
    def name(self) -> str:
        """What to call them in messages."""
        return KIND_NAMES[self.joins[0].kind] if self.is_single else "several outer joins"

    @property
    def is_single(self) -> bool:
        return len(self.joins) == 1

    @property
    def core(self) -> tuple[str, ...]:
        """The inputs that are in every result, with a partner or without: those of inner joins."""
        return self.joins[0].preserved

    @property
    def has_pairs(self) -> bool:
        """Whether combinations of all inputs are results."""
        return all(join.has_pairs for join in self.joins)

    @property
    def is_semi(self) -> bool:
        """Whether results are those with partners of one semi join alone."""
        return self.is_single and self.joins[0].kind == "semi"

    @cached_property
    def sides(self) -> tuple[Side, ...]:
        """Whose partners are asked for, in the order of the joins."""
        return tuple(side for join in self.joins for side in join.sides)

    @property
    def nullables(self) -> frozenset[str]:
        """The inputs in whose windows partners are looked for."""
        return frozenset(side.nullable for side in self.sides)

    @property
    def keepers(self) -> frozenset[str]:
        """The inputs whose tuples are asked about, whether or not they have a partner."""
        return frozenset(alias for side in self.sides for alias in side.preserved)

    @cached_property
    def equalities(self) -> tuple[Equality, ...]:
        """The equalities of all ONs."""
        return tuple(each for join in self.joins for each in join.equalities)

    @cached_property
    def thetas(self) -> tuple[Condition, ...]:
        """What all ONs say of several inputs, among them the nullable one."""
        return tuple(each for join in self.joins for each in join.thetas)

    @cached_property
    def partner_conditions(self) -> tuple[Condition, ...]:
        """What makes partners in any of the joins, and says nothing of its nullable input."""
        found = (each for join in self.joins for each in self.conditions_of(join))
        return tuple(dict.fromkeys(found))

    def conditions_of(self, join: OuterJoin) -> tuple[Condition, ...]:
        """Conditions of a join's partners beside `thetas` and equalities: `alone`, and that no key
        is NULL. Equal hashes do not prove that of tuples which are kept whatever their key."""
        sides = (side for e in join.equalities for side in (e.left, e.right))
        kept = dict.fromkeys(side for side in sides if streams_of(side) <= self.keepers)
        return (*join.alone, *(Condition(is_known(key)) for key in kept))


def is_known(expression: Expression) -> Expression:
    """That an expression is not NULL."""
    unknown = Call("is_null", (expression,), DataType.BOOLEAN)
    return Call("not", (unknown,), DataType.BOOLEAN)


KIND_NAMES: dict[JoinKind, str] = {
    "left": "an outer join",
    "full": "a full outer join",
    "semi": "a semi join",
    "anti": "an anti join",
}
"""What to call the kinds in messages."""

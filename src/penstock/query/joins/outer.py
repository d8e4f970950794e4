"""The join of a query that is not an inner one: whose tuples are results also without a partner,
or for having one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
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
    """A left, full, semi or anti join, made after all inner ones; a right join is a left one.

    What ON says of partners is in four parts: `equalities` and `thetas`, which are among those of
    the query; filters of the nullable input, which are among the query's filters; and `alone`, what
    reads preserved inputs only, which decides about partners and drops nothing. Conditions of WHERE
    that come `after` it read inputs that may be NULL.
    """

    kind: JoinKind
    preserved: tuple[str, ...]
    nullable: str
    equalities: tuple[Equality, ...] = ()
    thetas: tuple[Condition, ...] = ()
    alone: tuple[Condition, ...] = ()
    after: tuple[Condition, ...] = ()

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

    @property
    def nullables(self) -> frozenset[str]:
        """The inputs in whose windows partners are looked for."""
        return frozenset(side.nullable for side in self.sides)

    @property
    def keepers(self) -> frozenset[str]:
        """The inputs whose tuples are asked about, whether or not they have a partner."""
        return frozenset(alias for side in self.sides for alias in side.preserved)

    @property
    def partner_conditions(self) -> tuple[Condition, ...]:
        """Conditions of partners that say nothing of the nullable input: beside `alone`, that no
        key is NULL. Equal hashes do not prove that of tuples which are kept whatever their key."""
        return (*self.alone, *(Condition(is_known(key)) for key in self._kept_keys()))

    def _kept_keys(self) -> Iterator[Expression]:
        sides = (side for e in self.equalities for side in (e.left, e.right))
        yield from dict.fromkeys(side for side in sides if streams_of(side) <= self.keepers)


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

"""Predicates: the parts of WHERE and ON, each by how it is used."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.query.expression import Call, Expression, as_type, render, streams_of
from penstock.query.types import DataType, common_type


@dataclass(frozen=True)
class Equality:
    """An equality between expressions of two different inputs, one each side."""

    left: Expression
    right: Expression

    @property
    def streams(self) -> frozenset[str]:
        return streams_of(self.left) | streams_of(self.right)

    def __str__(self) -> str:
        return f"{render(self.left)} = {render(self.right)}"


@dataclass(frozen=True)
class Condition:
    """Any other part of WHERE: a filter if it reads one input, a theta predicate if more."""

    expression: Expression

    @property
    def streams(self) -> frozenset[str]:
        return streams_of(self.expression)

    def __str__(self) -> str:
        return render(self.expression)


def as_condition(equality: Equality) -> Condition:
    """The equality as a predicate, both sides in their common type."""
    type_ = common_type(equality.left.type, equality.right.type)
    assert type_ is not None, "the parser has checked that equal things can be compared"
    sides = tuple(as_type(side, type_) for side in (equality.left, equality.right))
    return Condition(Call("eq", sides, DataType.BOOLEAN))

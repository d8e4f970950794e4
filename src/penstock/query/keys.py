"""Join keys: the equalities of a query as classes of expressions that must all be equal."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce

from penstock.query.expression import Expression, render, streams_of
from penstock.query.families.decimal_types import LONG_DIGITS
from penstock.query.query import Equality, Query
from penstock.query.types import DataType, common_type

_FOUND = "_key_classes"
"""Where a query keeps its key classes, as a cached property would."""


@dataclass(frozen=True)
class KeyClass:
    """Expressions, a tuple of them an input, that are equal in every result.

    `A.k = B.k AND B.k = C.k` makes one class of three members. Two classes over the same inputs are
    one class with two parts, so that `A.x = B.x AND A.y = B.y` probes on both at once. `types` are
    the common types in which the parts are compared.
    """

    members: tuple[tuple[str, tuple[Expression, ...]], ...]
    types: tuple[DataType, ...]

    @property
    def streams(self) -> tuple[str, ...]:
        return tuple(alias for alias, _ in self.members)

    def parts(self, alias: str) -> tuple[Expression, ...]:
        """The expressions of one input in the key."""
        return dict(self.members)[alias]

    @property
    def is_exact(self) -> bool:
        """Whether 64 bits hold the whole key, so that equal hashes are equal keys."""
        return len(self.types) == 1 and _fits_64_bits(self.types[0])

    def __str__(self) -> str:
        columns = zip(*(parts for _, parts in self.members), strict=True)
        return " AND ".join(" = ".join(render(e) for e in column) for column in columns)


def key_classes(query: Query) -> tuple[KeyClass, ...]:
    """The key classes of a query, in the order of its inputs and equalities.

    They are asked for at every turn, and found once: a query does not change.
    """
    kept = vars(query)
    if _FOUND not in kept:
        kept[_FOUND] = _found(query)
    found: tuple[KeyClass, ...] = kept[_FOUND]
    return found


def _found(query: Query) -> tuple[KeyClass, ...]:
    singles = [_as_class(query, group) for group in equal_sides(query.equalities)]
    merged: dict[tuple[str, ...], KeyClass] = {}
    for single in singles:
        known = merged.get(single.streams)
        merged[single.streams] = single if known is None else _join_parts(known, single)
    return tuple(merged.values())


def unkeyed_equalities(query: Query, classes: Iterable[KeyClass]) -> tuple[Equality, ...]:
    """The equalities that equal key hashes do not yet prove, to be checked as theta predicates.

    These are all those of an inexact class, those that compare in a narrower type than their class
    does, and those whose input already has another expression in the class (`A.a = B.k AND
    A.b = B.k`: only `A.a` is in the key).
    """
    return tuple(
        equality for equality in query.equalities if not any(_proves(c, equality) for c in classes)
    )


def _proves(key: KeyClass, equality: Equality) -> bool:
    if not key.is_exact or not equality.streams <= set(key.streams):
        return False
    in_key = all(side in key.parts(_stream(side)) for side in (equality.left, equality.right))
    return in_key and common_type(equality.left.type, equality.right.type) == key.types[0]


def _stream(expression: Expression) -> str:
    (alias,) = streams_of(expression)
    return alias


def equal_sides(equalities: Iterable[Equality]) -> list[list[Expression]]:
    """The sides of the equalities, grouped by what is equal to what."""
    groups: list[list[Expression]] = []
    for equality in equalities:
        sides = (equality.left, equality.right)
        touched = [g for g in groups if any(side in g for side in sides)]
        rest = [g for g in groups if g not in touched]
        merged = list(dict.fromkeys([e for g in touched for e in g] + list(sides)))
        groups = [*rest, merged]
    return groups


def _as_class(query: Query, group: list[Expression]) -> KeyClass:
    first: dict[str, Expression] = {}
    for expression in group:
        first.setdefault(_stream(expression), expression)
    type_ = reduce(_wider, (e.type for e in group))
    members = tuple((alias, (first[alias],)) for alias in query.aliases if alias in first)
    return KeyClass(members, (type_,))


def _fits_64_bits(type_: DataType) -> bool:
    if type_.is_decimal:
        return type_.digits[0] <= LONG_DIGITS
    return type_ not in (DataType.STRING, DataType.BINARY)


def _wider(left: DataType, right: DataType) -> DataType:
    """The type by which a key is hashed.

    Any two that are equal have a common type, but for three DECIMALs there may be none: they are
    hashed as DOUBLE, and compared again.
    """
    wider = common_type(left, right)
    assert wider is not None or left.is_decimal, "what is equal can be compared"
    return wider or DataType.DOUBLE


def _join_parts(one: KeyClass, other: KeyClass) -> KeyClass:
    members = tuple((alias, parts + other.parts(alias)) for alias, parts in one.members)
    return KeyClass(members, one.types + other.types)

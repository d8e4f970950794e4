"""Same joins: the join of a query as it is whatever aliases, windows and filters it has."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import permutations, product
from math import factorial, prod

from penstock.query import Column, Condition, Equality, Expression, Query, TimeWindow
from penstock.query.expression import columns_of, render, streams_of, substitute
from penstock.query.keys import equal_sides

_MOST_NAMINGS = 24
"""Ways to tell inputs of the same source apart that are tried."""
_MOST_INPUTS = 10
"""Up to so many inputs it is known of all sets of them how selective their keys are."""

Aliases = Mapping[str, str]


@dataclass(frozen=True)
class SameJoin:
    """What queries must have in common to share a join: sources, by the aliases that a shared join
    gives them, and equalities."""

    inputs: tuple[tuple[str, str], ...]
    equalities: tuple[Equality, ...]

    @property
    def aliases(self) -> frozenset[str]:
        """The inputs."""
        return frozenset(alias for alias, _ in self.inputs)

    def within(self, aliases: frozenset[str]) -> SameJoin:
        """What is joined of some of the inputs."""
        inputs = tuple(each for each in self.inputs if each[0] in aliases)
        return SameJoin(inputs, tuple(e for e in self.equalities if e.streams <= aliases))

    def holds(self, other: SameJoin) -> bool:
        """Whether another join is this one, or part of it: nothing else is equal of its inputs,
        neither by what it says nor because both are equal to what it does not have."""
        if not other.aliases <= self.aliases or self.within(other.aliases) != other:
            return False
        return self._equal(other.aliases) == other._equal(other.aliases)

    def _equal(self, aliases: frozenset[str]) -> frozenset[frozenset[Expression]]:
        """What of some inputs must be equal to each other."""
        groups = (
            frozenset(side for side in group if streams_of(side) <= aliases)
            for group in equal_sides(self.equalities)
        )
        return frozenset(group for group in groups if len(group) > 1)


def united(joins: Collection[SameJoin]) -> SameJoin | None:
    """The join of all inputs of some joins, of which each is a part; None if some is not, or if
    there are too many inputs."""
    inputs = sorted({each for join in joins for each in join.inputs})
    equalities = sorted({e for join in joins for e in join.equalities}, key=str)
    both = SameJoin(tuple(inputs), tuple(equalities))
    fits = len(inputs) <= _MOST_INPUTS and all(map(both.holds, joins))
    return both if fits else None


@dataclass(frozen=True)
class NamedJoin:
    """The join of a query, and the shared join's alias for each of its own."""

    join: SameJoin
    aliases: tuple[tuple[str, str], ...]


def named_join(query: Query) -> NamedJoin | None:
    """The join of a query under names that follow from the query alone; None if it cannot be
    shared.

    Inputs are called as their sources. Those of one source are told apart by what they are equal
    to, and else by their order.
    """
    if not _is_shareable(query):
        return None
    found = [NamedJoin(_join(query, names), tuple(names.items())) for names in _namings(query)]
    return min(found, key=lambda each: tuple(map(str, each.join.equalities)), default=None)


def renamed(expression: Expression, aliases: Aliases) -> Expression:
    """An expression over inputs that have other aliases."""
    columns = columns_of(expression)
    meanings: dict[Expression, Expression] = {c: _renamed(c, aliases) for c in columns}
    return substitute(expression, meanings)


def renamed_condition(condition: Condition, aliases: Aliases) -> Condition:
    """A condition over inputs that have other aliases."""
    return Condition(renamed(condition.expression, aliases))


def _renamed(column: Column, aliases: Aliases) -> Column:
    return replace(column, stream=aliases[column.stream])


def _is_shareable(query: Query) -> bool:
    """Whether lives go by time, and combinations are those of an inner join. With another version
    of a table, a query makes its state again from windows of its own."""
    has_lives = all(
        isinstance(item.window, TimeWindow | None) and not item.is_relation for item in query.inputs
    )
    stays = all(source.refresh is None for source in query.sources.values())
    return has_lives and query.outer is None and stays and 1 < len(query.inputs) <= _MOST_INPUTS


def _join(query: Query, names: Aliases) -> SameJoin:
    inputs = sorted((names[item.alias], item.source.name) for item in query.inputs)
    equalities = {_ordered(e, names) for e in query.equalities}
    return SameJoin(tuple(inputs), tuple(sorted(equalities, key=str)))


def _ordered(equality: Equality, names: Aliases) -> Equality:
    """An equality that is the same whichever side is written first."""
    sides = (renamed(side, names) for side in (equality.left, equality.right))
    return Equality(*sorted(sides, key=render))


def _namings(query: Query) -> Iterator[dict[str, str]]:
    """Ways to name the inputs; of many inputs of one source, none."""
    by_source: dict[str, list[str]] = {}
    for item in query.inputs:
        by_source.setdefault(item.source.name, []).append(item.alias)
    if prod(factorial(len(aliases)) for aliases in by_source.values()) > _MOST_NAMINGS:
        return
    orders = product(*(permutations(aliases) for aliases in by_source.values()))
    for order in orders:
        yield {
            alias: _name(source, number)
            for source, aliases in zip(by_source, order, strict=True)
            for number, alias in enumerate(aliases)
        }


def _name(source: str, number: int) -> str:
    return source if not number else f"{source}.{number + 1}"

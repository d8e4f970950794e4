"""The common join: one query that finds the combinations of several, and more if need be."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import chain

from penstock.optimize.sharing.same_joins import NamedJoin, SameJoin, renamed, renamed_condition
from penstock.query import Column, Condition, Expression, Output, Query, TimeWindow, Window
from penstock.query.expression import Call, columns_of
from penstock.query.query import Input
from penstock.query.source import Source
from penstock.query.types import DataType
from penstock.query.window import UNBOUNDED


@dataclass(frozen=True)
class Sharer:
    """A query that may share its join, under the shared join's aliases."""

    name: str
    query: Query
    named: NamedJoin

    @property
    def members(self) -> frozenset[str]:
        """The inputs of the shared join that are its own."""
        return self.named.join.aliases

    @property
    def aliases(self) -> dict[str, str]:
        """The shared join's alias for each of its own."""
        return dict(self.named.aliases)

    def input(self, alias: str) -> Input:
        """The input that a shared join calls so."""
        own = {theirs: mine for mine, theirs in self.named.aliases}
        return self.query.input(own[alias])

    def filters(self, alias: str) -> tuple[Condition, ...]:
        """Its filters on the input that a shared join calls so."""
        mine = self.query.filters_of(self.input(alias).alias)
        return tuple(renamed_condition(each, self.aliases) for each in mine)

    @property
    def thetas(self) -> tuple[Condition, ...]:
        """Its other conditions."""
        return tuple(renamed_condition(each, self.aliases) for each in self.query.thetas)

    @property
    def columns(self) -> Iterator[Column]:
        """What its results and conditions read."""
        read = [o.expression for o in self.query.outputs]
        read += [c.expression for c in (*self.query.filters, *self.query.thetas)]
        for expression in read:
            yield from columns_of(renamed(expression, self.aliases))


def common_query(join: SameJoin, sharers: Sequence[Sharer]) -> Query:
    """A query that finds all that any of them wants: over the longest windows, with the filters
    that they have in common, and the columns that any of them reads."""
    inputs = tuple(_input(alias, _having(sharers, {alias})) for alias, _ in join.inputs)
    columns = {c for each in sharers for c in each.columns}
    ordered = sorted(columns, key=lambda column: (column.stream, column.name))
    return Query(
        inputs=inputs,
        outputs=tuple(Output(f"{c.stream}.{c.name}", c) for c in ordered),
        equalities=join.equalities,
        filters=tuple(
            condition
            for item in inputs
            for condition in weakest(item.alias, _having(sharers, {item.alias}))
        ),
        thetas=tuple(_common_thetas(sharers)),
    )


def _having(sharers: Sequence[Sharer], aliases: Collection[str]) -> list[Sharer]:
    """Those who have some inputs."""
    return [each for each in sharers if each.members.issuperset(aliases)]


def _common_thetas(sharers: Sequence[Sharer]) -> Iterator[Condition]:
    """The conditions that all have who have their inputs."""
    for condition in dict.fromkeys(theta for each in sharers for theta in each.thetas):
        if all(condition in each.thetas for each in _having(sharers, condition.streams)):
            yield condition


def weakest(alias: str, sharers: Sequence[Sharer]) -> tuple[Condition, ...]:
    """Filters on an input that let pass what any of them lets pass: those that all have, and that
    one of them has all its others met."""
    filters = [each.filters(alias) for each in sharers]
    common = _in_all(filters)
    others = dict.fromkeys(tuple(c for c in mine if c not in common) for mine in filters)
    if not all(others):
        return common
    either = reduce(_or, (reduce(_and, (c.expression for c in each)) for each in others))
    return (*common, Condition(either))


def longest(windows: Sequence[Window | None]) -> Window | None:
    """A window in which a tuple lives at least as long as in any of these, born at any time."""
    first, *others = windows
    if all(window == first for window in others):
        return first
    lives = [window for window in windows if isinstance(window, TimeWindow)]
    extents = [None if w.extent is None else w.extent + w.slide - 1 for w in lives]
    known = [extent for extent in extents if extent is not None]
    return UNBOUNDED if len(known) < len(extents) else TimeWindow(max(known))


def _input(alias: str, sharers: Sequence[Sharer]) -> Input:
    mine = [each.input(alias) for each in sharers]
    return Input(alias, _widest([i.source for i in mine]), longest([i.window for i in mine]))


def _widest(sources: Sequence[Source]) -> Source:
    """The source with all columns that any query reads inside of others."""
    fields = {f.name: f for f in chain.from_iterable(source.fields for source in sources)}
    return replace(sources[0], fields=tuple(fields.values()))


def _in_all(conditions: Iterable[Sequence[Condition]]) -> tuple[Condition, ...]:
    first, *others = conditions
    return tuple(c for c in dict.fromkeys(first) if all(c in each for each in others))


def _and(one: Expression, other: Expression) -> Expression:
    return Call("and", (one, other), DataType.BOOLEAN)


def _or(one: Expression, other: Expression) -> Expression:
    return Call("or", (one, other), DataType.BOOLEAN)

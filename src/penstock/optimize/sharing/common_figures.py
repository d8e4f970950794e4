"""What is known of a shared join, from what is known of those who share it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

from penstock.figure import Figure, Origin
from penstock.optimize.sharing.common_join import Sharer
from penstock.optimize.sharing.same_joins import renamed, renamed_condition
from penstock.query import Condition, Query
from penstock.query.expression import Call, Expression
from penstock.query.keys import KeyClass, key_classes
from penstock.query.types import DataType
from penstock.stats.groups import group_figures
from penstock.stats.known import ConditionFigures, Known
from penstock.stats.statistics import Group, Unique, extra_equalities

Knowns = Mapping[str, Known]
_RULE = "as those who share it"


def common_known(query: Query, sharers: Sequence[Sharer], knowns: Knowns) -> Known:
    """The figures of a shared join; one that some query is given counts more than guesses."""
    conditions = _conditions(sharers, knowns)
    return replace(
        knowns[sharers[0].name],
        query=query,
        rates=_by_alias(query, sharers, knowns, lambda known: known.rates),
        cardinalities=_by_alias(query, sharers, knowns, lambda known: known.cardinalities),
        groups=tuple(_Told(key, _groups(key, sharers, knowns)) for key in key_classes(query)),
        conditions={text: _figures(c.expression, conditions) for text, c in _asked(query)},
        distinct=_distinct(query, sharers, knowns),
        unique=_unique(query, sharers, knowns),
        training={},
        untrained={},
        cells={},
        variations=_by_alias(query, sharers, knowns, lambda known: known.variations),
        handling={},
        windows={},
    )


def _best(figures: Sequence[Figure]) -> Figure:
    return next((figure for figure in figures if not figure.is_guess), figures[0])


def _by_alias(
    query: Query,
    sharers: Sequence[Sharer],
    knowns: Knowns,
    kind: Callable[[Known], Mapping[str, Figure]],
) -> dict[str, Figure]:
    found: dict[str, Figure] = {}
    for alias in query.aliases:
        having = (each for each in sharers if alias in each.members)
        every = (kind(knowns[each.name]).get(each.input(alias).alias) for each in having)
        known = [figure for figure in every if figure is not None]
        if known:
            found[alias] = _best(known)
    return found


def _distinct(
    query: Query, sharers: Sequence[Sharer], knowns: Knowns
) -> dict[str, dict[str, Figure]]:
    found: dict[str, dict[str, Figure]] = {alias: {} for alias in query.aliases}
    for each in reversed(sharers):
        for alias in each.members:
            found[alias] |= knowns[each.name].distinct.get(each.input(alias).alias, {})
    return found


def _unique(query: Query, sharers: Sequence[Sharer], knowns: Knowns) -> dict[str, Unique]:
    found: dict[str, Unique] = {alias: {} for alias in query.aliases}
    for each in reversed(sharers):
        for alias in each.members:
            own = knowns[each.name].unique.get(each.input(alias).alias, {})
            found[alias] = {**found[alias], **own}
    return {alias: keys for alias, keys in found.items() if keys}


def _groups(
    key: KeyClass, sharers: Sequence[Sharer], knowns: Knowns
) -> dict[frozenset[str], Figure]:
    """How selective a key is: the same for all who share it, whatever they call their inputs, and
    whichever of its inputs they have."""
    every: dict[frozenset[str], list[Figure]] = {}
    for each in sharers:
        for own, figures in zip(key_classes(each.query), knowns[each.name].groups, strict=True):
            if _members(own, each.aliases) <= _members(key, None):
                for streams, figure in figures.items():
                    called = frozenset(each.aliases[alias] for alias in streams)
                    every.setdefault(called, []).append(figure)
    return {streams: _best(figures) for streams, figures in every.items()}


@dataclass(frozen=True)
class _Told(Mapping[frozenset[str], Figure]):
    """How selective a key is for the sets of inputs that somebody joins. Of others, which nobody
    looks for, a guess is there to be measured against."""

    key: KeyClass
    told: Mapping[frozenset[str], Figure]

    def __getitem__(self, streams: frozenset[str]) -> Figure:
        return self.told[streams] if streams in self.told else self._guessed[streams]

    def __iter__(self) -> Iterator[frozenset[str]]:
        return iter(self.told)

    def __len__(self) -> int:
        return len(self.told)

    @cached_property
    def _guessed(self) -> Mapping[frozenset[str], Figure]:
        parts = tuple(range(len(self.key.types)))
        given = {Group(0, parts, streams): figure for streams, figure in self.told.items()}
        return group_figures(0, self.key, given, lambda alias, part: None)


def knows_keys(query: Query, sharers: Sequence[Sharer]) -> bool:
    """Whether each key of those who share a join is one of its keys, or part of one that is hashed
    in the same types: then it is known how selective that is, and what is kept stays what it is
    when others leave."""
    keys = [_typed(key, None) for key in key_classes(query)]
    return all(
        any(_typed(own, each.aliases) <= key for key in keys)
        for each in sharers
        for own in key_classes(each.query)
    )


def _typed(
    key: KeyClass, aliases: Mapping[str, str] | None
) -> frozenset[tuple[str, frozenset[tuple[Expression, DataType]]]]:
    """The members of a key with the types of their parts, in whatever order these are."""
    named = ((alias, alias if aliases is None else aliases[alias]) for alias in key.streams)
    return frozenset(
        (name, frozenset(zip(_parts(key, alias, aliases), key.types, strict=True)))
        for alias, name in named
    )


def _parts(key: KeyClass, alias: str, aliases: Mapping[str, str] | None) -> tuple[Expression, ...]:
    parts = key.parts(alias)
    return parts if aliases is None else tuple(renamed(part, aliases) for part in parts)


def _members(
    key: KeyClass, aliases: Mapping[str, str] | None
) -> frozenset[tuple[str, frozenset[Expression]]]:
    typed = _typed(key, aliases)
    return frozenset((name, frozenset(part for part, _ in parts)) for name, parts in typed)


def _conditions(sharers: Sequence[Sharer], knowns: Knowns) -> dict[str, ConditionFigures]:
    """The figures of all their conditions, by the text that these have in the shared join."""
    every: dict[str, list[ConditionFigures]] = {}
    for each in sharers:
        figures = knowns[each.name].conditions
        for known, condition in _asked(each.query):
            text = str(renamed_condition(condition, each.aliases))
            every.setdefault(text, []).append(figures[known])
    return {text: _best_of(figures) for text, figures in every.items()}


def _asked(query: Query) -> Iterator[tuple[str, Condition]]:
    """Its conditions, with the texts that their figures are known by: those of equalities leave out
    that a side becomes another type."""
    yield from ((str(condition), condition) for condition in (*query.filters, *query.thetas))
    yield from extra_equalities(query).items()


def _best_of(every: Sequence[ConditionFigures]) -> ConditionFigures:
    return next((each for each in every if not each.selectivity.is_guess), every[0])


def _figures(expression: Expression, known: Mapping[str, ConditionFigures]) -> ConditionFigures:
    """The figures of a condition; of several that stand for one, as if they were independent."""
    found = known.get(str(Condition(expression)))
    if found is not None:
        return found
    if not isinstance(expression, Call) or expression.function not in ("and", "or"):
        # An equality whose sides were written the other way round.
        return ConditionFigures(Figure(0.1, "guessed", rule=_RULE), Figure(0.0, "guessed"))
    parts = [_figures(part, known) for part in expression.arguments]
    passing = [part.selectivity.value for part in parts]
    both = prod(passing) if expression.function == "and" else 1 - prod(1 - p for p in passing)
    is_guess = any(part.selectivity.is_guess for part in parts)
    cost = sum(part.cost.value for part in parts)
    origin: Origin = "guessed" if is_guess else "derived"
    return ConditionFigures(Figure(both, origin, rule=_RULE), Figure(cost, "derived", rule=_RULE))

"""Statistics that are given for a query: declared in a file, or sampled from the sources."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from penstock.figure import Figure, Origin
from penstock.query import Condition, Expression, Query
from penstock.query.expression import render
from penstock.query.keys import KeyClass, key_classes
from penstock.query.query import as_condition
from penstock.stats.costs import Costs, WindowCosts
from penstock.stats.training import Training

Unique = Mapping[tuple[str, ...], Origin]
"""Keys that no two tuples of a stream have in common, by their columns in order, and who says so.
NULL is no key."""


@dataclass(frozen=True)
class StreamFigures:
    """Of one input: tuples/s, tuples in all, different values by column, `cells` and `variation`.

    Cells are the different rows that an aggregation set of the input can have. `costs` are those
    of its window, where they are not like others'. The variation is the standard deviation of the
    tuples of a second, as a part of their mean. `unique` are keys of the stream, whatever filters
    leave of it.
    """

    rate: Figure | None = None
    cardinality: Figure | None = None
    distinct: Mapping[str, Figure] = field(default_factory=dict)
    cells: Figure | None = None
    costs: WindowCosts | None = None
    variation: Figure | None = None
    unique: Unique = field(default_factory=dict)


@dataclass(frozen=True)
class GivenCondition:
    """Of a filter or theta predicate: the fraction that passes, seconds for one evaluation."""

    selectivity: Figure | None = None
    cost: Figure | None = None


@dataclass(frozen=True)
class Group:
    """Two or more inputs being equal on some parts of key class number `key`."""

    key: int
    parts: tuple[int, ...]
    streams: frozenset[str]


@dataclass(frozen=True)
class Statistics:
    """Only what is given; streams by alias, conditions by their text as the query renders it.

    `groups` are how selective equal keys are, `handling` the seconds that an arrival takes at the
    join that decides them. `untrained` says why streams have no training, `notes` are remarks for
    who reads the figures. `memory` is bytes.
    """

    query: Query
    streams: Mapping[str, StreamFigures] = field(default_factory=dict)
    groups: Mapping[Group, Figure] = field(default_factory=dict)
    conditions: Mapping[str, GivenCondition] = field(default_factory=dict)
    costs: Costs | None = None
    capacity: Figure | None = None
    rows_warmup: float | None = None
    horizon: float | None = None
    training: Mapping[str, Training] = field(default_factory=dict)
    untrained: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = field(default=(), compare=False)
    handling: Mapping[Group, Figure] = field(default_factory=dict)
    memory: float | None = None

    def stream(self, alias: str) -> StreamFigures:
        """The figures that are given for one input."""
        return self.streams.get(alias, StreamFigures())


def group_text(classes: tuple[KeyClass, ...], group: Group) -> str:
    """The group as a predicate: `A.a = B.a = C.a`."""
    key = classes[group.key]
    members = [key.parts(alias) for alias in key.streams if alias in group.streams]
    return " AND ".join(" = ".join(render(parts[p]) for parts in members) for p in group.parts)


def extra_equalities(query: Query) -> Mapping[str, Condition]:
    """The equalities that are in no key class, by their text, as conditions.

    `A.a = B.k AND A.b = B.k` makes a key of A.a and B.k; A.b = B.k is then checked like a theta.
    """
    keys = [(side, k) for k, c in enumerate(key_classes(query)) for side in _sides(c)]
    in_one_key = [
        {k for side, k in keys if side == e.left} & {k for side, k in keys if side == e.right}
        for e in query.equalities
    ]
    pairs = zip(query.equalities, in_one_key, strict=True)
    return {str(e): as_condition(e) for e, shared in pairs if not shared}


def _sides(key: KeyClass) -> Iterable[Expression]:
    return (part for _, parts in key.members for part in parts)

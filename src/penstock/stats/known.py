"""All that the planner asks about one query, every figure with its origin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from penstock.figure import Figure
from penstock.query import Query
from penstock.stats.costs import Costs
from penstock.stats.training import Training


@dataclass(frozen=True)
class ConditionFigures:
    """Of a filter or theta predicate: the fraction that passes, and seconds for one evaluation."""

    selectivity: Figure
    cost: Figure


@dataclass(frozen=True)
class Known:
    """The statistics of a query with nothing missing: what was not given has been guessed.

    `rates` are tuples/s of each stream (by alias) before filters and drop boxes; `cardinalities`
    tuples of finite streams and rows of tables (endless streams have none). `groups[k]` has, for
    each set of two or more members of key class k (`penstock.query.keys.key_classes`), the
    fraction of their combinations that are equal on the key. `conditions` has the filters and theta
    predicates, and the equalities that are in no key class, by their text. `horizon` is the seconds
    after which an UNBOUNDED window is looked at. `distinct` has the different values of columns, by
    alias and name, `cells` the different rows of aggregation sets, by alias, `training` the
    training tuples of streams, and `untrained` why they have none, as far as they are given.
    `notes` are for who reads a plan that was made from these figures.
    """

    query: Query
    rates: Mapping[str, Figure]
    cardinalities: Mapping[str, Figure]
    groups: tuple[Mapping[frozenset[str], Figure], ...]
    conditions: Mapping[str, ConditionFigures]
    costs: Costs
    capacity: Figure
    rows_warmup: float = 60.0
    horizon: float | None = None
    distinct: Mapping[str, Mapping[str, Figure]] = field(default_factory=dict)
    training: Mapping[str, Training] = field(default_factory=dict)
    untrained: Mapping[str, str] = field(default_factory=dict)
    cells: Mapping[str, Figure] = field(default_factory=dict)
    notes: tuple[str, ...] = field(default=(), compare=False)

"""All that the planner asks about one query, every figure with its origin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from penstock.figure import Figure
from penstock.query import Query
from penstock.stats.costs import Costs, WindowCosts
from penstock.stats.statistics import Group, Unique
from penstock.stats.training import Training


@dataclass(frozen=True)
class ConditionFigures:
    """Of a filter or theta predicate: the fraction that passes, and seconds for one evaluation."""

    selectivity: Figure
    cost: Figure


@dataclass(frozen=True)
class Known:
    """The statistics of a query with nothing missing: what was not given has been guessed."""

    query: Query

    rates: Mapping[str, Figure]
    """Tuples/s of each stream, by alias, before filters and drop boxes."""

    cardinalities: Mapping[str, Figure]
    """Tuples of finite streams and rows of tables, by alias; endless streams have none."""

    groups: tuple[Mapping[frozenset[str], Figure], ...]
    """For each key class (`penstock.query.keys.key_classes`), by two or more of its members: the
    fraction of their combinations that are equal on the key."""

    conditions: Mapping[str, ConditionFigures]
    """Filters, theta predicates and the equalities that are in no key class, by their text."""

    costs: Costs
    """Seconds for each kind of work."""

    capacity: Figure
    """CPU-seconds a second that there are."""

    rows_warmup: float = 60.0
    """Seconds in which a shed ROWS window must fill."""

    horizon: float | None = None
    """Seconds after which an UNBOUNDED window is looked at."""

    distinct: Mapping[str, Mapping[str, Figure]] = field(default_factory=dict)
    """Different values of columns, by alias and name, as far as they are given."""

    unique: Mapping[str, Unique] = field(default_factory=dict)
    """Keys that tell the tuples of an input apart, by alias, as far as they are given."""

    training: Mapping[str, Training] = field(default_factory=dict)
    """Training tuples of streams, by alias, as far as they are given."""

    untrained: Mapping[str, str] = field(default_factory=dict)
    """Why a stream has no training tuples, by alias."""

    cells: Mapping[str, Figure] = field(default_factory=dict)
    """Different rows of aggregation sets, by alias, as far as they are given."""

    variations: Mapping[str, Figure] = field(default_factory=dict)
    """The standard deviation of the tuples of a second, as a part of their mean, by alias, as far
    as it is given."""

    notes: tuple[str, ...] = field(default=(), compare=False)
    """Notes for who reads a plan that was made from these figures."""

    handling: Mapping[Group, Figure] = field(default_factory=dict)
    """Seconds that each arrival takes, beyond `costs`, at the join where the inputs of an equality
    come together (V&N: handling cost), as far as they are given."""

    windows: Mapping[str, WindowCosts] = field(default_factory=dict)
    """Costs of single inputs' windows, by alias, as far as they are given instead of `costs`."""

    memory: float | None = None
    """Bytes for windows, indexes and inner results; None if there is no limit."""

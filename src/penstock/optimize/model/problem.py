"""The problem that a query sets its planner: flows, windows, and how selective every set is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from penstock.figure import Figure
from penstock.optimize.algebra.sets import Computed
from penstock.optimize.algebra.sides import Sides
from penstock.optimize.model.effort import Effort
from penstock.optimize.model.flow import Flow, equal_figures, flow_of
from penstock.optimize.options import Estimator, Servers
from penstock.query import Condition, Query
from penstock.query.keys import KeyClass, key_classes
from penstock.stats.groups import LISTED
from penstock.stats.known import ConditionFigures, Known
from penstock.stats.statistics import extra_equalities

Floats = NDArray[np.float64]
Masks = NDArray[np.int64]
Table = Any
"""A figure of every set of inputs: `Floats`, or `Computed` of a large problem."""

MOST_TABLED = 12
"""Up to so many inputs (4,096 sets) the searches go through tables of all sets."""
_MOST_KEYS = 62
"""As many key classes as the bits of a number tell apart."""

_WHATEVER_FLOWS = (
    "places",
    "keys",
    "key_masks",
    "theta_masks",
    "handling_masks",
    "sides",
    "masks",
    "key_fractions",
    "equal_fractions",
    "theta_fractions",
    "fractions",
    "is_large",
    "_own_fractions",
)
"""The properties of a problem that rest on the query and its selectivities alone."""


@dataclass(frozen=True)
class Problem:
    """A query with its statistics, as numbers. Inputs are bits: a set of them is a mask.

    The tables have one entry for every set of inputs, at the index that is its mask: arrays, or, of
    a problem that `is_large`, figures that are worked out one by one. `flows` are
    the inputs where they do not reach the joins as the statistics say. `effort` counts what is
    weighed for a decision, of this problem and of those that are made of it. Results over time
    wait for one shared server, or for a server of each operator. The estimator is that by which
    plans are compared.
    """

    query: Query
    known: Known
    flows: tuple[Flow, ...] = ()
    effort: Effort = field(default_factory=Effort, compare=False, repr=False)
    servers: Servers = "shared"
    estimator: Estimator = "rates"

    @property
    def size(self) -> int:
        return len(self.query.inputs)

    @property
    def everything(self) -> int:
        return (1 << self.size) - 1

    @cached_property
    def works(self) -> dict[str, float]:
        """Seconds of work a second of the plans that were asked for, by their texts."""
        return {}

    @cached_property
    def reached(self) -> dict[float, float]:
        """When numbers of results that were asked for would be there, were work done at once."""
        return {}

    @cached_property
    def inputs(self) -> tuple[Flow, ...]:
        return self.flows or tuple(flow_of(self.known, item) for item in self.query.inputs)

    def with_flows(self, flows: tuple[Flow, ...]) -> Problem:
        """The problem with other flows, and with all that is known of it whatever they are."""
        found = Problem(self.query, self.known, flows, self.effort, self.servers, self.estimator)
        same = {name: getattr(self, name) for name in _WHATEVER_FLOWS}
        # Where cached properties keep what they have found.
        vars(found).update(same)
        return found

    @cached_property
    def keys(self) -> tuple[KeyClass, ...]:
        return key_classes(self.query)

    @cached_property
    def key_masks(self) -> tuple[int, ...]:
        """The inputs of each key class."""
        return tuple(self.mask(key.streams) for key in self.keys)

    @cached_property
    def equal_figures(self) -> tuple[Mapping[frozenset[str], Figure], ...]:
        """By key class and members: the fraction of combinations that are equal on the key."""
        return tuple(equal_figures(self.known, number) for number in range(len(self.keys)))

    @cached_property
    def theta_masks(self) -> tuple[tuple[int, ConditionFigures], ...]:
        """The predicates that no key decides, with the inputs that must be bound for each."""
        extra = extra_equalities(self.query)
        texts = [(theta, str(theta)) for theta in self.query.thetas]
        texts += [(condition, text) for text, condition in extra.items()]
        return tuple((self._decided_by(c), self.known.conditions[text]) for c, text in texts)

    @cached_property
    def handling_masks(self) -> tuple[tuple[int, float], ...]:
        """The equalities that have a cost of their own: their inputs, and the seconds of each
        arrival at the join where these come together."""
        given = self.known.handling.items()
        costs = ((self.mask(group.streams), figure.value) for group, figure in given)
        return tuple((mask, seconds) for mask, seconds in costs if seconds)

    @cached_property
    def sides(self) -> Sides:
        """The costs of single windows; none where one cost stands for all that a join does."""
        costs = self.known.costs
        windows = self.known.windows if costs.join is None else {}
        given = {self.mask([alias]): each for alias, each in windows.items()}
        return Sides(
            {mask: each.settling(costs) for mask, each in given.items()},
            {mask: each.probing(costs) for mask, each in given.items()},
        )

    def handling(self, one: Masks, other: Masks) -> Floats:
        """For many pairs of sets: the seconds that the equalities which a join of the two decides
        take for each arrival."""
        total = np.zeros(np.broadcast(one, other).shape)
        for mask, seconds in self.handling_masks:
            total += np.where(decides(mask, one, other), seconds, 0.0)
        return total

    def _decided_by(self, theta: Condition) -> int:
        """The inputs that must be bound: those it reads, or all if it is a filter that waits."""
        return self.mask(theta.streams) if len(theta.streams) > 1 else self.everything

    @cached_property
    def places(self) -> dict[str, int]:
        """The numbers of the inputs, by their aliases."""
        return {alias: i for i, alias in enumerate(self.query.aliases)}

    def mask(self, aliases: Iterable[str]) -> int:
        """A set of inputs."""
        return sum(1 << self.places[alias] for alias in set(aliases))

    def members(self, mask: int) -> tuple[int, ...]:
        """The numbers of the inputs in a set."""
        return tuple(i for i in range(self.size) if mask >> i & 1)

    def fraction(self, mask: int) -> float:
        """The fraction of the set's combinations that satisfy all predicates within it."""
        return float(self.fractions[mask])

    def linked(self, one: int, other: int) -> bool:
        """Whether an equality links two sets."""
        return self.shared_key(one, other) is not None

    def shared_key(self, one: int, other: int) -> int | None:
        """The first key class that has members in both sets."""
        return next((k for k, m in enumerate(self.key_masks) if m & one and m & other), None)

    @cached_property
    def is_large(self) -> bool:
        """Whether there are too many sets of inputs for tables of all of them."""
        return self.size > MOST_TABLED or len(self.keys) > _MOST_KEYS

    def tabled(self, most: int) -> Problem | None:
        """The same problem with tables of all sets, up to so many inputs; None where that is too
        much: keys that more than ten inputs share have too many sets of their own."""
        if not self.is_large:
            return self
        widest = max((mask.bit_count() for mask in self.key_masks), default=0)
        if self.size > most or len(self.keys) > _MOST_KEYS or widest > LISTED:
            return None
        found = replace(self)
        vars(found)["is_large"] = False
        return found

    @cached_property
    def masks(self) -> Masks:
        return np.arange(0 if self.is_large else 1 << self.size)

    def key_fraction(self, key: int) -> Table:
        """By set: the fraction of combinations that are equal on a key."""
        return self._own_fractions[key] if self.is_large else self.key_fractions[key]

    @cached_property
    def _own_fractions(self) -> tuple[Computed, ...]:
        return tuple(Computed(partial(self._own_fraction, k)) for k in range(len(self.keys)))

    def _own_fraction(self, key: int, mask: int) -> float:
        members = mask & self.key_masks[key]
        if members.bit_count() < 2:
            return 1.0
        aliases = self.query.aliases
        streams = frozenset(aliases[i] for i in self.members(members))
        return self.equal_figures[key][streams].value

    def _product(self, mask: int) -> float:
        return prod(self.inputs[i].window for i in self.members(mask))

    def _equal(self, mask: int) -> float:
        members = (key & mask for key in self.key_masks)
        return prod(float(self._own_fractions[k][m]) for k, m in enumerate(members) if m & (m - 1))

    def _passing(self, mask: int) -> float:
        return prod(f.selectivity.value for theta, f in self.theta_masks if mask & theta == theta)

    def combinations_rate(self, mask: int) -> float:
        """The combinations/s of a set, whatever their predicates say."""
        total, product = 0.0, 1.0
        for i in self.members(mask):
            flow = self.inputs[i]
            total, product = total * flow.window + product * flow.rate, product * flow.window
        return total

    @cached_property
    def key_fractions(self) -> Floats:
        """By key class and set: the fraction of combinations that are equal on the key."""
        if not self.keys or self.is_large:
            return np.ones((0, len(self.masks)))
        return np.stack([self._key_fractions(k) for k in range(len(self.keys))])

    @cached_property
    def key_bits(self) -> Masks:
        """By set: the key classes that have members in it, as bits."""
        bits = np.zeros(len(self.masks), np.int64)
        for key, members in enumerate(self.key_masks):
            bits |= (self.masks & members != 0).astype(np.int64) << key
        return bits

    def first_keys(self, one: Masks, other: Masks) -> Masks:
        """For many pairs of sets: the first key class that has members in both, or −1."""
        shared = self.key_bits[one] & self.key_bits[other]
        # The exponent of the lowest bit; that of nothing is −1.
        lowest: Masks = np.frexp((shared & -shared).astype(np.float64))[1].astype(np.int64) - 1
        return lowest

    def key_gain(self, keys: Masks, one: Masks, other: Masks) -> Floats:
        """For many pairs of sets: how many times as selective they are together, by the given key
        class alone; 1 where there is none."""
        if not self.keys:
            return np.ones(len(one))
        apart = self.key_fractions[keys, one] * self.key_fractions[keys, other]
        both = self.key_fractions[keys, one | other]
        gained = np.divide(both, apart, out=np.zeros_like(both), where=apart > 0)
        return np.where(keys >= 0, gained, 1.0)

    @cached_property
    def equal_fractions(self) -> Table:
        """The fraction that is equal on all keys."""
        if self.is_large:
            return Computed(self._equal)
        product: Floats = self.key_fractions.prod(axis=0)
        return product

    @cached_property
    def theta_fractions(self) -> Table:
        """The fraction that satisfies the predicates other than equalities."""
        if self.is_large:
            return Computed(self._passing)
        out = np.ones(len(self.masks))
        for mask, figures in self.theta_masks:
            out[(self.masks & mask) == mask] *= figures.selectivity.value
        return out

    @cached_property
    def fractions(self) -> Table:
        equal, passing = self.equal_fractions, self.theta_fractions
        if self.is_large:
            return Computed(lambda mask: equal[mask] * passing[mask])
        return equal * passing

    @cached_property
    def window_products(self) -> Table:
        """The products of the window sizes."""
        if self.is_large:
            return Computed(self._product)
        products = np.ones(1)
        for flow in self.inputs:
            products = np.concatenate([products, products * flow.window])
        return products

    @cached_property
    def alive(self) -> Table:
        """The combinations alive at one time: `F_S·∏ W_i` (A&N Eq. 4)."""
        fractions, products = self.fractions, self.window_products
        if self.is_large:
            return Computed(lambda mask: fractions[mask] * products[mask])
        return fractions * products

    @cached_property
    def rates(self) -> Table:
        """Combinations/s: `F_S·Σ_k λ_k·∏_{i≠k} W_i` (A&N Eq. 3 for any number of inputs)."""
        fractions = self.fractions
        if self.is_large:
            return Computed(lambda mask: fractions[mask] * self.combinations_rate(mask))
        products, sums = np.ones(1), np.zeros(1)
        for flow in self.inputs:
            sums = np.concatenate([sums, sums * flow.window + products * flow.rate])
            products = np.concatenate([products, products * flow.window])
        return fractions * sums

    def _key_fractions(self, key: int) -> Floats:
        """One key class's fractions, found for the sets of its members and spread to all sets."""
        streams = self.keys[key].streams
        own = np.ones(1 << len(streams))
        for subset, figure in self.equal_figures[key].items():
            own[sum(1 << streams.index(alias) for alias in subset)] = figure.value
        index = np.zeros(len(self.masks), np.int64)
        for place, alias in enumerate(streams):
            index |= (self.masks >> self.query.aliases.index(alias) & 1) << place
        spread: Floats = own[index]
        return spread


def decides(predicate: int, one: Masks, other: Masks) -> NDArray[np.bool_]:
    """Which of many joins of two sets bring the inputs of a predicate together."""
    inside = ((one | other) & predicate) == predicate
    found: NDArray[np.bool_] = inside & (one & predicate != 0) & (other & predicate != 0)
    return found


def gain(fractions: Table, one: Masks | int, other: Masks | int) -> Floats:
    """How many times as selective two sets, or many pairs of sets, are together as apart."""
    apart = fractions[one] * fractions[other]
    both = fractions[one | other]
    gained: Floats = np.divide(both, apart, out=np.zeros_like(both), where=apart > 0)
    return gained

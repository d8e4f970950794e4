"""Trees for goals over time, by dynamic programming over sets of inputs (V&N §4.2).

Three metrics, each kept to its best for every set: the work that has come by a time, which decides
where one server does all; V&N's local rate maximization; and their local time minimization. Sets
have met as windows, ends of streams and filters let them, so that both heuristics are the paper's
where there are none of these.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from penstock.optimize.curves.totals import Totals
from penstock.optimize.joins.enumerate import joined
from penstock.optimize.joins.splits import best_of_each, splits
from penstock.optimize.joins.tree_search import Bools
from penstock.optimize.model.problem import MOST_TABLED, Floats, Masks, Problem, decides, gain
from penstock.plan.tree import Leaf, Node

Metric = Literal["work", "rate", "time"]

METRICS: tuple[Metric, ...] = ("work", "rate", "time")


@dataclass(frozen=True)
class Joins:
    """Joins of pairs of sets, by the time of the totals: the rows that come from either side,
    seconds for one of them, and the seconds that all candidates take."""

    left: Masks
    right: Masks
    rows: tuple[Floats, Floats]
    arrival: tuple[Floats, Floats]
    candidates: Floats

    @property
    def work(self) -> Floats:
        """Seconds that the joins take by then."""
        (one, other), (mine, its) = self.rows, self.arrival
        total: Floats = one * mine + other * its + self.candidates
        return total


@dataclass(frozen=True)
class GoalSearch:
    """The best trees of every set, bushy or left-deep.

    `share` is the part of all results that is wanted of them. Of more than twelve inputs, joins
    without a predicate are left out.
    """

    totals: Totals
    is_bushy: bool = True
    with_products: bool = True
    share: float = 1.0

    @property
    def problem(self) -> Problem:
        return self.totals.problem

    def best(self, metric: Metric) -> Node | None:
        """The best tree by a metric; None if every tree has a product that is not wanted."""
        whole = self.problem.everything
        found, split = self._tables[metric]
        return self._tree(split, whole, 0) if np.isfinite(found[whole, 0]) else None

    def value(self, metric: Metric) -> float:
        """The value of that tree: seconds of work, the share of the rate that is left, seconds."""
        found = float(self._tables[metric][0][self.problem.everything, 0])
        return -found if metric == "rate" else found

    def _tree(self, split: Masks, mask: int, depth: int) -> Node:
        if mask.bit_count() == 1:
            return Leaf(self.problem.query.aliases[mask.bit_length() - 1])
        left = int(split[mask, depth])
        below = min(depth + 1, split.shape[1] - 1)
        return joined(
            self.problem, self._tree(split, left, below), self._tree(split, mask ^ left, below)
        )

    @cached_property
    def _tables(self) -> dict[Metric, tuple[Floats, Masks]]:
        """By metric: the best value of each set (less is better) by depth, and its left side."""
        tables = {metric: self._empty(metric) for metric in METRICS}
        for pairs in splits(self._sets(), is_bushy=self.is_bushy):
            left, right = self._wanted(*pairs)
            if not len(left):
                continue
            self.problem.effort.parts += len(left)
            joins = self._figures(left, right)
            spent = tables["work"][0]
            work = spent[left, 0] + spent[right, 0] + joins.work
            for metric, (value, split) in tables.items():
                for depth, each in enumerate(self._values(metric, value, joins, work).T):
                    masks, places = best_of_each(left | right, each, work)
                    value[masks, depth], split[masks, depth] = each[places], left[places]
        return tables

    def _empty(self, metric: Metric) -> tuple[Floats, Masks]:
        depths = self.problem.size if metric == "time" and self.share < 1.0 else 1
        shape = (1 << self.problem.size, depths)
        value = np.full(shape, np.inf)
        singles = 1 << np.arange(self.problem.size)
        value[singles] = {"work": 0.0, "rate": -1.0, "time": 0.0}[metric]
        if metric == "time":
            value[singles] = self._leaf_times()[:, None] * self._shares(depths)
        return value, np.zeros(shape, np.int64)

    def _leaf_times(self) -> Floats:
        """Seconds until each stream has sent all that it sends by then; a table is there."""
        flows = self.problem.inputs
        rows = self.totals.results[1 << np.arange(len(flows))]
        rates = np.array([flow.rate for flow in flows])
        times: Floats = np.divide(rows, rates, out=np.zeros(len(flows)), where=rates > 0)
        return times

    def _shares(self, depths: int) -> Floats:
        """The part of its rows that a join needs, by depth: for a quarter of all results half of
        each side, and so on downwards (V&N Fig. 5)."""
        return np.asarray(self.share ** (0.5 ** np.arange(depths)))

    def _values(self, metric: Metric, value: Floats, joins: Joins, work: Floats) -> Floats:
        """By join and depth: the value of a tree with this join on top."""
        if metric == "work":
            return work[:, None]
        seconds = self.totals.seconds * self.problem.known.capacity.value
        if metric == "rate":
            one, other = -value[joins.left, 0], -value[joins.right, 0]
            (coming, meeting), (mine, its) = joins.rows, joins.arrival
            load = one * coming * mine + other * meeting * its + one * other * joins.candidates
            rate: Floats = -one * other / np.maximum(1.0, load / seconds)
            return rate[:, None]
        depths = value.shape[1]
        below = np.minimum(np.arange(depths) + 1, depths - 1)
        late = np.maximum(value[joins.left][:, below], value[joins.right][:, below])
        own = self.totals.seconds * np.maximum(1.0, joins.work / seconds)
        return np.maximum(late, own[:, None] * self._shares(depths))

    def _sets(self) -> Masks:
        """The sets that are joined."""
        masks = np.arange(1 << self.problem.size)
        wanted = (np.bitwise_count(masks) > 1) & (masks & ~self._of_tables != 0)
        sets: Masks = masks[wanted if self._has_products else wanted & self._connected]
        return sets

    @property
    def _has_products(self) -> bool:
        return self.with_products and self.problem.size <= MOST_TABLED

    @cached_property
    def _of_tables(self) -> int:
        return sum(1 << i for i, flow in enumerate(self.problem.inputs) if flow.is_table)

    @cached_property
    def _connected(self) -> Bools:
        """By set: whether predicates link all its members, directly or through each other."""
        links = [*self.problem.key_masks, *(mask for mask, _ in self.problem.theta_masks)]
        masks = np.arange(1 << self.problem.size)
        reached = masks & -masks
        for _ in range(self.problem.size):
            for link in links:
                reached |= np.where(reached & link != 0, link & masks, 0)
        found: Bools = reached == masks
        return found

    def _wanted(self, left: Masks, right: Masks) -> tuple[Masks, Masks]:
        """The pairs of sets that may be joined."""
        is_wanted = self._is_input(left) & self._is_input(right)
        if not self._has_products:
            is_wanted &= self._connected[left] & self._connected[right]
        return left[is_wanted], right[is_wanted]

    def _is_input(self, masks: Masks) -> Bools:
        """Whether sets may be a side of a join: tables alone would never change."""
        found: Bools = (np.bitwise_count(masks) == 1) | (masks & ~self._of_tables != 0)
        return found

    def _figures(self, left: Masks, right: Masks) -> Joins:
        problem, costs, rows = self.problem, self.problem.known.costs, self.totals.results
        keys = problem.first_keys(left, right)
        each = problem.handling(left, right)
        if costs.join is not None:
            each = each + costs.join
        else:
            each = each + costs.move + costs.insert + costs.expire + costs.probe
            each = each + np.where(keys >= 0, costs.hash, 0.0)
        keep = 0.0 if costs.join is not None else costs.keep
        arrival = tuple(
            each
            + np.where(np.bitwise_count(mine) > 1, keep, 0.0)
            + problem.sides.arrivals(mine, other)
            for mine, other in ((left, right), (right, left))
        )
        return Joins(
            left,
            right,
            (rows[left], rows[right]),
            (arrival[0], arrival[1]),
            self.totals.met[left | right] * self._candidate(left, right, keys),
        )

    def _candidate(self, left: Masks, right: Masks, keys: Masks) -> Floats:
        """Seconds that a combination of both sides' tuples takes, as `candidate_seconds` says."""
        problem, costs = self.problem, self.problem.known.costs
        apart = problem.fractions[left] * problem.fractions[right]
        compare = 0.0 if costs.join is not None else costs.compare
        seconds: Floats = apart * problem.key_gain(keys, left, right) * compare
        reaching = apart * gain(problem.equal_fractions, left, right)
        for mask, figures in problem.theta_masks:
            here = decides(mask, left, right)
            seconds += np.where(here, reaching * figures.cost.value, 0.0)
            reaching = np.where(here, reaching * figures.selectivity.value, reaching)
        return seconds

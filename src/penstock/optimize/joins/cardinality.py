"""The traditional cost of join trees, by cardinalities alone: V&N's rival (§5.4).

All tuples are taken to be there when the query begins, and a join by key to build a table of its
smaller side and to look the larger one up in it; nothing arrives, waits or leaves a window.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from penstock.optimize.curves.totals import Totals, size_of, totals_at_once
from penstock.optimize.joins.enumerate import joined
from penstock.optimize.joins.splits import best_of_each, splits
from penstock.optimize.model.problem import Floats, Masks, Problem, decides, gain
from penstock.plan.tree import Leaf, Node, TreeJoin, branches, leaves


def cardinality_cost(problem: Problem, plan: TreeJoin) -> float:
    """Seconds of work that a tree takes for all tuples, as if they were there at once."""
    sets = [(_mask(problem, b.left), _mask(problem, b.right)) for b in branches(plan.root)]
    left, right = (np.array([pair[side] for pair in sets], np.int64) for side in (0, 1))
    rows = {mask: _rows(problem, mask) for pair in sets for mask in (*pair, pair[0] | pair[1])}
    sizes = [np.array([rows[int(m)] for m in side]) for side in (left, right)]
    is_keyed = np.array([b.method != "nested" for b in branches(plan.root)])
    linked = np.array([problem.linked(int(a), int(b)) for a, b in sets]) & is_keyed
    thetas = np.array([_theta_seconds(problem, a, b) for a, b in sets])
    joins = _join_seconds(problem, (left, right), (sizes[0], sizes[1]), linked, thetas)
    return float(joins.sum()) + _filters(problem)


def _filters(problem: Problem) -> float:
    """Seconds that the filters take; the same for all trees."""
    sizes = (size_of(problem, flow.alias) for flow in problem.inputs)
    pairs = zip(problem.inputs, sizes, strict=True)
    return sum(
        size * flow.raw_rate / flow.rate * flow.filter_cost for flow, size in pairs if flow.rate
    )


@dataclass(frozen=True)
class CardinalitySearch:
    """Dynamic programming over all sets for the least traditional cost."""

    problem: Problem
    is_bushy: bool = True

    def best(self) -> Node:
        """The tree of the least cost, products included."""
        return self._tree(self.problem.everything)

    @cached_property
    def _totals(self) -> Totals:
        return totals_at_once(self.problem)

    def _tree(self, mask: int) -> Node:
        if mask.bit_count() == 1:
            return Leaf(self.problem.query.aliases[mask.bit_length() - 1])
        left = int(self._split[mask])
        return joined(self.problem, self._tree(left), self._tree(mask ^ left))

    @cached_property
    def _split(self) -> Masks:
        """By set: the left side of the last join of its best tree."""
        problem, rows = self.problem, self._totals.results
        masks = problem.masks[np.bitwise_count(problem.masks) > 1]
        cost, split = np.zeros(len(problem.masks)), np.zeros(len(problem.masks), np.int64)
        for left, right in splits(masks, is_bushy=self.is_bushy):
            problem.effort.parts += len(left)
            linked = problem.first_keys(left, right) >= 0
            each = _join_seconds(
                problem, (left, right), (rows[left], rows[right]), linked, self._thetas(left, right)
            )
            total = cost[left] + cost[right] + each
            found, places = best_of_each(left | right, total, each)
            cost[found], split[found] = total[places], left[places]
        return split

    def _thetas(self, left: Masks, right: Masks) -> Floats:
        """Seconds that predicates other than equalities take for a pair of rows that meets."""
        problem = self.problem
        reaching, seconds = gain(problem.equal_fractions, left, right), np.zeros(len(left))
        for mask, figures in problem.theta_masks:
            here = decides(mask, left, right)
            seconds += np.where(here, reaching * figures.cost.value, 0.0)
            reaching = np.where(here, reaching * figures.selectivity.value, reaching)
        return seconds


def _join_seconds(
    problem: Problem,
    sides: tuple[Masks, Masks],
    rows: tuple[Floats, Floats],
    linked: np.ndarray[tuple[int, ...], np.dtype[np.bool_]],
    thetas: Floats,
) -> Floats:
    """Seconds of joins of two sets, by the rows of each and what other predicates take a pair."""
    costs, both = problem.known.costs, rows[0] + rows[1]
    total = both * problem.handling(*sides) + rows[0] * rows[1] * thetas
    if costs.join is not None:
        return np.asarray(total + both * costs.join)
    smaller, larger = np.minimum(*rows), np.maximum(*rows)
    by_key = smaller * (costs.hash + costs.insert) + larger * (costs.hash + costs.probe)
    by_loop = rows[0] * rows[1] * costs.compare
    return np.asarray(total + both * costs.move + np.where(linked, by_key, by_loop))


def _theta_seconds(problem: Problem, left: int, right: int) -> float:
    reaching, seconds = float(gain(problem.equal_fractions, left, right)), 0.0
    for mask, figures in problem.theta_masks:
        if mask & (left | right) == mask and mask & left and mask & right:
            seconds += reaching * figures.cost.value
            reaching *= figures.selectivity.value
    return seconds


def _rows(problem: Problem, mask: int) -> float:
    """Rows of a set of inputs, if all their tuples are there."""
    sizes = (size_of(problem, problem.query.aliases[i]) for i in problem.members(mask))
    return float(np.prod(list(sizes))) * problem.fraction(mask)


def _mask(problem: Problem, node: Node) -> int:
    return problem.mask(leaves(node))

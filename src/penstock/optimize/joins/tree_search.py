"""The join tree of least work, by dynamic programming over sets of inputs.

What a set of inputs yields does not depend on how it was joined, so that the best tree of a set is
made of best trees of its parts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from penstock.optimize.joins.beam import promising_tree
from penstock.optimize.joins.enumerate import joined
from penstock.optimize.model.problem import Floats, Masks, Problem, decides, gain
from penstock.optimize.model.rows_met import RowsMet, rows_met
from penstock.plan.tree import Leaf, Node

Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class TreeSearch:
    """Dynamic programming over all splits, or (left-deep) those that split one input off.

    Without products, both sides of a join must be linked by a predicate.
    """

    problem: Problem
    is_bushy: bool = True
    with_products: bool = True

    def best(self) -> Node | None:
        """The tree of least work; None if every tree has a product and products are not wanted.

        Of many inputs a tree of little work, as not all sets can be gone through.
        """
        if self.problem.is_large:
            return promising_tree(self.problem, self.is_bushy, self.with_products)
        whole = self.problem.everything
        return self._tree(whole) if np.isfinite(self._table[0][whole]) else None

    @cached_property
    def _table(self) -> tuple[Floats, Masks]:
        """By set: the least work of a tree, and the left side of its last join."""
        problem = self.problem
        work = np.full(len(problem.masks), np.inf)
        split = np.zeros(len(problem.masks), np.int64)
        singles = 1 << np.arange(problem.size)
        work[singles] = 0.0
        for mask in sorted(problem.masks.tolist(), key=int.bit_count):
            if mask.bit_count() < 2 or mask & ~self._tables == 0:
                continue
            left = _sides(mask) if self.is_bushy else mask ^ singles[singles & mask != 0]
            right = mask ^ left
            problem.effort.parts += len(left)
            total = work[left] + work[right] + self.join_work(left, right)
            if not self.with_products:
                total[~self._linked(left, right)] = np.inf
            best = int(total.argmin())
            work[mask], split[mask] = total[best], left[best]
        return work, split

    def _tree(self, mask: int) -> Node:
        if mask.bit_count() == 1:
            return Leaf(self.problem.query.aliases[mask.bit_length() - 1])
        left = int(self._table[1][mask])
        return joined(self.problem, self._tree(left), self._tree(mask ^ left))

    @cached_property
    def _tables(self) -> int:
        flows = self.problem.inputs
        return sum(1 << i for i, flow in enumerate(flows) if flow.is_table)

    def join_work(self, left: Masks, right: Masks) -> Floats:
        """Seconds of work a second of the joins of many pairs of sets, as `load_of` counts it."""
        problem, costs, rates = self.problem, self.problem.known.costs, self._rates
        arriving: Floats = rates[left] + rates[right]
        meeting = self._meeting(left, right)
        handled = arriving * problem.handling(left, right)
        for mine, other in ((left, right), (right, left)):
            handled += rates[mine] * problem.sides.arrivals(mine, other)
        if costs.join is not None:
            return handled + arriving * costs.join + self._theta_work(left, right, meeting)
        work = arriving * (costs.move + costs.insert + costs.expire + costs.probe)
        for side in (left, right):
            work += np.where(np.bitwise_count(side) > 1, rates[side] * costs.keep, 0.0)
        keys = problem.first_keys(left, right)
        work += np.where(keys >= 0, arriving * costs.hash, 0.0)
        work += meeting * problem.key_gain(keys, left, right) * costs.compare
        return handled + work + self._theta_work(left, right, meeting)

    @cached_property
    def _met(self) -> RowsMet | None:
        return rows_met(self.problem)

    @cached_property
    def _rates(self) -> Floats:
        """Rows/s of each set that arrive at the next join; of a view over ROWS windows, all that
        its batches join arrive anew."""
        problem = self.problem
        rates: Floats = problem.rates if self._met is None else problem.fractions * self._met.table
        return rates

    def _meeting(self, left: Masks, right: Masks) -> Floats:
        """Pairs/s that joins of two sets find by time alone."""
        problem = self.problem
        if self._met is not None:
            apart = problem.fractions[left] * problem.fractions[right]
            pairs: Floats = apart * self._met.table[left | right]
            return pairs
        found: Floats = (
            problem.rates[left] * problem.alive[right] + problem.rates[right] * problem.alive[left]
        )
        return found

    def _theta_work(self, left: Masks, right: Masks, meeting: Floats) -> Floats:
        problem = self.problem
        work = np.zeros(len(left))
        if not problem.theta_masks:
            return work
        reaching = meeting * gain(problem.equal_fractions, left, right)
        for mask, figures in problem.theta_masks:
            here = decides(mask, left, right)
            work[here] += reaching[here] * figures.cost.value
            reaching[here] *= figures.selectivity.value
        return work

    def _linked(self, left: Masks, right: Masks) -> Bools:
        linked = self.problem.first_keys(left, right) >= 0
        for mask, _ in self.problem.theta_masks:
            linked |= decides(mask, left, right)
        return linked


def _sides(mask: int) -> Masks:
    """The parts of a set that hold its lowest member, all but the whole."""
    low = mask & -mask
    sides = np.array([low])
    rest = mask ^ low
    while rest:
        bit = rest & -rest
        sides = np.concatenate([sides, sides | bit])
        rest ^= bit
    return sides[:-1]

"""A&N's exhaustive optimizer: of all join trees the one to shed from (A&N §5.1)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from penstock.optimize.algebra.posynomial import Posynomial, value
from penstock.optimize.joins.enumerate import all_trees
from penstock.optimize.model.folding import with_sample_weights
from penstock.optimize.model.load import load_of
from penstock.optimize.model.problem import Problem
from penstock.optimize.model.work import output_of
from penstock.optimize.shedding.bound import output_bound
from penstock.optimize.shedding.fractions import Kept, best_drops
from penstock.optimize.shedding.keeping import floors
from penstock.plan.tree import Node, TreeJoin

ROUGHLY = 1e-4
"""How exactly the output of trees is compared: as that of the plans that are weighed."""
SHARE = 0.75
"""The part of the evaluations after which the search ends: the rest is for what is proposed."""

Loaded = tuple[Node, Posynomial]
"""A tree with its load."""


@dataclass(frozen=True)
class ExhaustiveSearch:
    """All left-deep and bushy trees, products included, or those of `trees`.

    The most promising come first, as long as the evaluations last. Where all windows are of time,
    most trees are passed over by a bound: they cannot beat the best so far.
    """

    problem: Problem
    trees: Iterable[Node] | None = None

    def best(self) -> Node | None:
        """The tree of the most R(p) = output/utilization; None where none can be shed enough."""
        waiting = sorted(self._loaded, key=lambda each: self._load_at(each, self._ones))
        found: tuple[Node, Kept] | None = None
        while waiting and not self._is_spent:
            tree, load = waiting.pop(0)
            if found is not None and not self._may_beat(load, found[1]):
                continue
            kept = self._shed(load)
            if kept is not None and kept.load <= self._capacity and kept.fractions == self._ones:
                return tree  # The least work of all, with nothing shed.
            if kept is not None and (found is None or kept.output > found[1].output):
                found = tree, kept
                at = kept.fractions
                waiting.sort(key=lambda each: self._load_at(each, at))
        self.problem.effort.left_out += len(waiting)
        return None if found is None else found[0]

    def _load_at(self, loaded: Loaded, fractions: tuple[float, ...]) -> float:
        return value(loaded[1], fractions)

    @cached_property
    def _loaded(self) -> list[Loaded]:
        """The trees with their loads as shed plans have them."""
        shed = with_sample_weights(self.problem)
        trees = all_trees(self.problem) if self.trees is None else self.trees
        return [(tree, load_of(shed, TreeJoin(shed.query, tree))) for tree in trees]

    @cached_property
    def _output(self) -> Posynomial:
        return output_of(self.problem)

    @cached_property
    def _floors(self) -> list[float]:
        return floors(self.problem)

    @property
    def _ones(self) -> tuple[float, ...]:
        return (1.0,) * self.problem.size

    @property
    def _capacity(self) -> float:
        return self.problem.known.capacity.value

    @property
    def _is_spent(self) -> bool:
        effort = self.problem.effort
        return effort.evaluations >= SHARE * effort.most

    def _shed(self, load: Posynomial) -> Kept | None:
        effort = self.problem.effort
        effort.evaluations += 1
        return best_drops(load, self._output, self._floors, self._capacity, ROUGHLY, effort)

    def _may_beat(self, load: Posynomial, best: Kept) -> bool:
        at, low = best.fractions, self._floors
        return output_bound(load, self._output, at, low, self._capacity) > best.output

"""The probe orders of least work, by dynamic programming over the inputs already visited."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from penstock.optimize.joins.beam import promising_orders
from penstock.optimize.model.problem import Floats, Masks, Problem, gain
from penstock.optimize.model.rows_met import RowsMet, rows_met
from penstock.plan.multiway import MultiwayJoin, Probe, ProbeOrder

_NOWHERE = 0
"""The place of tuples that no key class has brought where they are; class k is place k + 1."""


def best_orders(problem: Problem) -> MultiwayJoin:
    """Every stream's best probe order: each is exact by itself, since no state is shared.

    Of many inputs an order of little work, as not all sets can be gone through.
    """
    if problem.is_large:
        return promising_orders(problem)
    return MultiwayJoin(problem.query, _orders(problem, problem.everything))


def best_orders_of(problem: Problem, joins: Iterable[Iterable[str]]) -> MultiwayJoin:
    """The best probe orders of several joins, each of some of the inputs, of which there are not
    too many for tables of all sets."""
    assert not problem.is_large, "there are tables"
    masks = (problem.mask(members) for members in joins)
    orders = (order for mask in masks for order in _orders(problem, mask))
    return MultiwayJoin(problem.query, tuple(orders))


def _orders(problem: Problem, mask: int) -> tuple[ProbeOrder, ...]:
    """The orders of the streams of a set of inputs, in which they visit all others of it."""
    met = rows_met(problem)
    return tuple(
        _ProbeSearch(problem, i, met).best(mask)
        for i in problem.members(mask)
        if not problem.inputs[i].is_table
    )


@dataclass(frozen=True)
class _ProbeSearch:
    """One driver's search. A state is the set of inputs in hand and the key class by which the
    last one was found, because tuples that stay with it need not move.

    A view over ROWS windows has the rows `met` by its batches, all of which set out."""

    problem: Problem
    driver: int
    met: RowsMet | None = None

    def best(self, mask: int) -> ProbeOrder:
        work, came = self._table()
        place = int(work[mask].argmin())
        targets: list[int] = []
        while mask != 1 << self.driver:
            target, before = (int(n) for n in came[mask, place])
            targets.append(target)
            mask, place = mask ^ (1 << target), before
        return self._order(targets[::-1])

    def _table(self) -> tuple[Floats, NDArray[np.int64]]:
        """By set and place: the least work so far, and the target and place it came from."""
        problem = self.problem
        places = len(problem.keys) + 1
        work = np.full((len(problem.masks), places), np.inf)
        came = np.zeros((len(problem.masks), places, 2), np.int64)
        start = 1 << self.driver
        work[start, _NOWHERE] = 0.0
        masks = problem.masks[problem.masks & start != 0]
        sizes = np.bitwise_count(masks)
        for size in range(1, problem.size):
            level = masks[sizes == size]
            rows, here = np.nonzero(np.isfinite(work[level]))
            # Backwards, so that of equal orders the one that follows FROM stays.
            for target in reversed(range(problem.size)):
                free = level[rows] >> target & 1 == 0
                self._visit(level[rows[free]], here[free], target, work, came)
        return work, came

    def _visit(
        self, bound: Masks, places: Masks, target: int, work: Floats, came: NDArray[np.int64]
    ) -> None:
        """Let many sets, each at its place, visit one more input."""
        self.problem.effort.parts += len(bound)
        arrival = self._places_after(bound, places, target)
        total = work[bound, places] + self._visit_work(bound, places, target, arrival)
        after = bound | (1 << target)
        better = np.flatnonzero(total < work[after, arrival])
        # Of several ways to one state the last one written stays: the cheapest.
        better = better[np.argsort(-total[better], kind="stable")]
        after, arrival = after[better], arrival[better]
        work[after, arrival] = total[better]
        came[after, arrival, 0] = target
        came[after, arrival, 1] = places[better]

    def _places_after(self, bound: Masks, places: Masks, target: int) -> Masks:
        """The key class of a visit: the one they are at if it serves, else the first shared."""
        bits = self.problem.key_bits[1 << target]
        stays = (places != _NOWHERE) & (bits >> np.maximum(places - 1, 0) & 1 != 0)
        first = self.problem.first_keys(bound, np.full(len(bound), 1 << target)) + 1
        return np.where(stays, places, first)

    def _visit_work(self, bound: Masks, places: Masks, target: int, arrival: Masks) -> Floats:
        """Seconds of work a second of a visit, as `load_of` counts it."""
        problem, costs = self.problem, self.problem.known.costs
        partials = self._partials(bound)
        meeting = self._meeting(bound, target)
        handled = partials * problem.handling(bound, np.full(len(bound), 1 << target))
        if costs.join is not None:
            simple: Floats = partials * costs.join + self._theta_work(bound, target, meeting)
            simple += handled
            return simple
        moves = ((arrival != places) | (arrival == _NOWHERE)) & (bound != 1 << self.driver)
        targets = np.full(len(bound), 1 << target)
        work = np.where(moves, partials * costs.move, 0.0)
        probe = costs.probe + problem.sides.probe.get(1 << target, 0.0)
        work += partials * (probe + np.where(arrival != _NOWHERE, costs.hash, 0.0))
        work += meeting * problem.key_gain(arrival - 1, bound, targets) * costs.compare
        work += handled
        return work + self._theta_work(bound, target, meeting)

    def _partials(self, bound: Masks) -> Floats:
        """Partial results/s whose last member is a new tuple of the driver."""
        problem = self.problem
        if self.met is None:
            others = problem.window_products[bound ^ (1 << self.driver)]
            found: Floats = problem.inputs[self.driver].rate * problem.fractions[bound] * others
            return found
        return np.where(self._finds(bound), problem.fractions[bound] * self.met.table[bound], 0.0)

    def _meeting(self, bound: Masks, target: int) -> Floats:
        """Combinations/s of these with tuples of a target."""
        problem, both = self.problem, bound | 1 << target
        if self.met is None:
            found: Floats = self._partials(bound) * problem.alive[1 << target]
            return found
        apart = problem.fractions[bound] * problem.fractions[1 << target]
        return np.where(self._finds(both), apart * self.met.table[both], 0.0)

    def _finds(self, bound: Masks) -> NDArray[np.bool_]:
        """Whether a route of a view over ROWS windows finds anything of sets of inputs."""
        assert self.met is not None, "other routes find something of all"
        finds: NDArray[np.bool_] = bound & self.met.younger(self.driver) == 0
        return finds

    def _theta_work(self, bound: Masks, target: int, meeting: Floats) -> Floats:
        problem = self.problem
        work = np.zeros(len(bound))
        if not problem.theta_masks:
            return work
        reaching = meeting * gain(problem.equal_fractions, bound, 1 << target)
        for mask, figures in problem.theta_masks:
            rest = mask & ~(1 << target)
            here = (bound & rest == rest) if mask >> target & 1 else np.zeros(len(bound), np.bool_)
            work[here] += reaching[here] * figures.cost.value
            reaching[here] *= figures.selectivity.value
        return work

    def _order(self, targets: list[int]) -> ProbeOrder:
        problem = self.problem
        bound, probes = 1 << self.driver, []
        for target in targets:
            is_keyed = problem.linked(bound, 1 << target)
            probes.append(Probe(problem.query.aliases[target], "sorted" if is_keyed else "nested"))
            bound |= 1 << target
        return ProbeOrder(problem.query.aliases[self.driver], tuple(probes))

"""The best multi-way join of few inputs for a view over ROWS windows, of all that there are.

All rows of the windows are sorted anew for each key by which some route searches them, so that the
best order of one stream depends on those of the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations, product

from penstock.optimize.model.problem import Problem
from penstock.optimize.model.rows_met import RowsMet
from penstock.optimize.model.rows_view import visiting
from penstock.optimize.model.work import searched_by
from penstock.plan.multiway import MultiwayJoin, Probe, ProbeOrder

MOST_INPUTS = 4
"""Up to so many inputs (1,296 plans) all are weighed."""


@dataclass(frozen=True)
class _Choice:
    """A probe order, the seconds a second of its visits, and the windows that it searches, each by
    a key, as bits."""

    order: ProbeOrder
    seconds: float
    searches: int


def best_rows_orders(problem: Problem) -> MultiwayJoin:
    """The probe orders of least work together, if inputs are few."""
    met = RowsMet.of(problem)
    choices = [
        [_weighed(met, order) for order in _orders(problem, i)]
        for i, flow in enumerate(problem.inputs)
        if not flow.is_table
    ]
    sorting = [_sorting_seconds(met, i) for i in range(problem.size)]
    classes = len(problem.keys) + 1

    def seconds(chosen: Sequence[_Choice]) -> float:
        searches = 0
        for each in chosen:
            searches |= each.searches
        times = ((searches >> i * classes) & ((1 << classes) - 1) for i in range(problem.size))
        sorts = sum(s * max(1, bits.bit_count()) for s, bits in zip(sorting, times, strict=True))
        return sum(each.seconds for each in chosen) + sorts

    best = min(product(*choices), key=seconds)
    return MultiwayJoin(problem.query, tuple(each.order for each in best))


def _orders(problem: Problem, driver: int) -> Iterator[ProbeOrder]:
    """All probe orders of a stream, that of FROM first."""
    others = [i for i in range(problem.size) if i != driver]
    for targets in permutations(others):
        bound, probes = 1 << driver, []
        for target in targets:
            is_keyed = problem.linked(bound, 1 << target)
            probes.append(Probe(problem.query.aliases[target], "sorted" if is_keyed else "nested"))
            bound |= 1 << target
        yield ProbeOrder(problem.query.aliases[driver], tuple(probes))


def _weighed(met: RowsMet, order: ProbeOrder) -> _Choice:
    problem, searches = met.problem, 0
    for target, key in searched_by(problem, order):
        place = problem.places[target] * (len(problem.keys) + 1)
        searches |= 1 << place + (0 if key is None else key + 1)
    return _Choice(order, sum(term.coefficient for term in visiting(met, order)), searches)


def _sorting_seconds(met: RowsMet, i: int) -> float:
    """Seconds a second that sorting an input by one key takes."""
    costs = met.problem.known.costs
    if costs.join is not None or met.problem.inputs[i].is_table:
        return 0.0
    each = costs.insert + costs.expire + met.problem.sides.settle.get(1 << i, 0.0)
    return met.settling(i) * each

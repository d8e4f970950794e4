"""Uncertain routes: which operators of a route may as well come in another order (QM §5.4)."""

from __future__ import annotations

from penstock.optimize.mesh.problem import MeshProblem, Route
from penstock.papers.query_mesh import Floats

# Yields of a thousand sampled tuples are a few per cent off: what two operators take in one order
# and in the other is the same if it differs by less.
UNCERTAIN_MARGIN = 0.02


def stages_of(
    problem: MeshProblem, weights: Floats, route: Route, margin: float = UNCERTAIN_MARGIN
) -> tuple[Route, ...]:
    """A route in stages, for the tuples with the given weights: ⟨2, 3|1, 4⟩ is (2,), (3, 1), (4,).

    Operators share a stage if each may come first in it, and any two cost nearly the same in both
    orders.
    """
    stages: list[list[int]] = []
    rows, start, done = weights, weights, 0
    for operator in route:
        if stages and problem.figures.allows(operator, done):
            pairs = [(other, operator) for other in stages[-1]]
            if all(_is_close(problem, start, pair, margin) for pair in pairs):
                stages[-1].append(operator)
                rows = rows * problem.yields[:, operator]
                continue
        done = sum(1 << each for stage in stages for each in stage)
        start = rows
        stages.append([operator])
        rows = rows * problem.yields[:, operator]
    return tuple(tuple(stage) for stage in stages)


def _is_close(problem: MeshProblem, rows: Floats, pair: tuple[int, int], margin: float) -> bool:
    """Whether two operators cost nearly the same in both orders for the rows that reach them."""
    ahead = _seconds(problem, rows, pair)
    return abs(_seconds(problem, rows, pair[::-1]) - ahead) < margin * ahead


def _seconds(problem: MeshProblem, rows: Floats, route: Route) -> float:
    return float(rows @ problem.costs(route))

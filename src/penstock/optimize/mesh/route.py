"""The best route of a part of the training tuples: exact over sets of operators, else by rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from penstock.errors import PlanError
from penstock.optimize.mesh.problem import MeshProblem, Route
from penstock.papers.query_mesh import Floats

# A table of 2^12 sets for a hundred tuples is 3 MB, and one search of it takes about a millisecond;
# each further operator doubles both.
EXACT_OPERATORS = 12

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class _Layer:
    """All sets of one size, and for each the operators that may have come last.

    `before[s, i]` is set s without its operator `last[s, i]`; `blocked` is infinite where that
    operator may not come then, else 0.
    """

    sets: Ints
    before: Ints
    last: Ints
    blocked: Floats


@dataclass(frozen=True)
class RouteSearch:
    """Best routes of many parts (QM §4.3: dynamic programming [26], or operator rank [17]).

    How many rows are left after a set of operators does not depend on their order, so the cheapest
    order of a set is that of a set with one operator less, and the last one.
    """

    problem: MeshProblem

    def best(self, parts: Sequence[NDArray[np.bool_]]) -> list[Route]:
        """For each part, given by its members, the route on which it takes the least time."""
        if self.problem.size > EXACT_OPERATORS:
            return [self._ranked(members) for members in parts]
        return self._cheapest(np.array([self._rows[members].sum(axis=0) for members in parts]))

    def best_of_each(self) -> list[Route]:
        """The best route of every tuple by itself."""
        if self.problem.size > EXACT_OPERATORS:
            return [self._ranked(own) for own in np.eye(len(self.problem.weights), dtype=np.bool_)]
        return self._cheapest(self._rows)

    @cached_property
    def _rows(self) -> Floats:
        """The weighted rows of each tuple that are left after each set of operators."""
        rows = self.problem.weights[:, None]
        for operator in range(self.problem.size):
            rows = np.hstack((rows, rows * self.problem.yields[:, [operator]]))
        return rows

    @cached_property
    def _layers(self) -> list[_Layer]:
        size, figures = self.problem.size, self.problem.figures
        layers: list[_Layer] = []
        for count in range(1, size + 1):
            sets = [s for s in range(1 << size) if s.bit_count() == count]
            # Backwards, so that of equal orders the one that follows the operators' numbers stays.
            last = [[k for k in reversed(range(size)) if s >> k & 1] for s in sets]
            before = [[s ^ 1 << k for k in ks] for s, ks in zip(sets, last, strict=True)]
            blocked = [
                [0.0 if figures.allows(k, b) else np.inf for k, b in zip(ks, bs, strict=True)]
                for ks, bs in zip(last, before, strict=True)
            ]
            layers.append(_Layer(*map(np.array, (sets, before, last, blocked))))
        return layers

    def _cheapest(self, rows: Floats) -> list[Route]:
        """The best route for each row of weighted rows by set."""
        enter, leave = self.problem.enter, self.problem.leave
        # By set and then by part: what is gathered for all parts lies together.
        rows = np.ascontiguousarray(rows.T)
        work = np.zeros_like(rows)
        came = np.zeros(rows.shape, np.int64)
        for layer in self._layers:
            total = np.take(rows, layer.before, axis=0) * enter[layer.last][:, :, None]
            total += np.take(work, layer.before, axis=0)
            total += rows[layer.sets][:, None, :] * leave[layer.last][:, :, None]
            total += layer.blocked[:, :, None]
            work[layer.sets] = total.min(axis=1)
            places = np.arange(len(layer.sets))[:, None]
            came[layer.sets] = layer.last[places, total.argmin(axis=1)]
        if not np.all(np.isfinite(work[-1])):
            raise _unreachable(self.problem)
        return [_followed(back) for back in came.T]

    def _ranked(self, members: NDArray[np.bool_]) -> Route:
        """A route by rank, (yield − 1) / cost, among the operators that may come (QM [17])."""
        problem = self.problem
        rows, yields = problem.weights[members], problem.yields[members]
        route: list[int] = []
        while len(route) < problem.size:
            ready = ready_after(problem, route)
            means = rows @ yields / rows.sum() if rows.sum() else np.ones(problem.size)
            seconds = problem.enter + problem.leave * means
            ranks = (means - 1) / np.maximum(seconds, np.finfo(np.float64).tiny)
            route.append(min(ready, key=lambda k: float(ranks[k])))
            rows = rows * yields[:, route[-1]]
        return tuple(route)


def first_route(problem: MeshProblem) -> Route:
    """The operators by their numbers, each as soon as it may come."""
    route: list[int] = []
    while len(route) < problem.size:
        route.append(ready_after(problem, route)[0])
    return tuple(route)


def ready_after(problem: MeshProblem, route: list[int]) -> list[int]:
    """The operators that may come next."""
    done = sum(1 << k for k in route)
    ready = [
        k for k in range(problem.size) if not done >> k & 1 and problem.figures.allows(k, done)
    ]
    if not ready:
        raise _unreachable(problem)
    return ready


def _followed(came: Ints) -> Route:
    """The route that leads to the set of all operators."""
    done, route = len(came) - 1, []
    while done:
        route.append(int(came[done]))
        done ^= 1 << route[-1]
    return tuple(reversed(route))


def _unreachable(problem: MeshProblem) -> PlanError:
    return PlanError(
        f"no order of the operators of {problem.training.driver} leads through all of them",
        hint="some must come after others that never come",
    )

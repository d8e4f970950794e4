"""Partitions of training tuples, and what the mesh of each costs (QM §4.3)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from penstock.optimize.mesh.classifier import SPLIT_GAIN, Classifier, induce
from penstock.optimize.mesh.columns import Labels, Numbers, Texts, telling_attributes
from penstock.optimize.mesh.problem import MeshProblem, Route
from penstock.optimize.mesh.route import RouteSearch
from penstock.papers.query_mesh import Floats, mesh_cost


@dataclass(frozen=True)
class Candidate:
    """The mesh of a partition: `labels[t]` is the part of tuple t, `taken[t]` the route that the
    classifier really gives it; `cost` is QM Eq. 2, in seconds a tuple. No classifier: one route."""

    labels: Labels
    routes: tuple[Route, ...]
    classifier: Classifier | None
    taken: Labels
    cost: float


@dataclass(frozen=True)
class MeshSpace:
    """All partitions of a problem's training tuples. It remembers what it has worked out."""

    problem: MeshProblem
    _best: dict[bytes, Route] = field(default_factory=dict)
    _costs: dict[Route, Floats] = field(default_factory=dict)
    _found: dict[tuple[Route, ...], Candidate] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """The number of training tuples."""
        return len(self.problem.weights)

    @property
    def trees(self) -> int:
        """How many meshes were worked out."""
        return len(self._found)

    @property
    def parts(self) -> int:
        """How many parts the best route was worked out for."""
        return len(self._best)

    @cached_property
    def search(self) -> RouteSearch:
        return RouteSearch(self.problem)

    @cached_property
    def attributes(self) -> list[Numbers | Texts]:
        return telling_attributes(self.problem.training)

    @cached_property
    def own_routes(self) -> list[Route]:
        """The best route of each tuple by itself."""
        return self.search.best_of_each()

    @cached_property
    def single(self) -> Candidate:
        """The mesh of one route: the best for all tuples together."""
        together = np.zeros(self.size, np.int64)
        return self._alone(together, self.best_routes(together)[0])

    @property
    def least_saving(self) -> float:
        """The least that a split or a route must save, in seconds a tuple."""
        return SPLIT_GAIN * self.single.cost

    def best_routes(self, labels: Labels) -> list[Route]:
        """The best route of every part."""
        parts = {m.tobytes(): m for m in (labels == p for p in range(int(labels.max()) + 1))}
        new = {key: members for key, members in parts.items() if key not in self._best}
        if new:
            self._best.update(zip(new, self.search.best([*new.values()]), strict=True))
        return [self._best[key] for key in parts]

    def costs(self, route: Route) -> Floats:
        """Seconds that each tuple takes on a route."""
        if route not in self._costs:
            self._costs[route] = self.problem.costs(route)
        return self._costs[route]

    def candidate(self, labels: Labels) -> Candidate:
        """The mesh of a partition."""
        return self._induced(labels, self.assigned(labels))

    def better(self, labels: Labels, limit: float) -> Candidate | None:
        """The mesh of a partition if it costs less than `limit`; trees are grown only for
        partitions that could."""
        assigned = self.assigned(labels)
        if assigned not in self._found and self.bound(assigned) >= limit:
            return None
        found = self._induced(labels, assigned)
        return found if found.cost < limit else None

    def assigned(self, labels: Labels) -> tuple[Route, ...]:
        """The route of each tuple, if every tuple went with its part."""
        routes = self.best_routes(labels)
        return tuple(routes[part] for part in labels)

    def bound(self, assigned: tuple[Route, ...]) -> float:
        """No tree that gives these routes costs less: one route is never below the single one; more
        take a level each, and no tuple does better than on the cheapest of them."""
        routes = tuple(dict.fromkeys(assigned))
        figures, weights = self.problem.figures, self.problem.weights
        ideal = np.min([self.costs(route) for route in routes], axis=0)
        several = mesh_cost(weights, ideal, np.full(self.size, figures.level), 2, figures.overhead)
        return min(self.single.cost, several)

    def _induced(self, labels: Labels, assigned: tuple[Route, ...]) -> Candidate:
        if assigned not in self._found:
            self._found[assigned] = self._mesh(labels, assigned)
        return replace(self._found[assigned], labels=labels)

    def _mesh(self, labels: Labels, assigned: tuple[Route, ...]) -> Candidate:
        routes = tuple(dict.fromkeys(assigned))
        if len(routes) == 1 or not self.attributes:
            return self._alone(labels, min(routes, key=self._together))
        weights, figures = self.problem.weights, self.problem.figures
        costs = np.column_stack([self.costs(route) for route in routes])
        wanted = np.array([routes.index(route) for route in assigned])
        tree = induce(self.attributes, weights, costs, wanted, figures.level, self.least_saving)
        cost = mesh_cost(
            weights,
            costs[np.arange(self.size), tree.taken],
            tree.levels.astype(np.float64) * figures.level,
            len(np.unique(tree.taken)),
            figures.overhead,
        )
        return Candidate(labels, routes, tree, tree.taken, cost)

    def alone(self, route: Route) -> Candidate:
        """The mesh of one given route."""
        return self._alone(np.zeros(self.size, np.int64), route)

    def _together(self, route: Route) -> float:
        return float(self.problem.weights @ self.costs(route))

    def _alone(self, labels: Labels, route: Route) -> Candidate:
        cost = self._together(route) + self.problem.figures.overhead
        return Candidate(labels, (route,), None, np.zeros(self.size, np.int64), cost)

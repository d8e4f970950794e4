"""Where a search for a mesh begins (QM §4.7, selecting a start solution)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from penstock.optimize.mesh.columns import Labels, Numbers
from penstock.optimize.mesh.space import MeshSpace
from penstock.papers.query_mesh import Floats
from penstock.plan.mesh_search import Start

# Tuples are alike in content when their attributes lie a quarter of their ranges apart on average.
CONTENT_DISTANCE = 0.25

# QM leaves open how many partitions a random pick is the best of; more than a few cost more time
# than the search needs to get away from a bad one.
RANDOM_PICKS = 5


def route_driven(space: MeshSpace, random: np.random.Generator) -> Labels:
    """Tuples that do best on the same of a few routes.

    Of the routes that are best for some tuple alone, the one that saves the most is added to the
    best for all, as long as it is worth a route.
    """
    routes = list(dict.fromkeys((*space.single.routes, *space.own_routes)))
    costs = np.column_stack([space.costs(route) for route in routes])
    least = max(space.least_saving, space.problem.figures.overhead)
    chosen = [0]
    while True:
        now = costs[:, chosen].min(axis=1)
        savings = space.problem.weights @ np.maximum(now[:, None] - costs, 0.0)
        if savings.max() <= least:
            return numbered(costs[:, chosen].argmin(axis=1))
        chosen.append(int(savings.argmax()))


def content_driven(space: MeshSpace, random: np.random.Generator) -> Labels:
    """Tuples that are alike in their attributes: clusters by complete linkage."""
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import pdist

    if not space.attributes or space.size < 2:
        return one_route(space, random)
    places = np.hstack([_place(space, a) for a in range(len(space.attributes))])
    clusters = linkage(pdist(places, "cityblock"), "complete")
    threshold = CONTENT_DISTANCE * len(space.attributes)
    return numbered(fcluster(clusters, threshold, "distance"))


def random_pick(space: MeshSpace, random: np.random.Generator) -> Labels:
    """The cheapest of a few random partitions."""
    picks = []
    for _ in range(RANDOM_PICKS):
        parts = int(random.integers(1, space.size + 1))
        picks.append(numbered(random.integers(0, parts, space.size)))
    return min(picks, key=lambda labels: space.candidate(labels).cost)


def one_route(space: MeshSpace, random: np.random.Generator) -> Labels:
    """All tuples together."""
    return np.zeros(space.size, np.int64)


def one_each(space: MeshSpace, random: np.random.Generator) -> Labels:
    """Every tuple by itself."""
    return np.arange(space.size)


BEGINNINGS: dict[Start, Callable[[MeshSpace, np.random.Generator], Labels]] = {
    "route": route_driven,
    "content": content_driven,
    "random": random_pick,
    "one": one_route,
    "each": one_each,
}


def numbered(labels: Labels) -> Labels:
    """The same parts, numbered from 0 on without gaps."""
    numbers = np.cumsum(np.bincount(labels) > 0) - 1
    return np.asarray(numbers[labels], np.int64)


def _place(space: MeshSpace, attribute: int) -> Floats:
    """An attribute as coordinates, such that values are at most 1 apart."""
    found = space.attributes[attribute]
    if isinstance(found, Numbers):
        codes = found.codes.astype(np.float64)[:, None]
        return np.asarray(codes / codes.max(), np.float64)
    return np.asarray(np.eye(len(found.seen))[found.places] / 2, np.float64)

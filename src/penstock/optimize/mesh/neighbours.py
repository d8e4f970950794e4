"""The partitions next to a partition: one tuple moved, two parts merged, or one split (QM §4.3)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from penstock.optimize.mesh.columns import Labels, Numbers
from penstock.optimize.mesh.space import MeshSpace
from penstock.optimize.mesh.starts import numbered


def neighbour(space: MeshSpace, labels: Labels, random: np.random.Generator) -> Labels:
    """A partition near the given one, at random: mostly next to it, else a few steps away.

    A tree often changes for the better only with the second step.
    """
    for _ in range(int(random.geometric(0.5))):
        labels = _next(space, labels, random)
    return labels


def _next(space: MeshSpace, labels: Labels, random: np.random.Generator) -> Labels:
    match int(random.integers(3)):
        case 0:
            return moved(labels, random)
        case 1:
            return merged(labels, random)
        case _:
            return split(space, labels, random)


def moved(labels: Labels, random: np.random.Generator) -> Labels:
    """One tuple goes to another part, or to one of its own."""
    found = labels.copy()
    found[random.integers(len(labels))] = random.integers(int(labels.max()) + 2)
    return numbered(found)


def merged(labels: Labels, random: np.random.Generator) -> Labels:
    """Two parts become one."""
    one, other = random.integers(int(labels.max()) + 1, size=2)
    return numbered(np.where(labels == other, one, labels))


def split(space: MeshSpace, labels: Labels, random: np.random.Generator) -> Labels:
    """A part becomes two: by a test of one attribute, or by who does better on another route.

    A tree can tell parts apart that differ in content; parts that differ in routes are worth it.
    """
    chosen = int(random.integers(len(labels)))
    leaves = (
        _alike(space, chosen, random)
        if space.attributes and random.integers(2)
        else _keener(space, chosen, labels)
    )
    return numbered(np.where(leaves & (labels == labels[chosen]), labels.max() + 1, labels))


def _alike(space: MeshSpace, chosen: int, random: np.random.Generator) -> NDArray[np.bool_]:
    """The tuples on one tuple's side of a test: up to its number, or with its text."""
    attribute = space.attributes[int(random.integers(len(space.attributes)))]
    if isinstance(attribute, Numbers):
        return np.asarray(attribute.codes <= attribute.codes[chosen])
    return np.asarray(attribute.places == attribute.places[chosen])


def _keener(space: MeshSpace, chosen: int, labels: Labels) -> NDArray[np.bool_]:
    """The tuples that do better on one tuple's best route than on their part's."""
    here = space.best_routes(labels)[labels[chosen]]
    return space.costs(space.own_routes[chosen]) < space.costs(here)

"""Whether a mesh is worth it: its gain must be clear, and hold for tuples that it has not seen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from penstock.optimize.mesh.classifier import induce, takes
from penstock.optimize.mesh.columns import Labels, telling_attributes
from penstock.optimize.mesh.space import Candidate, MeshSpace
from penstock.papers.query_mesh import Floats
from penstock.plan.mesh import Fork, Goes, splits
from penstock.stats.training import Training

# Costs that are measured and yields of a thousand sampled tuples are a few per cent off: a mesh
# that saves less may as well be slower.
GAIN_MARGIN = 0.05

# To leave tuples out tells something if their like is left: of fewer training tuples each stands
# for a twentieth of the sample and more, and its yields are means of many.
FEWEST_TO_LEAVE_OUT = 20
FOLDS = 5


INSEPARABLE = "no attribute tells tuples with different best routes apart"


def obstacle(space: MeshSpace) -> str | None:
    """Why no mesh can be better than one route, if that is plain before any search."""
    if not space.size:
        return "the sample is empty"
    if 2 * space.problem.figures.overhead > space.single.cost:
        return "so few tuples come that a second route takes more than it could save"
    possible = _saved(ideal_cost(space), space.single.cost)
    if possible < GAIN_MARGIN:
        return (
            f"the best route of every tuple by itself would save {possible:.1%}, "
            f"within the margin of {GAIN_MARGIN:.0%}"
        )
    return None if space.attributes else INSEPARABLE


def objection(space: MeshSpace, found: Candidate, seed: int) -> str | None:
    """Why one route is better than the mesh that was found; None if it is not."""
    if len(np.unique(found.taken)) == 1:
        return INSEPARABLE
    gain = _saved(found.cost, space.single.cost)
    if gain < GAIN_MARGIN:
        return f"the gain of {gain:.1%} is within the margin of {GAIN_MARGIN:.0%}"
    held = held_out_gain(space, found, seed)
    if held < GAIN_MARGIN:
        return f"the gain of {gain:.1%} is {held:.1%} for tuples that were left out of the training"
    return None


def ideal_cost(space: MeshSpace) -> float:
    """Seconds a tuple if each took its own best route at no further cost."""
    routes = dict.fromkeys((*space.single.routes, *space.own_routes))
    ideal = np.min([space.costs(route) for route in routes], axis=0)
    return float(space.problem.weights @ ideal) + space.problem.figures.overhead


def held_out_gain(space: MeshSpace, found: Candidate, seed: int) -> float:
    """The part of the single route's cost that the mesh saves for tuples that its classifier has
    not seen: each fifth is left out in turn (QM §4.2, cross-validation).

    Tuples with a text that only they have say nothing. Few tuples are not left out at all.
    """
    single = space.costs(space.single.routes[0])
    if space.size < FEWEST_TO_LEAVE_OUT or found.classifier is None:
        return _saved(found.cost, space.single.cost)
    folds = np.random.default_rng(seed).permutation(space.size) % FOLDS
    mesh = np.full(space.size, np.nan)
    for fold in range(FOLDS):
        _judge(space, found, folds == fold, mesh)
    judged = ~np.isnan(mesh)
    weights = space.problem.weights[judged]
    if not weights.sum():
        return _saved(found.cost, space.single.cost)
    return _saved(float(weights @ mesh[judged]), float(weights @ single[judged]))


def _judge(space: MeshSpace, found: Candidate, out: NDArray[np.bool_], mesh: Floats) -> None:
    """Note what the tuples left out take by a classifier that is trained on the others."""
    training = space.problem.training
    rest = _rows(training, ~out)
    costs = np.column_stack([space.costs(route) for route in found.routes])
    fork = _trained(space, rest, costs[~out], _labels(space, found)[~out], ~out)
    read = [training.attributes.index(s.attribute) for s in splits(fork) if s.limit is None]
    texts = {place: {row[place] for row in rest.values} for place in read}
    for t in np.flatnonzero(out):
        values = training.values[t]
        if all(values[place] in seen for place, seen in texts.items()):
            mesh[t] = costs[t, takes(fork, training.attributes, values)]


def _trained(
    space: MeshSpace, rest: Training, costs: Floats, labels: Labels, kept: NDArray[np.bool_]
) -> Fork:
    attributes = telling_attributes(rest)
    weights = space.problem.weights[kept]
    seen, wanted = np.unique(labels, return_inverse=True)
    if not attributes or len(seen) == 1:
        return Goes(int((weights @ costs).argmin()))
    tree = induce(
        attributes, weights, costs, wanted, space.problem.figures.level, space.least_saving
    )
    return tree.fork({route: route for route in range(costs.shape[1])})


def _labels(space: MeshSpace, found: Candidate) -> Labels:
    return np.array([found.routes.index(route) for route in space.assigned(found.labels)])


def _rows(training: Training, kept: NDArray[np.bool_]) -> Training:
    chosen = [int(t) for t in np.flatnonzero(kept)]
    return replace(
        training,
        values=tuple(training.values[t] for t in chosen),
        weights=tuple(training.weights[t] for t in chosen),
        yields=tuple(training.yields[t] for t in chosen),
    )


def _saved(cost: float, single: float) -> float:
    """The part of a cost that is saved."""
    return 1 - cost / single if single > 0 else 0.0

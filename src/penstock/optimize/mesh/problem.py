"""The problem that training tuples set: what every operator takes, and what it makes of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from penstock.errors import StatsError
from penstock.papers.query_mesh import Floats, route_costs
from penstock.stats.training import Training

Route = tuple[int, ...]
"""An order of all operators, by their numbers."""


@dataclass(frozen=True)
class MeshFigures:
    """Seconds that a driver's operators and its classifier take, and which operators must wait.

    Operator k takes `enter[k]` for a row that goes in and `leave[k]` for one that comes out. It may
    come once all operators of one of the sets in `after[k]` (bit masks) are done: (0,) is any time.
    `level` is for one test of one tuple. `overhead` is for a further route (OVH of QM Eq. 2), in
    seconds a tuple: seconds a second over the driver's rate.
    """

    enter: tuple[float, ...]
    leave: tuple[float, ...]
    after: tuple[tuple[int, ...], ...]
    level: float
    overhead: float

    def allows(self, operator: int, done: int) -> bool:
        """Whether an operator may come when those of a set are done."""
        return any(done & needed == needed for needed in self.after[operator])


@dataclass(frozen=True)
class MeshProblem:
    """Training tuples and figures as arrays: `weights[t]` add up to 1, `yields[t, k]`."""

    training: Training
    figures: MeshFigures

    def __post_init__(self) -> None:
        _check(self.training, self.figures)

    @cached_property
    def weights(self) -> Floats:
        weights = np.array(self.training.weights, np.float64)
        return weights / weights.sum() if len(weights) else weights

    @cached_property
    def yields(self) -> Floats:
        shape = (len(self.training.weights), self.size)
        return np.array(self.training.yields, np.float64).reshape(shape)

    @cached_property
    def enter(self) -> Floats:
        return np.array(self.figures.enter)

    @cached_property
    def leave(self) -> Floats:
        return np.array(self.figures.leave)

    @property
    def size(self) -> int:
        """The number of operators."""
        return len(self.training.operators)

    def costs(self, route: Route) -> Floats:
        """Seconds that each training tuple takes on a route."""
        return route_costs(self.yields, route, self.enter, self.leave)


def _check(training: Training, figures: MeshFigures) -> None:
    """Refuse figures that cannot be of this training, and yields that cannot be."""
    where = f"the training tuples of {training.driver}"
    size = len(training.operators)
    if {len(figures.enter), len(figures.leave), len(figures.after)} != {size}:
        raise StatsError(
            f"{where} know {size} operators, the costs are of {len(figures.enter)}",
            hint="take the sample again: the query has changed since",
        )
    weights = np.array(training.weights, np.float64)
    if len(weights) and not (np.all(weights >= 0) and 0 < weights.sum() < np.inf):
        raise StatsError(f"weights of {where} are not parts of a whole", hint="they add up to 1")
    if any(len(row) != size for row in training.yields) or len(training.yields) != len(weights):
        raise StatsError(f"{where} do not each have a yield for every operator")
    yields = np.array(training.yields, np.float64)
    if not np.all(np.isfinite(yields) & (yields >= 0)):
        raise StatsError(
            f"a yield of {where} is no number of rows", hint="yields are finite and not negative"
        )

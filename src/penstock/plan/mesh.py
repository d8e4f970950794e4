"""Query mesh: tuples of one stream take different routes, and an eddy, which decides at each step.

A route is an order of filters and probes. A classifier looks at a driving tuple alone, so every
route gives the same results: partners come before the tuple in the total order, whatever its way.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from penstock.plan.drops import NO_DROPS, DropBoxes
from penstock.plan.mesh_search import MeshSearch
from penstock.plan.multiway import MultiwayJoin, Probe
from penstock.query import Condition, Query


@dataclass(frozen=True)
class Screen:
    """A filter of the driver, at its place among the probes."""

    condition: Condition


Operator = Probe | Screen


@dataclass(frozen=True)
class MeshRoute:
    """Stages one after another. In what order the operators of a stage come, a lottery decides
    while the query runs: they cost too nearly the same (QM §5.4, ⟨2, 3|1, 4⟩)."""

    stages: tuple[tuple[Operator, ...], ...]

    @property
    def operators(self) -> tuple[Operator, ...]:
        """All of them, each stage in the order in which it is written."""
        return tuple(operator for stage in self.stages for operator in stage)

    @property
    def is_certain(self) -> bool:
        return all(len(stage) == 1 for stage in self.stages)


@dataclass(frozen=True)
class Goes:
    """A leaf of a classifier: the number of a route."""

    route: int


@dataclass(frozen=True)
class Split:
    """A test of one attribute: a number (a boolean is 0 or 1, a time its microseconds, a date its
    days) of at most `limit`, or a text among `values`. NULL and NaN do not pass it."""

    attribute: str
    limit: float | None
    values: frozenset[str]
    passed: Fork
    failed: Fork


Fork = Split | Goes


@dataclass(frozen=True)
class Prospect:
    """The costs of a mesh by its training, in seconds for a driving tuple (QM Eq. 2).

    `routes` are what the routes cost the tuples that take them, `mesh` is all of it in the mean,
    with classification, `single` the route of the multi-way join that it is weighed against.
    `reason` says why one route is enough.
    """

    routes: tuple[float, ...]
    mesh: float
    single: float
    reason: str = ""

    @property
    def gain(self) -> float:
        """The part of the single route's seconds that the mesh spares."""
        return 1.0 - self.mesh / self.single if self.single > 0.0 else 0.0


@dataclass(frozen=True)
class DriverMesh:
    """The routes of one stream's new tuples, and the decision tree that gives each its route.

    `shares` are the parts of the training tuples that take each route. Every route holds every
    filter of the driver and a probe of every other input, once.
    """

    driver: str
    classifier: Fork
    routes: tuple[MeshRoute, ...]
    shares: tuple[float, ...]
    prospect: Prospect | None = field(default=None, compare=False)

    @property
    def main(self) -> MeshRoute:
        """The route that the most tuples take."""
        return self.routes[max(range(len(self.routes)), key=lambda r: self.shares[r])]


@dataclass(frozen=True)
class MeshJoin:
    """Join all inputs at once; every stream has a mesh, if only of one route (QM).

    A filter that comes after a probe in some route waits: it is among `query.thetas`, and whoever
    else probes the driver's state checks it. All others are among `query.filters`.

    `window` tuples of a stream are classified at once, or as many as are read; those of a route are
    a ruster if they are at least `ruster`, else they go with the most. `single` is the multi-way
    join that it was weighed against, `search` how it was found.
    """

    query: Query
    meshes: tuple[DriverMesh, ...]
    drops: DropBoxes = NO_DROPS
    early: tuple[str, ...] = ()
    window: int | None = None
    ruster: int = 1
    single: MultiwayJoin | None = field(default=None, compare=False)
    search: MeshSearch | None = field(default=None, compare=False)

    def mesh(self, driver: str) -> DriverMesh:
        """The mesh of one stream."""
        return next(mesh for mesh in self.meshes if mesh.driver == driver)


@dataclass(frozen=True)
class Eddy:
    """Join all inputs at once; after each operator a router decides which one is next.

    It goes by the content of the tuples: for every operator it learns the attribute with the
    highest gain ratio, and how many tuples pass by its values. One decision is for `batch` tuples.
    """

    query: Query
    batch: int = 1
    drops: DropBoxes = NO_DROPS
    early: tuple[str, ...] = ()


def splits(fork: Fork) -> Iterator[Split]:
    """The tests of a classifier, from its root on."""
    if isinstance(fork, Split):
        yield fork
        yield from splits(fork.passed)
        yield from splits(fork.failed)


def attributes_of(mesh: DriverMesh) -> tuple[str, ...]:
    """The columns that a classifier looks at, in the order in which it meets them."""
    return tuple(dict.fromkeys(split.attribute for split in splits(mesh.classifier)))

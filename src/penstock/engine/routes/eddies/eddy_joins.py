"""Eddy joins: a router that learns, batch by batch, where the tuples of a stream should go first.

Tuples are told apart by the values of one attribute. What came of each class in every window is
counted, and each class turns next to the window that gives the fewest rows for one that goes in.
Attributes are tried one after another; then the one that spares the most is kept, and now and then
another is tried again. As what is expected follows from the driving tuple alone, what a router
would decide at each hop is an order for each class, and a batch runs as a mesh of these orders.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from penstock.engine.routes.eddies.eddy_classes import Classes, classes_of
from penstock.engine.routes.mesh_routes import mesh_routing
from penstock.engine.routes.multiway_routes import Routing, shared_keys
from penstock.engine.routes.rusters import Rusters
from penstock.engine.routes.screening import Screened
from penstock.engine.rows.layout import Layout
from penstock.engine.wire.facts import EddySample, Fact, OperatorFlow
from penstock.engine.wire.packets import as_stream, from_streams
from penstock.plan.mesh import DriverMesh, Eddy, Goes, MeshJoin, MeshRoute, Operator, Screen
from penstock.plan.mesh_filters import waiting
from penstock.plan.multiway import Probe

DECAY = 0.8
"""The weight of what was counted before, whenever the same attribute is looked at again."""
AGAIN = 8
"""Once all attributes are known, every so many batches another one is tried again."""
_TUPLES = ""
"""Stands for a window where the tuples of a class are counted."""
KEPT = 500
"""Tuples of a packet from which classes are made."""


@dataclass
class DriverEddy:
    """The router of one stream: rows that went into each window and came out, by attribute and
    class; the classes of attributes, as soon as there is a sample; what is looked at now, and where
    each class goes first."""

    driver: str
    attributes: tuple[str, ...]
    targets: tuple[str, ...]
    classes: dict[str, Classes] | None = None
    counts: dict[tuple[str, int, str], tuple[float, float]] = field(default_factory=dict)
    known: set[str] = field(default_factory=set)
    attribute: str = ""
    firsts: dict[int, str] = field(default_factory=dict)

    def turn(self, batch: int) -> None:
        """Choose the attribute of a batch."""
        every = list(self.classes or ())
        if not every:
            return
        unknown = [name for name in every if name not in self.known]
        if unknown:
            self.attribute = unknown[0]
        elif batch % AGAIN == 0:
            self.attribute = every[batch // AGAIN % len(every)]
        else:
            self.attribute = min(every, key=self._cost)

    def mesh(self, layout: Layout) -> DriverMesh:
        """An order for each class of the attribute."""
        found = (self.classes or {}).get(self.attribute)
        count = 1 if found is None else found.count
        orders = [self._order(layout, number) for number in range(count)]
        self.firsts = {number: order[0] for number, order in enumerate(orders)}
        routes = tuple(self._route(layout, order) for order in orders)
        fork = Goes(0) if found is None else found.fork(self.attribute)
        return DriverMesh(self.driver, fork, routes, (1.0 / count,) * count)

    def learn(self, facts: Iterable[Fact]) -> None:
        """Take in what a batch has told of this stream."""
        mine = [fact for fact in facts if getattr(fact, "driver", None) == self.driver]
        flows = [f for f in mine if isinstance(f, OperatorFlow) and f.is_probe]
        if flows:
            self._count(flows)
        sample = from_streams(f.tuples for f in mine if isinstance(f, EddySample))
        if self.classes is None and sample is not None:
            self.classes = classes_of(sample)

    def _count(self, flows: Sequence[OperatorFlow]) -> None:
        """Add what went in and came out to what is known, which fades."""
        for key, (went_in, came_out) in list(self.counts.items()):
            if key[0] == self.attribute:
                self.counts[key] = (DECAY * went_in, DECAY * came_out)
        for flow in flows:
            key = (self.attribute, flow.route, flow.operator)
            went_in, came_out = self.counts.get(key, (0.0, 0.0))
            self.counts[key] = (went_in + flow.went_in, came_out + flow.passed)
            if flow.operator == self.firsts.get(flow.route):
                key = (self.attribute, flow.route, _TUPLES)
                self.counts[key] = (self.counts.get(key, (0.0, 0.0))[0] + flow.went_in, 0.0)
        self.known.add(self.attribute)

    def _gives(self, attribute: str, number: int, target: str) -> float:
        """Rows that come out of a window for one of a class that goes in: one, if unknown."""
        went_in, came_out = self.counts.get((attribute, number, target), (0.0, 0.0))
        return (came_out + 1.0) / (went_in + 1.0)

    def _cost(self, attribute: str) -> float:
        """Probes of a tuple, on average over classes, if each goes where the fewest rows are."""
        total = weights = 0.0
        assert self.classes is not None, "asked once there are classes"
        for number in range(self.classes[attribute].count):
            weight, rows = self.counts.get((attribute, number, _TUPLES), (0.0, 0.0))[0], 1.0
            for gives in sorted(self._gives(attribute, number, t) for t in self.targets):
                total += weight * rows
                rows *= gives
            weights += weight
        return total / weights if weights else float("inf")

    def _order(self, layout: Layout, number: int) -> list[str]:
        """The windows of a class: that with the fewest rows of those that a key leads to."""
        left, bound = list(self.targets), [self.driver]
        while left:
            near = [t for t in left if shared_keys(layout, bound, [t])] or left
            best = min(near, key=lambda target: self._gives(self.attribute, number, target))
            left.remove(best)
            bound.append(best)
        return bound[1:]

    def _route(self, layout: Layout, order: Sequence[str]) -> MeshRoute:
        """Filters first, as the query has them; those that wait for the joins come last."""
        query, driver = layout.query, self.driver
        operators: tuple[Operator, ...] = (
            *map(Screen, query.filters_of(driver)),
            *(Probe(target, "sorted") for target in order),
            *(Screen(c) for c in waiting(query) if c.streams == {driver}),
        )
        return MeshRoute(tuple((operator,) for operator in operators))


@dataclass(frozen=True)
class EddyJoins:
    """The routers of all streams of an eddy over joins."""

    plan: Eddy
    layout: Layout
    drivers: tuple[DriverEddy, ...]

    def routing(self, batch: int) -> Routing:
        """The routes of one batch. So many tuples that one decision is for go with the most."""
        for driver in self.drivers:
            driver.turn(batch)
        meshes = tuple(driver.mesh(self.layout) for driver in self.drivers)
        size = self.plan.batch
        mesh = MeshJoin(self.layout.query, meshes)
        if size > 1:
            mesh = MeshJoin(self.layout.query, meshes, window=size, ruster=size)
        # What classes do is told apart only where every route is drawn by itself.
        draws = {each.driver: tuple((route,) for route in each.routes) for each in meshes}
        return mesh_routing(mesh, self.layout, draws)

    def screener(self, rusters: Rusters, batch: int) -> EddyScreener | Rusters:
        """Who sorts the new tuples of a stream; as long as it has no classes, it takes samples."""
        own = next(each for each in self.drivers if each.driver == rusters.driver)
        if own.classes is not None or not own.attributes:
            return rusters.at(batch)
        return EddyScreener(rusters.at(batch), own.attributes)

    def learn(self, facts: Sequence[Fact]) -> None:
        """Take in what a batch has told."""
        for driver in self.drivers:
            driver.learn(facts)


@dataclass(frozen=True)
class EddyScreener:
    """Sorts new tuples as `rusters` do, and tells the attributes of some of them."""

    rusters: Rusters
    sampled: tuple[str, ...]

    @property
    def attributes(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.rusters.attributes, *self.sampled)))

    def screen(self, rows: pa.RecordBatch, first: int = 0) -> Screened:
        """Sort tuples; `first` is the arrival number of the first of them."""
        found = self.rusters.screen(rows, first)
        some = rows.select(list(self.sampled)).slice(0, KEPT)
        sample = EddySample(self.rusters.driver, as_stream(some).to_pybytes(), b"", (), ())
        return Screened(found.passes, found.rusters, (*found.facts, sample))

"""Adaptive routing: decisions that a plan leaves to be made while it runs, batch by batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from penstock.engine.routes.eddies.eddy_filters import EddyFilters
from penstock.engine.routes.eddies.eddy_joins import DriverEddy, EddyJoins
from penstock.engine.routes.multiway_routes import Routing
from penstock.engine.routes.routing import routing_of
from penstock.engine.routes.ruster_lottery import RusterLottery
from penstock.engine.routes.screening import Screener
from penstock.engine.rows.layout import Layout
from penstock.engine.wire.facts import Fact
from penstock.plan.mesh import Eddy, MeshJoin
from penstock.plan.plan import Plan
from penstock.query.query import Input


@dataclass
class AdaptiveRouting:
    """Draws the order of uncertain stages, and keeps what eddies have learned.

    Nothing of it must survive a crash: whatever is decided, the results are the same.
    """

    plan: Plan
    layout: Layout
    lottery: RusterLottery = field(default_factory=RusterLottery)
    eddies: tuple[EddyFilters, ...] = field(init=False)
    joins: EddyJoins | None = field(init=False)

    def __post_init__(self) -> None:
        plan = self.plan
        self.joins = _joins(plan, self.layout) if isinstance(plan, Eddy) else None
        self.eddies = _eddies(plan) if isinstance(plan, Eddy) and self.joins is None else ()

    @cached_property
    def certain(self) -> Routing:
        """The routes as the plan has them."""
        return routing_of(self.plan, self.layout)

    def routing(self, batch: int) -> Routing:
        """The routes of one batch; a plan that batches cannot follow is refused."""
        certain = self.certain
        if self.joins is not None:
            return self.joins.routing(batch)
        if not _is_uncertain(self.plan) or not isinstance(self.plan, MeshJoin):
            return certain
        return routing_of(self.plan, self.layout, self.lottery.draws(self.plan, batch))

    def screeners(self, batch: int, routing: Routing) -> Mapping[str, Screener]:
        """Who takes the new tuples of an input through its filters, by alias."""
        eddies: dict[str, Screener] = {each.driver: each.at(batch) for each in self.eddies}
        if self.joins is not None:
            return {each.driver: self.joins.screener(each, batch) for each in routing.rusters}
        return eddies | {rusters.driver: rusters.at(batch) for rusters in routing.rusters}

    def learn(self, facts: Sequence[Fact]) -> None:
        """Take in what a batch has told."""
        self.lottery.learn(facts)
        for eddy in self.eddies:
            eddy.learn(facts)
        if self.joins is not None:
            self.joins.learn(facts)


def _is_uncertain(plan: Plan) -> bool:
    """Whether some routes of a mesh are."""
    meshes = plan.meshes if isinstance(plan, MeshJoin) else ()
    return not all(route.is_certain for mesh in meshes for route in mesh.routes)


def _joins(plan: Eddy, layout: Layout) -> EddyJoins | None:
    """The router of an eddy that has orders of probes to decide on."""
    aliases = plan.query.aliases
    if len(aliases) < 3:
        return None
    drivers = tuple(
        DriverEddy(
            item.alias, _attributes(item), tuple(alias for alias in aliases if alias != item.alias)
        )
        for item in plan.query.streams
    )
    return EddyJoins(plan, layout, drivers)


def _eddies(plan: Eddy) -> tuple[EddyFilters, ...]:
    """An eddy for each stream that has an order of filters to decide on."""
    filters = {item: plan.query.filters_of(item.alias) for item in plan.query.streams}
    return tuple(
        EddyFilters(item.alias, conditions, _attributes(item), plan.batch)
        for item, conditions in filters.items()
        if len(conditions) > 1
    )


def _attributes(item: Input) -> tuple[str, ...]:
    """The columns that may tell tuples apart: all but the event time, which never comes again."""
    source = item.source
    return tuple(name for name in source.telling if name != source.timestamp)

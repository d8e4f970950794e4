"""What every step of a batch knows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from penstock.engine.layout import Layout
from penstock.engine.lifetimes import FOREVER
from penstock.engine.routes import Inner, Routing, module_name
from penstock.engine.sinks import Staging
from penstock.engine.store import ChunkInfo
from penstock.query import RowsWindow

Infos = tuple[ChunkInfo, ...]


@dataclass(frozen=True)
class Batch:
    """The plan, the state before the batch, and what has expired since.

    `state` lists the chunks by module and partition as manifest n − 1 does, `merges` those that
    are to become one, `floors` the event time below which tuples are dead, by input or inner join.

    In a batch that `rebuilds`, all that is in the inputs' windows counts as new and inner joins
    have nothing yet; it makes inner state and no results.
    """

    number: int
    layout: Layout
    routing: Routing
    partitions: int
    root: str
    state: Mapping[str, Mapping[int, Infos]]
    merges: Mapping[str, Mapping[int, Infos]]
    floors: Mapping[str, int]
    staging: Staging
    rebuilds: bool = False

    def listed(self, name: str, pid: int) -> Infos:
        """The chunks of an input or inner join at a partition that have not expired."""
        infos = self.state.get(module_name(name, pid // self.partitions), {}).get(pid, ())
        return tuple(info for info in infos if info.last_ts >= self.floor(name))

    def floor(self, name: str) -> int:
        """The event time below which tuples of an input or inner join are dead."""
        return self.floors.get(name, -FOREVER)

    def is_kept(self, name: str) -> bool:
        """Whether later batches will look for these tuples here; ROWS windows come from a ring."""
        return self.floor(name) != FOREVER and not self.is_rows(name)

    def is_reread(self, name: str) -> bool:
        """Whether a later round of the batch may look for these tuples here."""
        if self.routing.rounds == 1:
            return False
        route = self.routing.route_of(name)
        waits = route is not None and route.first_round > 0
        return waits or self.floor(name) != FOREVER

    def is_rows(self, name: str) -> bool:
        """Whether this is an input with a ROWS window."""
        layout = self.layout
        return name in layout.spaces and isinstance(layout.query.input(name).window, RowsWindow)

    def inners_at(self, space: int) -> Iterator[Inner]:
        """The inner joins whose results are kept in a space."""
        return (inner for inner in self.routing.inners if inner.space == space)

    def rows_members(self, name: str) -> tuple[str, ...]:
        """The members of an inner join that have ROWS windows; an input has no members."""
        inner = self.routing.inner(name)
        return tuple(filter(self.is_rows, inner.members)) if inner else ()

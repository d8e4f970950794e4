"""The plan, routes and state that every step of a batch reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import pyarrow as pa

from penstock.engine.folding.fold import with_lanes
from penstock.engine.places.place import Place
from penstock.engine.routes.multiway_routes import Inner, Routing
from penstock.engine.rows.layout import Layout
from penstock.engine.rows.lifetimes import FOREVER
from penstock.engine.sinks.sink import Staging
from penstock.engine.sources.derived_rows import Handover
from penstock.engine.state.listing.filed_state import FiledState, is_large
from penstock.engine.state.merging import merged_next
from penstock.engine.state.modules import Module, Modules
from penstock.engine.state.sealing import Sealing
from penstock.engine.state.store import ChunkInfo, read_rows
from penstock.engine.state.tick_span import DueTicks
from penstock.engine.state.upkeep.litter import Litter
from penstock.query import RowsWindow, TimeWindow
from penstock.query.script import Taking
from penstock.query.window import is_tumble

Infos = tuple[ChunkInfo, ...]

# Partitions that are looked at to tell how many living rows all of them have.
_LOOKED_AT = 256
# Rows of a module that each partition is thought to have beside those it has, so that few rows do
# not say that all are here.
_FEW = 16


@dataclass(frozen=True)
class Batch:
    """The plan, the state before the batch, and the bounds of what is still alive in it."""

    number: int
    """Number of the batch."""

    layout: Layout
    """Where the tuples of the query lie."""

    routing: Routing
    """The routes that tuples take."""

    partitions: int
    """Partitions of each space."""

    root: Place
    """The checkpoint's folder."""

    state: Modules
    """The chunks by module and partition, as manifest n − 1 lists them."""

    floors: Mapping[str, int]
    """The event time below which tuples are dead, by input or inner join."""

    staging: Staging | None
    """Where results are written, if anywhere."""

    handover: Handover | None = None
    """Where results are left for the other queries that read them, if any do."""

    renewed: int | None = None
    """The last batch before which a table got another version."""

    rebuilds: bool = False
    """Whether the batch makes inner state, and of a view the intervals, but no results.

    All that is in the inputs' windows then counts as new, and inner joins have nothing yet. So it
    is in every batch of a view that is recomputed, but that these are evaluated.
    """

    due: DueTicks | None = None
    """The ticks of a view that may be evaluated; which of them are, follows from what is read."""

    shed_times: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Of which event times tuples were shed before the batch that might be in a view's windows."""

    sealing: Sealing | None = None
    """How far the inputs of an outer join were, if there is one; what is read tells the rest."""

    living: Mapping[tuple[str, int], float] = field(default_factory=dict)
    """Where the state is in a file: the living rows of an input or inner join in a space, as
    `share_at` counts them."""

    takers: tuple[Taker, ...] = ()
    """The queries that take the combinations found, where these are not results by themselves."""

    litter: Litter | None = None
    """Chunks of earlier batches that tasks may delete."""

    @property
    def open_tick(self) -> int:
        """The first tick of a view that is still to come."""
        return -FOREVER if self.due is None else self.due.open_tick

    @property
    def is_snapshot(self) -> bool:
        """Whether a view is recomputed from whole windows, because the plan wants it so or
        because the ends of ROWS lives come unforeseen."""
        if self.layout.query.view is None:
            return False
        return self.routing.is_recomputed or self.layout.query.is_sequenced

    @property
    def all_is_new(self) -> bool:
        """Whether everything in the windows counts as new."""
        return self.rebuilds or self.is_snapshot

    @cached_property
    def _totals(self) -> dict[tuple[str, int], float]:
        """The living rows by input or inner join and space, as far as somebody has asked."""
        return dict(self.living)

    def share_at(self, name: str, pid: int) -> float:
        """The part of the living rows of an input or inner join that a partition of theirs has.

        It is estimated from the chunks before the batch: keys are not spread evenly.
        """
        if self.partitions == 1:
            return 1.0
        at = (name, pid // self.partitions)
        if at not in self._totals:
            self._totals[at] = self._living(*at)
        here = _FEW + self._alive_rows(name, pid)
        return here / max(self._totals[at], here)

    def _living(self, name: str, space: int) -> float:
        """The living rows of an input or inner join in a space, with a few more for each partition;
        of many partitions some stand for all."""
        step = max(1, self.partitions // _LOOKED_AT)
        base = space * self.partitions
        some = range(base, base + self.partitions, step)
        rows = sum(_FEW + self._alive_rows(name, p) for p in some)
        return rows * self.partitions / len(some)

    @property
    def is_large(self) -> bool:
        """Whether its state is too large to be sent to every task."""
        return is_large(self.state) or any(taker.batch.is_large for taker in self.takers)

    def filed(self) -> Batch:
        """The same with the state in a file, of which each task fetches what is of its partitions,
        with what it is to delete.

        Who takes combinations only looks at them, and needs no state for that.
        """
        places = [module.place for module in self.state]
        living = {place: self._living(*place) for place in places if place is not None}
        folder = f"transit/{self.number}"
        litter = () if self.litter is None else self.litter.taken()
        state = FiledState.write(self.root, folder, self.state, self.partitions, litter)
        takers = tuple(replace(t, batch=replace(t.batch, state={})) for t in self.takers)
        return replace(self, state=state, living=living, takers=takers, litter=None)

    def tidy(self, pid: int) -> None:
        """Delete what is left to a partition's task."""
        if isinstance(self.state, FiledState):
            self.state.tidy(pid)

    def _alive_rows(self, name: str, pid: int) -> float:
        """Rows at a partition that have not expired, as if each chunk's were spread over time."""
        floor = self.floor(name)
        return sum(
            chunk.rows
            * min(1.0, (chunk.last_ts - floor + 1) / (chunk.last_ts - chunk.first_ts + 1))
            for chunk in self.listed(name, pid)
        )

    def stands_for_several(self, name: str) -> bool:
        """Whether rows of an input or inner join may stand for several tuples of an input."""
        if not self.layout.weighted:
            return False
        inner = self.routing.inner(name)
        members = (name,) if inner is None else inner.members
        return not self.layout.weighted.isdisjoint(members)

    def rows_of(self, name: str, info: ChunkInfo) -> pa.RecordBatch:
        """The rows of a chunk, with lanes if the input has been weighted since it was written."""
        return with_lanes(self.layout, name, read_rows(self.root, info))

    def listed(self, name: str, pid: int) -> Infos:
        """The chunks of an input or inner join at a partition that have not expired."""
        infos = self.chunks_of(Module.kept(name, pid // self.partitions), pid)
        return tuple(info for info in infos if info.last_ts >= self.floor(name))

    def chunks_of(self, module: Module, pid: int) -> Infos:
        """All chunks of a module at a partition before the batch."""
        return self.state.get(module, {}).get(pid, ())

    def merged(self, module: Module, pid: int) -> Infos:
        """The chunks of a module at a partition that become one in this batch; what is rebuilt
        is not merged too."""
        return () if self.rebuilds else merged_next(module, pid, self.chunks_of(module, pid))

    def floor(self, name: str) -> int:
        """The event time below which tuples of an input or inner join are dead."""
        return self.floors.get(name, -FOREVER)

    def is_kept(self, name: str) -> bool:
        """Whether later batches will look for these tuples here; ROWS windows come from a ring."""
        if self.is_snapshot and self.routing.inner(name):
            return False
        return self.floor(name) != FOREVER and not self.is_rows(name)

    def is_compact(self, name: str) -> bool:
        """Whether what is kept of an input is folded in each batch.

        In a block or from a landmark on, rows of many batches are seen at the same ticks.
        """
        if name not in self.layout.early or not self.is_kept(name):
            return False
        window = self.layout.query.input(name).window
        return isinstance(window, TimeWindow) and (window.extent is None or is_tumble(window))

    def is_reread(self, name: str) -> bool:
        """Whether a later round of the batch may look for these tuples here."""
        if self.routing.rounds == 1:
            return False
        waits = any(route.first_round > 0 for route in self.routing.routes_of(name))
        return waits or self.floor(name) != FOREVER

    @property
    def has_visitors(self) -> bool:
        """Whether tuples start probing in another space than the one they are kept in."""
        return not all(route.starts_at_home for route in self.routing.routes)

    def is_view(self, pid: int) -> bool:
        """Whether a partition is of the view's groups."""
        return pid // self.partitions == self.layout.view_space

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


@dataclass(frozen=True)
class Taker:
    """A query that takes combinations which another one finds."""

    number: int
    """Its number among the queries that run together, by which its packets are told."""

    batch: Batch
    """Its own batch, which has no routes to take."""

    taking: Taking
    """Whose combinations they are."""

    @property
    def members(self) -> frozenset[str]:
        """The inputs of who finds the combinations that these are of: all of them, or some."""
        return frozenset(alias for _, alias in self.taking.aliases)

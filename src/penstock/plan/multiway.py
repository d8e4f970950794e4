"""Multi-way joins: no inner state; each stream's new tuples visit the others in their own order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from penstock.plan.drops import NO_DROPS, DropBoxes
from penstock.query import Query

Method = Literal["sorted", "hash", "nested"]


@dataclass(frozen=True)
class Probe:
    """One visit to another input's window.

    `sorted` finds partners by range search on (key, time), `hash` by the key's bucket, `nested` by
    looking at every tuple of the window.
    """

    target: str
    method: Method


@dataclass(frozen=True)
class ProbeOrder:
    """The visits that the new tuples of `driver` make.

    `position` is how many visits come before the new tuples themselves: 0 but in naive and general
    lazy plans (G&O §3.1, §3.3), where the loop over the new tuples is not the outermost.
    """

    driver: str
    probes: tuple[Probe, ...]
    position: int = 0

    @property
    def members(self) -> frozenset[str]:
        """The inputs that are bound in the end."""
        return frozenset((self.driver, *self.targets))

    @property
    def targets(self) -> tuple[str, ...]:
        return tuple(probe.target for probe in self.probes)


@dataclass(frozen=True)
class MultiwayJoin:
    """Join all inputs at once; every stream has a probe order, tables have none.

    A plan that finds several joins for others, and not that of all inputs, has orders for each of
    them: those of its inputs, which end when these are bound.

    `early` are the inputs that are aggregated before they are joined (T&L), in the order of FROM.
    With `recompute`, a view is computed in each batch from all that is in the windows, for the
    ticks that are due; only the stream that it names drives. Otherwise new tuples of all streams
    drive, and what they add to the ticks to come is kept.
    """

    query: Query
    orders: tuple[ProbeOrder, ...]
    drops: DropBoxes = NO_DROPS
    early: tuple[str, ...] = ()
    recompute: str | None = None

    @property
    def joins(self) -> tuple[frozenset[str], ...]:
        """The sets of inputs whose combinations the orders end with: mostly one, that of all."""
        return tuple(dict.fromkeys(order.members for order in self.orders))

    @property
    def driving(self) -> tuple[ProbeOrder, ...]:
        """The orders that are gone through: all, or the one of a view that is recomputed."""
        return self.orders if self.recompute is None else (self.order(self.recompute),)

    def order(self, driver: str) -> ProbeOrder:
        """The probe order of one stream."""
        return next(order for order in self.orders if order.driver == driver)

"""Probing: new tuples and partial results on their routes through one partition in one round."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial

import pyarrow as pa

from penstock.engine.join.batch import Batch
from penstock.engine.join.legs import Join, Partial, Tap, gathered, start
from penstock.engine.join.partition_state import PartitionState
from penstock.engine.join.reach import Reach
from penstock.engine.join.rhythm import tells_reach
from penstock.engine.join.state_writer import StateWriter
from penstock.engine.outer.asking import asking
from penstock.engine.outer.partner_search import PartnerSearch
from penstock.engine.routes.meter import Meter
from penstock.engine.routes.multiway_routes import Inner, Leg, Route, Visit
from penstock.engine.views.results import Results, Taken
from penstock.engine.wire.exchange import placement, scatter, spread
from penstock.engine.wire.facts import OperatorFlow
from penstock.engine.wire.packets import Packet, pack_fact, unpacked_in_parts
from penstock.engine.wire.tags import Tag

# Rows that go on their way together: fewer would be probed for one by one, and there may be
# millions of partial results.
_TOGETHER = 1 << 18


@dataclass(frozen=True)
class Probing:
    """Tuples come from the state here or by packet; complete results go where they belong."""

    batch: Batch
    round: int
    state: PartitionState
    writer: StateWriter
    by_tag: Mapping[Tag, list[Packet]]
    results: Results
    flows: list[OperatorFlow] = field(default_factory=list)

    def told(self) -> Iterator[Packet]:
        """What went through the operators of all routes so far."""
        if self.flows:
            yield pack_fact(0, *self.flows)

    def waiting(self) -> Iterator[Packet]:
        """Packets that have come before the round in which they are needed."""
        for route in self.batch.routing.routes:
            if route.first_round > self.round:
                yield from self.by_tag.get(route.tag("drive"), ())

    def join(self, inner: Inner | None, routes: Iterable[Route]) -> Iterator[Packet]:
        """Take the tuples of all routes that make the same through this round.

        Inner results are kept here, or sent to where the next join needs them.
        """
        here: list[pa.RecordBatch] = []
        for route in routes:
            meter = Meter()
            for found in self._found(route, meter):
                if route.leg(self.round + 1):
                    yield from self._send_on(route, found)
                elif inner is None and not route.ends_early:
                    self.results.add(found)
                elif inner is None:
                    continue  # Who wants it has been given it.
                elif inner.is_local:
                    here.append(found.to_rows())
                else:
                    yield from self._send_home(inner, found)
            if route.asks is None:
                self.flows.extend(meter.read(route.driver, route.number))
        if inner is not None and inner.is_local and inner.ready == self.round:
            yield from self._keep(inner, here)

    def _keep(self, inner: Inner, here: list[pa.RecordBatch]) -> Iterator[Packet]:
        if inner.space == self.state.space:
            yield from self.writer.take(inner.name, pa.concat_batches(here) if here else None)

    # Probing

    def _found(self, route: Route, meter: Meter) -> Iterator[Partial]:
        """Combinations that a route's tuples find in the leg of this round, if that is here."""
        leg = route.leg(self.round)
        if leg is None or leg.space != self.state.space:
            return iter(())
        join = Join(
            leg.visits,
            self.state.chunks,
            meter,
            partial(self._reach, route, leg),
            counts_arrivals=not leg.is_broadcast or self.state.pid % self.batch.partitions == 0,
            taps=self._taps(route, leg),
        )
        joined = (piece for mine in self._travellers(route) for piece in join.run(mine))
        found = self._asked(leg, joined)
        # Small pieces cost little where they are written, and more where each is looked at again.
        is_taken = bool(self.batch.takers)
        is_written = route.makes is None and self.batch.layout.query.view is None and not is_taken
        return found if is_written else gathered(found)

    def _taps(self, route: Route, leg: Leg) -> dict[int, Tap]:
        """Who takes combinations of some inputs that a route comes by, by the number of the visit
        in this leg."""
        wanted = {taker.members for taker in self.batch.takers} & route.given
        if not wanted or route.fills or not isinstance(self.results, Taken):
            return {}
        taps: dict[int, Tap] = {}
        bound = self._members(route.driver)
        for each in route.legs:
            for number, visit in enumerate(each.visits):
                bound |= self._members(visit.target)
                if each is leg and bound in wanted:
                    taps[number] = partial(self.results.hand, bound)
        return taps

    def _members(self, name: str) -> frozenset[str]:
        inner = self.batch.routing.inner(name)
        return frozenset((name,) if inner is None else inner.members)

    def _asked(self, leg: Leg, found: Iterator[Partial]) -> Iterator[Partial]:
        """What is left when partners have been sought, if they are in this leg."""
        for sought in leg.sought:
            found = PartnerSearch(sought, self.state).run(gathered(found))
        return found

    def _reach(self, route: Route, leg: Leg, visit: Visit) -> Reach | None:
        """What a visit could find by time; None where rows of either side stand for several, and
        in batches that do not tell it."""
        if route.asks is not None or not tells_reach(self.batch.number):
            return None
        if self.batch.stands_for_several(route.driver):
            return None
        is_everywhere = leg.is_broadcast and visit is leg.visits[0]
        return self.state.reach(visit, is_everywhere=is_everywhere)

    def _travellers(self, route: Route) -> Iterator[Partial]:
        if self.round > route.first_round:
            return map(Partial.from_rows, self._arrived(route.tag("partial")))
        if route.asks is not None:
            rows = asking(route, self.state)
        elif route.starts_at_home:
            rows = self.state.starting(route)
        else:
            rows = self._arrived(route.tag("drive"))
        if self.batch.routing.inner(route.driver):
            return map(Partial.from_rows, rows)
        if self.state.is_segmented(route.driver) and not route.starts_at_home:
            rows = (self.state.segmented(route.driver, each) for each in rows)
        changed = self.state.changed
        if changed is not None and not route.starts_at_home:
            rows = (self.state.only_changed(route.driver, each, changed) for each in rows)
        item = self.batch.layout.query.input(route.driver)
        is_timed = route.driver in self.batch.layout.timed
        return (start(tuples, item, is_timed=is_timed) for tuples in rows)

    def _arrived(self, tag: Tag) -> Iterator[pa.RecordBatch]:
        """The rows that have come by packets, some of them at a time."""
        return unpacked_in_parts(self.by_tag.get(tag, ()), _TOGETHER)

    # Sending

    def _send_on(self, route: Route, found: Partial) -> Iterator[Packet]:
        leg = route.leg(self.round + 1)
        assert leg is not None, "the last leg's tuples are not sent on"
        rows, tag = found.to_rows(), route.tag("partial")
        if leg.is_broadcast:
            yield from spread(rows, tag, leg.space, self.batch.partitions)
        else:
            yield from self._placed(rows, tag, leg.space)

    def _send_home(self, inner: Inner, found: Partial) -> Iterator[Packet]:
        """Inner results to where they are kept, and to where they start probing."""
        rows = found.to_rows()
        yield from self._placed(rows, Tag("new", inner.name), inner.space)
        for route in self.batch.routing.routes_of(inner.name):
            if not route.starts_at_home:
                space = route.legs[0].space
                yield from spread(rows, route.tag("drive"), space, self.batch.partitions)

    def _placed(self, rows: pa.RecordBatch, tag: Tag, space: int) -> Iterator[Packet]:
        partitions = self.batch.partitions
        places = placement(self.batch.layout, space, rows, partitions)
        yield from scatter(rows, places, tag, space * partitions, partitions)

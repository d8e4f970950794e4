"""Step: what one partition does in one round: keep its new tuples, then probe for all comers."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby

import pyarrow as pa

from penstock.engine.batch import Batch
from penstock.engine.evaluate import evaluate
from penstock.engine.join import Join, Partial, gathered, start
from penstock.engine.layout import column_name
from penstock.engine.lives import Lives
from penstock.engine.pack import placement, scatter, spread
from penstock.engine.packets import (
    Packet,
    pack_meta,
    sort_out,
    unpack_meta,
    unpack_rows,
)
from penstock.engine.routes import Inner, Leg, Route
from penstock.engine.shelf import Shelf
from penstock.engine.sinks import PartWriter

Tags = Mapping[str, list[Packet]]


@dataclass(frozen=True)
class Step:
    """One partition in one round."""

    batch: Batch
    round: int
    pid: int

    def run(self, packets: Iterable[Packet]) -> Iterator[Packet]:
        """Packets for the next round, or facts for the driver after the last."""
        facts, by_tag = sort_out(packets)
        yield from facts
        yield from self._waiting(by_tag)
        known = [unpack_meta(fact) for fact in facts]
        shelf = Shelf(self.batch, self.pid, Lives.of(self.batch.root, known))
        if self.round == 0:
            yield from shelf.take_inputs(by_tag)
        else:
            shelf.reopen(known)
        yield from shelf.take_inners(self.round, by_tag)
        writer = PartWriter(self.batch.staging, self.batch.layout.query)
        for makes, routes in groupby(self.batch.routing.routes, key=lambda route: route.makes):
            yield from self._join(self._inner(makes), list(routes), shelf, by_tag, writer)
        for part in writer.close():
            yield pack_meta(self.pid, "part", **dataclasses.asdict(part))

    @property
    def space(self) -> int:
        return self.pid // self.batch.partitions

    def _inner(self, name: str | None) -> Inner | None:
        return next((i for i in self.batch.routing.inners if i.name == name), None)

    def _waiting(self, by_tag: Tags) -> Iterator[Packet]:
        """What has come before the round in which it is needed."""
        for route in self.batch.routing.routes:
            if route.first_round > self.round:
                yield from by_tag.get(f"drive:{route.driver}", ())

    # Probing

    def _join(
        self,
        inner: Inner | None,
        routes: list[Route],
        shelf: Shelf,
        by_tag: Tags,
        writer: PartWriter,
    ) -> Iterator[Packet]:
        """Take the tuples of some routes through this round; what they make goes where it belongs.

        Complete results go to the sink. Inner ones are kept here, or where the next join is.
        """
        here: list[pa.RecordBatch] = []
        for route in routes:
            leg = route.leg(self.round)
            if leg is None or leg.space != self.space:
                continue
            is_done = leg is route.legs[-1]
            for found in self._travel(route, leg, shelf, by_tag):
                if not is_done:
                    yield from self._send_on(route, found)
                elif inner is None:
                    writer.write(self._results(found))
                elif inner.is_local:
                    here.append(found.to_rows())
                else:
                    yield from self._send_home(inner, found)
        if inner is not None and inner.is_local and self._is_due(inner):
            yield from shelf.take(inner.name, pa.concat_batches(here) if here else None)

    def _is_due(self, inner: Inner) -> bool:
        return inner.space == self.space and inner.ready == self.round

    def _travel(self, route: Route, leg: Leg, shelf: Shelf, by_tag: Tags) -> Iterator[Partial]:
        join = Join(leg.visits, shelf.chunks)
        found = (
            p for travellers in self._travellers(route, shelf, by_tag) for p in join.run(travellers)
        )
        return found if route.makes is None else gathered(found)

    def _travellers(self, route: Route, shelf: Shelf, by_tag: Tags) -> Iterator[Partial]:
        if self.round > route.first_round:
            rows = unpack_rows(by_tag.get(f"partial:{route.driver}", ()))
            found = [] if rows is None else [rows]
        elif route.starts_at_home:
            found = [chunk.rows for chunk in shelf.new(route.driver)]
        else:
            rows = unpack_rows(by_tag.get(f"drive:{route.driver}", ()))
            found = [] if rows is None else [rows]
        is_new = self.round == route.first_round and route.driver in self.batch.layout.spaces
        for rows in found:
            if is_new:
                yield start(rows, self.batch.layout.query.input(route.driver))
            else:
                yield Partial.from_rows(rows)

    # Sending

    def _send_on(self, route: Route, found: Partial) -> Iterator[Packet]:
        leg = route.leg(self.round + 1)
        assert leg is not None, "the last leg's tuples are not sent on"
        rows, tag = found.to_rows(), f"partial:{route.driver}"
        if leg.is_broadcast:
            yield from spread(rows, tag, leg.space, self.batch.partitions)
        else:
            yield from self._placed(rows, tag, leg.space)

    def _send_home(self, inner: Inner, found: Partial) -> Iterator[Packet]:
        """Inner results to where they are kept, and to where they start probing."""
        rows = found.to_rows()
        yield from self._placed(rows, f"new:{inner.name}", inner.space)
        route = self.batch.routing.route_of(inner.name)
        if route is not None and not route.starts_at_home:
            space = route.legs[0].space
            yield from spread(rows, f"drive:{inner.name}", space, self.batch.partitions)

    def _placed(self, rows: pa.RecordBatch, tag: str, space: int) -> Iterator[Packet]:
        partitions = self.batch.partitions
        places = placement(self.batch.layout, space, rows, partitions)
        yield from scatter(rows, places, tag, space * partitions, partitions)

    def _results(self, found: Partial) -> pa.RecordBatch:
        outputs = self.batch.layout.query.outputs
        payload = found.payload
        if not payload.num_columns:
            payload = pa.RecordBatch.from_pydict({"#rows": pa.nulls(len(found))})
        columns = [evaluate(output.expression, payload, column_name) for output in outputs]
        return pa.RecordBatch.from_arrays(columns, names=[output.name for output in outputs])

"""Address: new tuples to the partitions that keep them, and to those where they start probing."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from penstock.engine.routes.multiway_routes import Routing
from penstock.engine.routes.rusters import ruster
from penstock.engine.rows.columns import ARRIVAL
from penstock.engine.rows.layout import Layout
from penstock.engine.wire.exchange import placement, scatter, spread
from penstock.engine.wire.packets import Packet
from penstock.engine.wire.tags import Tag


def address(
    layout: Layout, routing: Routing, partitions: int, alias: str, rows: pa.RecordBatch
) -> Iterator[Packet]:
    """Tuples to every space in which they are kept, and to where they start probing."""
    if not len(rows):
        return
    for space in layout.spaces[alias]:
        places = placement(layout, space, rows, partitions)
        yield from scatter(rows, places, Tag("new", alias), space * partitions, partitions)
    for route in routing.routes_of(alias):
        if not route.starts_at_home:
            mine = ruster(rows, route.ruster)
            mine = mine.select([name for name in mine.schema.names if name != ARRIVAL])
            yield from spread(mine, route.tag("drive"), route.legs[0].space, partitions)

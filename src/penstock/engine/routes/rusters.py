"""Rusters: the new tuples of a stream grouped by the routes that a mesh gives them (QM §5).

Every tuple is classified once, when it is packed. The filters that its route puts before all probes
are decided there and then; with what is left, each ruster goes its own way.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from penstock.engine.routes.classifying import route_numbers
from penstock.engine.routes.screening import Screened, metered
from penstock.engine.rows.columns import ROUTE
from penstock.engine.wire.facts import OperatorFlow
from penstock.plan.mesh import DriverMesh, attributes_of
from penstock.query import Condition


@dataclass(frozen=True)
class Rusters:
    """How the tuples of one driver are sorted.

    By a route's number in the mesh, `leading` are the filters that come before its probes, and
    `ways` the ruster that takes it: routes with the same probes are one. If that makes all of them
    one, there are no rusters to tell apart.
    """

    mesh: DriverMesh
    leading: tuple[tuple[Condition, ...], ...]
    ways: tuple[int, ...]

    @property
    def driver(self) -> str:
        return self.mesh.driver

    @property
    def attributes(self) -> tuple[str, ...]:
        return attributes_of(self.mesh)

    def screen(self, rows: pa.RecordBatch) -> Screened:
        """Classify tuples and decide the leading filters, each on what passed before."""
        numbers = route_numbers(self.mesh, rows)
        passes = np.ones(len(rows), np.bool_)
        facts: list[OperatorFlow] = []
        for route, conditions in enumerate(self.leading):
            mine = numbers == route
            if conditions and mine.any():
                left, flows = metered(self.driver, route, conditions, rows, mine)
                facts += flows
                passes[mine & ~left] = False
        several = len(set(self.ways)) > 1
        rusters = np.array(self.ways)[numbers] if several else None
        return Screened(passes, rusters, tuple(facts))


def ruster(rows: pa.RecordBatch, number: int | None) -> pa.RecordBatch:
    """The tuples of one ruster; all of them where there is none."""
    if number is None:
        return rows
    mine = rows.column(ROUTE).to_numpy() == number
    return rows.filter(pa.array(mine)).drop_columns([ROUTE])

"""Lotteries: the order of operators that cost nearly the same, decided while the query runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from penstock.lab.kernels.lottery_loop import Wheels, draw
from penstock.lab.kernels.nested import Loops
from penstock.lab.kernels.ways import Ways
from penstock.lab.layout.columns import Columns
from penstock.lab.mesh.ways import ways_of
from penstock.plan.mesh import MeshRoute, Operator
from penstock.plan.multiway import Probe, ProbeOrder

Numbered = tuple[int, str, MeshRoute]
"""The number of a route, its driver, and the route."""


@dataclass
class JoinLottery:
    """The wheels of all uncertain routes, and whom to ask for a random number."""

    wheels: Wheels
    ways: Ways
    random: np.random.Generator

    def draw(self, loops: Loops) -> None:
        """Draw the orders of the uncertain routes for the next rusters, those of one window."""
        times = self.random.exponential(size=self.wheels.came.shape)
        draw(self.wheels, times, self.ways, loops)


def lottery_of(routes: Sequence[Numbered], columns: Columns) -> JoinLottery:
    """The lottery of some routes. Nothing is learned yet: all slices are equal."""
    shape = (len(routes), len(columns.aliases))
    number = {alias: i for i, alias in enumerate(columns.aliases)}
    stages, is_searched = np.zeros(shape, np.int64), np.zeros(shape, np.bool_)
    orders = np.zeros(shape, np.int64)
    for w, (_, driver, route) in enumerate(routes):
        targets = order_of(driver, route).targets
        orders[w] = [number[driver], *(number[target] for target in targets)]
        for place, stage in enumerate(route.stages):
            for probe in _probes(stage):
                stages[w, number[probe.target]] = place
                is_searched[w, number[probe.target]] = probe.method != "nested"
    wheels = Wheels(
        routes=np.array([number for number, _, _ in routes], np.int64),
        orders=orders,
        stages=stages,
        is_searched=is_searched,
        came=np.ones(shape),
        went=np.ones(shape),
        counted=np.zeros(shape, np.int64),
    )
    return JoinLottery(wheels, ways_of(columns), np.random.default_rng(0))


def order_of(driver: str, route: MeshRoute) -> ProbeOrder:
    """The probes of a route, each stage in the order in which it is written."""
    return ProbeOrder(driver, tuple(p for stage in route.stages for p in _probes(stage)))


def _probes(stage: tuple[Operator, ...]) -> tuple[Probe, ...]:
    # Filters are decided before the loops, those that wait between or after them.
    return tuple(operator for operator in stage if isinstance(operator, Probe))

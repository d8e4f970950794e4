"""The meter: what went into each operator of a route and came out, and how long that took."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from operator import attrgetter

from penstock.engine.wire.facts import OperatorFlow

_counts = attrgetter("went_in", "came_out", "passed", "met", "seconds")


@dataclass
class Gauge:
    """The counts of one operator."""

    is_probe: bool
    went_in: int = 0
    came_out: int = 0
    passed: int = 0
    met: float | None = None
    seconds: float = 0.0

    def filtered(self, went_in: int, came_out: int, seconds: float) -> None:
        """Count the rows of a filter."""
        self.went_in += went_in
        self.came_out += came_out
        self.passed += came_out
        self.seconds += seconds


@dataclass(frozen=True)
class Meter:
    """Gauges by operator: the alias of an input that is probed, or the text of a filter."""

    gauges: dict[str, Gauge] = field(default_factory=dict)

    def at(self, operator: str, *, is_probe: bool) -> Gauge:
        """The gauge of an operator."""
        found = self.gauges.get(operator)
        if found is None:
            found = self.gauges[operator] = Gauge(is_probe)
        return found

    def read(self, driver: str, route: int) -> Iterator[OperatorFlow]:
        """The facts of one route."""
        for operator, gauge in self.gauges.items():
            yield OperatorFlow(driver, route, operator, **vars(gauge))


def added_up(flows: Iterable[OperatorFlow]) -> list[OperatorFlow]:
    """One fact for each operator of each route, in the order in which they first appear."""
    by_operator: dict[tuple[str, int, str], list[OperatorFlow]] = {}
    for flow in flows:
        by_operator.setdefault((flow.driver, flow.route, flow.operator), []).append(flow)
    return [_sum(mine) for mine in by_operator.values()]


def _sum(flows: list[OperatorFlow]) -> OperatorFlow:
    if len(flows) == 1:
        return flows[0]
    went_in, came_out, passed, met, seconds = zip(*map(_counts, flows), strict=True)
    return replace(
        flows[0],
        went_in=sum(went_in),
        came_out=sum(came_out),
        passed=sum(passed),
        met=None if None in met else sum(met),
        seconds=sum(seconds),
    )

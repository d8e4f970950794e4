"""The meter: what went into each operator of a route and came out, and how long that took."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from penstock.engine.wire.facts import OperatorFlow


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
    met = [flow.met for flow in flows if flow.met is not None]
    return replace(
        flows[0],
        went_in=sum(flow.went_in for flow in flows),
        came_out=sum(flow.came_out for flow in flows),
        passed=sum(flow.passed for flow in flows),
        met=sum(met) if len(met) == len(flows) else None,
        seconds=sum(flow.seconds for flow in flows),
    )

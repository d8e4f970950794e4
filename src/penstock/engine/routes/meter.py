"""The meter: how many rows went into each operator of a route, and came out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from penstock.engine.wire.facts import OperatorFlow


@dataclass(frozen=True)
class Meter:
    """Rows by operator: the alias of an input that is probed, or the text of a filter."""

    went_in: Counter[str] = field(default_factory=Counter)
    came_out: Counter[str] = field(default_factory=Counter)

    def read(self, driver: str, route: int) -> Iterator[OperatorFlow]:
        """The facts of one route."""
        for operator, rows in self.went_in.items():
            yield OperatorFlow(driver, route, operator, rows, self.came_out[operator])

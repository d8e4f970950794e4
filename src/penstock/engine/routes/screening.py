"""Screening: the filters of a stream on its new tuples, in an order that may differ by tuple."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from time import perf_counter
from typing import Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.expressions.evaluate import passing
from penstock.engine.rows.columns import plain_name
from penstock.engine.wire.facts import Fact, OperatorFlow
from penstock.query import Apply, Condition
from penstock.query.expression import walk

Bools = NDArray[np.bool_]
Int64s = NDArray[np.int64]

SECONDS_A_ROW = 1e-6
"""The seconds of an operator beside the functions it calls: about the time of a probe."""


@dataclass(frozen=True)
class Screened:
    """Which tuples pass, the ruster of each if there are several, and what was learned.

    Where tuples wait before they are probed with, it is the number of their route with a stamp.
    """

    passes: Bools
    rusters: NDArray[np.int16] | Int64s | None = None
    facts: tuple[Fact, ...] = ()


class Screener(Protocol):
    """Takes the new tuples of one stream through filters, as they are packed."""

    @property
    def attributes(self) -> tuple[str, ...]:
        """The stream's columns that it looks at, beside those of the filters."""

    def screen(self, rows: pa.RecordBatch, first: int = 0) -> Screened:
        """Take tuples in their plain columns through the filters; `first` is the arrival number of
        the first of them."""


def metered(
    driver: str,
    route: int,
    conditions: Iterable[Condition],
    rows: pa.RecordBatch,
    among: Bools | None = None,
) -> tuple[Bools, list[OperatorFlow]]:
    """Where all conditions are true, each decided on what passed before, and their flows."""
    passes = np.ones(len(rows), np.bool_) if among is None else among
    left = int(np.count_nonzero(passes))
    flows = []
    for condition in conditions:
        started = perf_counter()
        passes = passing((condition,), rows, plain_name, among=passes)
        seconds = perf_counter() - started
        before, left = left, int(np.count_nonzero(passes))
        flows.append(filter_flow(driver, route, condition, (before, left), seconds))
    return passes, flows


def filter_flow(
    driver: str, route: int, condition: Condition, rows: tuple[int, int], seconds: float
) -> OperatorFlow:
    """The flow of a filter that so many rows went into and came out of."""
    went_in, came_out = rows
    return OperatorFlow(
        driver, route, str(condition), went_in, came_out, came_out, None, seconds, is_probe=False
    )


def declared_seconds(condition: Condition) -> float:
    """The seconds of a condition for a row, by the costs that its functions are declared with."""
    calls = (node for node in walk(condition.expression) if isinstance(node, Apply))
    return SECONDS_A_ROW + sum(call.function.cost for call in calls)

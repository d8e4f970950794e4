"""Reference: rates, windows and utilization in the steady state (Ayad and Naughton, A&N).

No plan is costed by these formulas; tests compare the paper's examples and `fluid` with them.

Rates are tuples/s, windows tuples, costs seconds per tuple. What an operator costs is the seconds
that it is busy in a second, so that the costs of a plan's operators add up to its utilization.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Flow:
    """Tuples that come out of an operator in a second, and how many of them are alive."""

    rate: float
    window: float


@dataclass(frozen=True)
class SideCosts:
    """Seconds for one tuple at the window of one side (A&N Table 1: C_P, C_I, C_V)."""

    probe: float
    insert: float
    invalidate: float

    @property
    def total(self) -> float:
        return self.probe + self.insert + self.invalidate


def tuple_window(rate: float, rows: float) -> Flow:
    """A stream whose last `rows` tuples are alive (A&N Def. 3)."""
    return Flow(rate, rows)


def time_window(rate: float, seconds: float) -> Flow:
    """A stream whose tuples live for a time: on average λ·T of them are alive (A&N §3)."""
    return Flow(rate, rate * seconds)


def select(flow: Flow, selectivity: float) -> Flow:
    """The flow after a selection (A&N Eq. 1, 2); windows count the tuples before it."""
    return Flow(selectivity * flow.rate, selectivity * flow.window)


def project(flow: Flow) -> Flow:
    """The flow after a projection: a selection that all pass (A&N §3.1.1)."""
    return select(flow, 1.0)


def join(left: Flow, right: Flow, selectivity: float) -> Flow:
    """The flow of results of a window join (A&N Eq. 3, 4); a product has selectivity 1."""
    return Flow(join_rate(left, right, selectivity), selectivity * left.window * right.window)


def join_rate(left: Flow, right: Flow, selectivity: float) -> float:
    """Output rate of a window join, tuples/s (A&N Eq. 3)."""
    return selectivity * (right.window * left.rate + left.window * right.rate)


def join_all(flows: Sequence[Flow], selectivity: float) -> Flow:
    """The flow of results of joining all flows, whatever the plan (A&N Eq. 5, 6).

    `selectivity` is the product of the selectivities of all joins.
    """
    windows = [flow.window for flow in flows]
    rate = sum(
        flow.rate * math.prod(windows[:k] + windows[k + 1 :]) for k, flow in enumerate(flows)
    )
    return Flow(selectivity * rate, selectivity * math.prod(windows))


def selection_cost(flow: Flow, cost: float) -> float:
    """Utilization of a selection or projection (left side of A&N Eq. 7)."""
    return cost * flow.rate


def asymmetric_join_cost(
    left: Flow, right: Flow, left_costs: SideCosts, right_costs: SideCosts
) -> float:
    """Utilization of a join whose sides are kept in different ways (A&N Eq. 8).

    A window is probed by the other side's tuples, and its own are put in and taken out. (The paper
    prints the latter with the other side's costs; its source, Kang et al., has it as here.)
    """
    return (
        right.rate * left_costs.probe
        + left.rate * (left_costs.insert + left_costs.invalidate)
        + left.rate * right_costs.probe
        + right.rate * (right_costs.insert + right_costs.invalidate)
    )


def join_cost(left: Flow, right: Flow, cost: float) -> float:
    """Utilization of a symmetric join; `cost` is probe, insert and invalidate (A&N Eq. 9)."""
    return (left.rate + right.rate) * cost


def utilization(costs: Iterable[float]) -> float:
    """Busy seconds in a second of a plan, all of whose operators share one server (A&N §3.2.3)."""
    return sum(costs)


def is_feasible(used: float, capacity: float = 1.0) -> bool:
    """Whether a plan keeps up with its input (A&N Eq. 7, 10)."""
    return used < capacity

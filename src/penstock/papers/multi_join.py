"""Comparisons per second of multi-way joins without inner results (Golab and Özsu, G&O).

A join runs as nested loops over windows, in some order, once for the new tuples of each stream
(the driver). The outermost loop compares nothing; each further one compares every combination that
has matched so far with every tuple it looks at (G&O Appendix A). So all of the paper's algorithms
are one formula: they differ in where the driver stands and how many of its tuples are new. The
planner uses that formula, `driver_cost`, to place the drivers of lazy plans.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Window:
    """A stream's rate and the tuples that are alive in its window (λ, and λT or C in G&O Table 1).

    With `buckets` above one it is hashed by its join attribute.
    """

    rate: float
    tuples: float
    buckets: int = 1


Windows = Mapping[str, Window]
Order = Sequence[str]
Match = Callable[[Order, str], float]
"""The fraction of a window's tuples that match one combination of those before it."""


def time_window(rate: float, seconds: float, buckets: int = 1) -> Window:
    """Reference: the window of a stream whose tuples live for a time (G&O: λT)."""
    return Window(rate, rate * seconds, buckets)


def common_attribute(distinct: Mapping[str, float]) -> Match:
    """Reference: matches of windows joined on one attribute, by its values (G&O Appendix A).

    The values of each window are contained in those of the ones that have more.
    """

    def match(bound: Order, name: str) -> float:
        return 1 / max(min(distinct[other] for other in bound), distinct[name])

    return match


def different_attributes(selectivities: Mapping[frozenset[str], float]) -> Match:
    """Reference: matches of windows joined by predicates on pairs (G&O §5.4); no predicate: all."""

    def match(bound: Order, name: str) -> float:
        fraction = 1.0
        for other in bound:
            fraction *= selectivities.get(frozenset((other, name)), 1.0)
        return fraction

    return match


def result_size(windows: Windows, order: Order, match: Match, tau: float = 0.0) -> float:
    """Reference: results of joining whole windows (G&O: φ; with lazy expiration every τ, φ̂)."""
    size = 1.0
    for level, name in enumerate(order):
        size *= _kept(windows[name], tau) * (match(order[:level], name) if level else 1.0)
    return size


def driver_cost(
    windows: Windows, loops: Order, driver: str, match: Match, tau: float = 0.0
) -> float:
    """Comparisons/s for the new tuples of one stream, with loops in the given order.

    With τ = 0 each new tuple is joined as it arrives (G&O: C and G), otherwise those of the last τ
    seconds together, and windows hold what died since (L and H).
    """
    new, interval = (windows[driver].rate * tau, tau) if tau else (1.0, 1 / windows[driver].rate)
    matched, compared = 1.0, 0.0
    for level, name in enumerate(loops):
        tuples = new if name == driver else _kept(windows[name], tau)
        if level:
            fraction = match(loops[:level], name)
            # a bucket holds at least the tuples that match
            share = 1.0 if name == driver else max(1 / windows[name].buckets, fraction)
            compared += matched * tuples * share
            tuples *= fraction
        matched *= tuples
    return compared / interval


def multiway_cost(windows: Windows, order: Order, match: Match, tau: float = 0.0) -> float:
    """Reference: comparisons/s of multi-way loops, new tuples outermost, then `order`; with τ lazy.

    With hashed windows it is the multi-way hash join (G&O §3.4, §5.3), with some hashed the hybrid
    (§3.5).
    """
    return general_cost(windows, {name: _first(name, order) for name in order}, match, tau)


def naive_cost(windows: Windows, order: Order, match: Match, tau: float = 0.0) -> float:
    """Reference: comparisons/s of naive loops: one order, whoever drives (G&O: G, with τ H)."""
    return general_cost(windows, dict.fromkeys(order, order), match, tau)


def general_cost(
    windows: Windows, loops: Mapping[str, Order], match: Match, tau: float = 0.0
) -> float:
    """Reference: comparisons/s of general (lazy) loops: each driver has loops of its own."""
    return sum(driver_cost(windows, own, driver, match, tau) for driver, own in loops.items())


def expiration_cost(windows: Windows, interval: float) -> float:
    """Reference: accesses/s to expire tuples every `interval` seconds (G&O §4.1).

    Every tuple is taken out once, and each time every bucket is looked at.
    """
    return sum(window.rate + window.buckets / interval for window in windows.values())


def _kept(window: Window, tau: float) -> float:
    """Tuples in a window that is cleaned every τ seconds: λ(T + τ)."""
    return window.tuples + window.rate * tau


def _first(name: str, order: Order) -> Order:
    return (name, *(other for other in order if other != name))

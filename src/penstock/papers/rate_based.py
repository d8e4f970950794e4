"""Reference: rates over time of streams that may never end (Viglas and Naughton, V&N).

Rates are tuples/s, costs seconds, times seconds since the query began. The planner searches by the
paper's two heuristics over sets of inputs that have met in windows (`optimize/joins/goal_search`),
which is the same where there are none; the exact curve of a tree is in `penstock.papers.fluid`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class ArrivalCosts:
    """Seconds to handle one arrival from the left and one from the right (V&N Table 1: Cl, Cr)."""

    left: float = 0.0
    right: float = 0.0


FREE = ArrivalCosts()


def projection_rate(rate: float, cost: float) -> float:
    """Reference: output rate of a projection (V&N §3.1): its input's, or what it can handle."""
    return rate if rate * cost <= 1 else 1 / cost


def selection_rate(rate: float, selectivity: float, cost: float) -> float:
    """Reference: output rate of a selection (V&N §3.2)."""
    return selectivity * projection_rate(rate, cost)


def join_rate(
    left: float, right: float, selectivity: float, time: float, costs: ArrivalCosts = FREE
) -> float:
    """Mean output rate of a join up to `time` (V&N Eq. 2); a product has selectivity 1.

    The work of a second of input takes no less than that second, hence the 1 below the line.
    """
    load = left * costs.left + right * costs.right
    return selectivity * left * right * time / max(1.0, load)


def outputs(rate: Callable[[float], float], until: float) -> float:
    """Reference: results by `until` as the integral of a rate over time (V&N Eq. 3).

    Of Eq. 2 this is half of what there is: that rate is a mean up to each time, so the results are
    `rate(until) * until`.
    """
    from scipy.integrate import quad

    return float(quad(rate, 0.0, until)[0])


def nested_loops_cost(
    other: float, time: float, *, move: float, compare: float, predicate: float = 0.0
) -> float:
    """Reference: seconds for an arrival that is compared with all of the other side (V&N Table 3).

    `other` is the other side's rate; an expensive predicate adds its handling cost.
    """
    return move + other * time * compare + predicate


def symmetric_hash_cost(
    *, move: float, hashing: float, probe: float, predicate: float = 0.0
) -> float:
    """Reference: seconds for an arrival that is hashed and looked up (V&N Table 3)."""
    return move + hashing + probe + predicate


def rate_at(time: float, rate: float, cardinality: float = math.inf) -> float:
    """Reference: rate of a stream at a time: zero once a finite one has run dry."""
    return rate if rate * time < cardinality else 0.0


def mean_rate(until: float, rate: float, cardinality: float = math.inf) -> float:
    """Reference: mean rate of a stream up to a time; a finite one may have run dry by then."""
    return min(rate, cardinality / until)


def local_rate(
    left: float, right: float, selectivity: float, horizon: float, costs: ArrivalCosts = FREE
) -> float:
    """Rate estimate of a join for local rate maximization (V&N §4.2.1).

    Time is taken as half the horizon. `left` and `right` are the rates of base streams or such
    estimates of sub-plans; of two plans, the one with the higher estimate is better.
    """
    return join_rate(left, right, selectivity, horizon / 2, costs)


def needed_inputs(
    needed: float, selectivity: float, left: float, right: float
) -> tuple[float, float]:
    """How much of either side a join needs for so many results (V&N §4.2.2, Fig. 5).

    `left` and `right` are the sizes of the sides, of which the same share is read; for endless
    sides their rates. For a quarter of all results that is half of each side. A join that gives
    nothing would need all there can be.
    """
    all_results = selectivity * left * right
    if not all_results:
        return math.inf, math.inf
    share = math.sqrt(needed / all_results)
    return share * left, share * right


def local_time(needed: float, rate: float, left: float = 0.0, right: float = 0.0) -> float:
    """Seconds to so many results for local time minimization (V&N §4.2.2).

    A plan is as late as the latest of its parts: this join's n/r, and the times of its two sides.
    Of two plans the earlier is better (the paper's listing has the comparison reversed).
    """
    own = needed / rate if rate else math.inf
    return max(own, left, right)

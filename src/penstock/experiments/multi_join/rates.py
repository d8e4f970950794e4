"""The input rate that a way of joining sustains, by the model and as its work was counted.

A rate is tuples over the time that their work takes. Work is counted in accesses: every tuple that
is compared, inserted, expired or given out is one, every bucket that is looked up, and every bucket
or window that is looked at for what has expired.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from penstock.experiments.multi_join.windows import Setting, first, worked
from penstock.papers.multi_join import expiration_cost, multiway_cost


@dataclass(frozen=True)
class Way:
    """A way to run multi-way loops, new tuples outermost.

    `tau` is the seconds between two runs and cleanings, 0 if tuples are joined as they come;
    windows without `buckets` are looked through.
    """

    order: tuple[str, ...]
    tau: float = 0.0
    buckets: Mapping[str, int] = field(default_factory=dict)


def best_way(setting: Setting, tau: float, buckets: Mapping[str, int]) -> Way:
    """The order of the fewest comparisons by the model."""
    return ranked_ways(setting, tau, buckets)[0]


def ranked_ways(setting: Setting, tau: float, buckets: Mapping[str, int]) -> list[Way]:
    """All orders, from the fewest comparisons by the model to the most."""
    ways = [Way(order, tau, buckets) for order in setting.orders()]
    return sorted(ways, key=lambda way: _comparisons(setting, way))


def foreseen_rate(setting: Setting, way: Way, look: float = 1.0) -> float:
    """Tuples for the time of one access, by the model; a `look` for what has expired takes so many.

    Tuples that are joined as they come have the windows looked at for each of them.
    """
    windows = setting.hashed(way.buckets)
    rate = sum(window.rate for window in windows.values())
    interval = way.tau or 1 / rate
    taken_out = expiration_cost(windows, interval)
    accesses = _comparisons(setting, way) + rate + look * (taken_out - rate) + rate
    return rate / accesses


def counted_rate(setting: Setting, way: Way, seconds: float, look: float = 1.0) -> float:
    """The same, as the laboratory counts the work of so many seconds."""
    work = worked(setting, first(way.order), seconds, way.tau, way.buckets)
    accesses = work.compares + work.inserts + work.expired + work.probes + work.results
    return work.tuples / (accesses + look * work.sweeps)


def _comparisons(setting: Setting, way: Way) -> float:
    return multiway_cost(setting.hashed(way.buckets), way.order, setting.match, way.tau)

"""Combinations of streams' tuples in which all members meet alive, for `fluid`.

A combination counts if every member is alive when the last one arrives. Streams may have come
through to an operator up to different times, since the one behind may have waited in longer queues.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
from numpy.polynomial.legendre import leggauss

from penstock.papers.curve import Floats
from penstock.papers.network import Source

_EXACT = leggauss(4)
"""Exact up to seventh powers of time, so for eight streams between two knots."""
_FINE = leggauss(12)
"""For stretches that may have bends inside."""


def combinations(members: tuple[Source, ...], reached: Floats, knots: Floats) -> Floats:
    """Combinations of what has come through.

    `reached` has for each member the event times up to which it has come, `knots` are event times
    between which rates and windows do not bend.
    """
    if not any(member.is_windowed for member in members):
        return _all(members, reached)
    in_step = np.concatenate([[0.0], np.cumsum(_in_step(members, knots))])
    together: Floats = np.interp(reached.min(axis=0), knots, in_step)
    return together + _ahead(members, reached)


def _all(members: tuple[Source, ...], reached: Floats) -> Floats:
    """Combinations of all that has come, when nothing dies."""
    total = np.ones(reached.shape[1])
    for member, times in zip(members, reached, strict=True):
        total *= member.arrived(times)
    return total


def _in_step(members: tuple[Source, ...], knots: Floats) -> Floats:
    """Combinations completed between knots, when all members have come as far."""
    nodes, weights = _EXACT
    times = _between(knots[:-1], knots[1:], nodes)
    reached = np.broadcast_to(np.inf, (len(members), *times.shape))
    completed: Floats = _completion_rate(members, times, reached) @ weights * np.diff(knots) / 2
    return completed


def _ahead(members: tuple[Source, ...], reached: Floats) -> Floats:
    """Combinations whose last member is from a time that some other member has not come to."""
    deaths = [member.death(times) for member, times in zip(members, reached, strict=True)]
    stops = np.minimum(np.sort(reached, axis=0), np.min(deaths, axis=0))
    nodes, weights = _FINE
    total = np.zeros(reached.shape[1])
    for start, end in itertools.pairwise(stops):
        is_apart = end > start
        times = _between(start[is_apart], end[is_apart], nodes)
        completed = _completion_rate(members, times, reached[:, is_apart, None])
        total[is_apart] += completed @ weights * (end - start)[is_apart] / 2
    return total


def _completion_rate(members: tuple[Source, ...], times: Floats, reached: Floats) -> Floats:
    """Combinations/s of event time that the members arriving at a time complete (A&N Eq. 5)."""
    alive = [
        np.maximum(member.arrived(np.minimum(times, limit)) - member.dead(times), 0.0)
        for member, limit in zip(members, reached, strict=True)
    ]
    completed = np.zeros(times.shape)
    for k, member in enumerate(members):
        arriving = np.where(times <= reached[k], member.rate_at(times), 0.0)
        completed += math.prod([*alive[:k], *alive[k + 1 :]], start=arriving)
    return completed


def _between(start: Floats, end: Floats, nodes: Floats) -> Floats:
    return (start[:, None] + end[:, None]) / 2 + (end - start)[:, None] / 2 * nodes

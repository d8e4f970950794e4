"""The exact results over time of a tree, taken as a fluid network (V&N).

Plans are compared by it where each operator has a server; tests compare it with the laboratory and
with discrete queues.

V&N integrate `dN/dt = f·(λl·R(t) + λr·L(t))`. With the same meaning, each operator is solved at
once here. It serves its arrivals in the order in which they are ready, so a pair of arrivals is
there when the later one has been served: up to then there are f times all pairs of what had become
ready, whatever the backlog. Time passes from one operator to the next as the event time up to which
each stream has come through, which also tells which of its tuples meet alive.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from penstock.errors import PlanError
from penstock.papers.combinations import combinations
from penstock.papers.curve import Curve, Floats, served
from penstock.papers.network import Filter, Join, Node, Source, Table, sources, yield_of

Servers = Literal["each", "shared"]
"""A server for each operator (V&N), or one that serves each base tuple with all its work (A&N)."""

_STEPS = 512
"""Knots of a curve: with so many, straight lines between them are right to one in ten thousand."""
_EARLY = 1e-6
"""The first knot as a fraction of the whole time: where the first few results may lie."""


def curve(network: Node, until: float, servers: Servers = "each") -> Curve:
    """The results of a network over time; `until` may be infinite if all its streams end."""
    flow = _Solver(_knots(sources(network), until), until, servers).solve(network)
    flow = flow if servers == "each" else _served(flow)
    return Curve(flow.times, flow.counts, until)


def total_results(network: Node) -> float:
    """Reference: all results that there will ever be; infinite if endless streams keep partners."""
    members = sources(network)
    last = min(
        max((member.end for member in members), default=0.0),
        min((member.end + member.extent for member in members), default=0.0),
    )
    if math.isinf(last):
        return math.inf if yield_of(network) else 0.0
    return float(curve(network, last, "shared").counts[-1])


@dataclass(frozen=True)
class _Flow:
    """The output of an operator by each of some times.

    `reached` has a row for each stream: the event time up to which it has come through. `work` is
    the seconds of work so far that were left to a server further on.
    """

    times: Floats
    reached: Floats
    counts: Floats
    work: Floats


@dataclass(frozen=True)
class _Solver:
    knots: Floats
    until: float
    servers: Servers

    def solve(self, node: Node) -> _Flow:
        """The output of a node over time."""
        nothing = np.zeros_like(self.knots)
        match node:
            case Source():
                return _Flow(self.knots, self.knots[None, :], node.arrived(self.knots), nothing)
            case Table(rows=rows):
                return _Flow(self.knots, np.empty((0, len(nothing))), nothing + rows, nothing)
            case Filter():
                return self._filter(node)
            case Join():
                return self._join(node)

    def _filter(self, node: Filter) -> _Flow:
        flow = self.solve(node.input)
        work = flow.work + node.cost * _since_start(flow.counts)
        return self._given(replace(flow, counts=node.selectivity * flow.counts, work=work))

    def _join(self, node: Join) -> _Flow:
        left, right = self.solve(node.left), self.solve(node.right)
        times = self._merged(left.times, right.times)
        left, right = _at(times, left), _at(times, right)
        reached = np.concatenate([left.reached, right.reached])
        # what has come never becomes less, though the quadrature may say so by its small error
        alive = np.maximum.accumulate(combinations(sources(node), reached, self.knots))
        pairs = yield_of(node.left) * yield_of(node.right) * alive
        matches = node.selectivity * pairs
        candidates = pairs if node.costs.looks_at_all else matches
        work = (
            node.costs.left * _since_start(left.counts)
            + node.costs.right * _since_start(right.counts)
            + node.costs.compare * _since_start(candidates)
        )
        return self._given(_Flow(times, reached, matches, left.work + right.work + work))

    def _given(self, flow: _Flow) -> _Flow:
        return _served(flow) if self.servers == "each" else flow

    def _merged(self, left: Floats, right: Floats) -> Floats:
        """The times at which either side is known, up to the end of the curve."""
        if left is right:
            return left
        times = np.union1d(left, right)
        return (
            times if times[-1] <= self.until else np.append(times[times < self.until], self.until)
        )


def _knots(members: tuple[Source, ...], until: float) -> Floats:
    """Times that are dense enough, and all at which a rate or a window bends."""
    last = min(until, max((member.end for member in members), default=0.0))
    if math.isinf(last):
        raise PlanError(
            "results over all time cannot be foreseen for streams that never end",
            hint="give the time up to which to look, or the streams' cardinalities",
        )
    bends = [
        bend
        for member in members
        for bend in (
            member.end,
            member.extent,
            member.end + member.extent,
            float(member.death(np.zeros(1))[0]),
        )
        if bend < last
    ]
    even, early = np.linspace(0.0, last, _STEPS), np.geomspace(_EARLY, 1.0, _STEPS) * last
    knots: Floats = np.unique(np.concatenate([even, early, bends]))
    return knots


def _since_start(counts: Floats) -> Floats:
    """Arrivals so far; what a table holds has not arrived."""
    arrived: Floats = counts - counts[0]
    return arrived


def _at(times: Floats, flow: _Flow) -> _Flow:
    """A flow at other times."""
    if times is flow.times:
        return flow
    reached = [np.interp(times, flow.times, row) for row in flow.reached]
    return _Flow(
        times,
        np.array(reached).reshape(-1, len(times)),
        np.interp(times, flow.times, flow.counts),
        np.interp(times, flow.times, flow.work),
    )


def _served(flow: _Flow) -> _Flow:
    """A flow after a server that takes its work in order."""
    done = served(flow.times, flow.work)
    # while nothing arrives at a busy server, nothing more is done at that same time
    last = np.append(np.diff(done) > 0, True)
    return _Flow(
        done[last], flow.reached[:, last], flow.counts[last], np.zeros(np.count_nonzero(last))
    )

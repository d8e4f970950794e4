"""A network run tuple by tuple: what the fluid curves of `penstock.papers.fluid` are the mean of.

Any pair of a join's two sides matches with the join's selectivity. Servers take arrivals in the
order in which they are ready; a result is there when the later of its two halves has been served.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from penstock.papers.curve import Floats
from penstock.papers.fluid import Servers
from penstock.papers.network import Filter, Join, Node, Source

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Events:
    """Tuples or inner results: when they are ready, when their last member arrived, and until when
    all of their members live."""

    ready: Floats
    last: Floats
    until: Floats


@dataclass
class Simulation:
    """One run over random streams; `charges` are work and the arrival times that caused it."""

    rng: np.random.Generator
    until: float
    servers: Servers
    charges: list[tuple[Floats, Floats]] = field(default_factory=list)

    def run(self, network: Node) -> Floats:
        """When each result is there, in order."""
        found = self.events(network)
        if self.servers == "each":
            return np.sort(found.ready)
        causes, work = (np.concatenate(parts) for parts in zip(*self.charges, strict=True))
        order = np.argsort(causes, kind="stable")
        done = served(causes[order], work[order])
        at = np.searchsorted(causes[order], found.last, side="right") - 1
        return np.sort(np.maximum(done[at], found.last))

    def events(self, node: Node) -> Events:
        match node:
            case Source():
                return self._stream(node)
            case Filter():
                return self._filter(node)
            case Join():
                return self._join(node)
        raise AssertionError(node)

    def _stream(self, source: Source) -> Events:
        end = min(source.end, self.until)
        count = round(source.rate * end)
        times = (np.arange(count) + self.rng.random(count)) / source.rate
        until = times + source.extent
        if np.isfinite(source.rows):
            rows = int(source.rows)
            next_ones = np.append(times[rows:], np.full(min(rows, count), np.inf))
            until = np.minimum(until, np.nextafter(next_ones, -np.inf))
        return Events(times, times, until)

    def _filter(self, node: Filter) -> Events:
        given = self.events(node.input)
        ready = self._serve(given, np.full(len(given.ready), node.cost))
        passes = self.rng.random(len(ready)) < node.selectivity
        return Events(ready[passes], given.last[passes], given.until[passes])

    def _join(self, node: Join) -> Events:
        left, right = self.events(node.left), self.events(node.right)
        pairs = self._alive_pairs(left, right, node.selectivity)
        both = Events(*(np.concatenate(p) for p in zip(_parts(left), _parts(right), strict=True)))
        size = len(left.ready)
        work = np.repeat([node.costs.left, node.costs.right], [size, len(right.ready)])
        one, other = pairs[0], pairs[1] + size
        moments = both.ready if self.servers == "each" else both.last
        later = np.where(moments[one] > moments[other], one, other)
        work = work + node.costs.compare * np.bincount(later, minlength=len(work))
        done = self._serve(both, work)
        return Events(
            np.maximum(done[one], done[other]),
            np.maximum(both.last[one], both.last[other]),
            np.minimum(both.until[one], both.until[other]),
        )

    def _alive_pairs(self, left: Events, right: Events, selectivity: float) -> tuple[Ints, Ints]:
        one, other = self._pairs(len(left.ready), len(right.ready), selectivity)
        last = np.maximum(left.last[one], right.last[other])
        meets = last <= np.minimum(left.until[one], right.until[other])
        return one[meets], other[meets]

    def _pairs(self, left: int, right: int, selectivity: float) -> tuple[Ints, Ints]:
        """Pairs, each with the given probability, as those of keys of many values nearly are."""
        every = left * right
        # so many draws that each pair is among them with the right probability
        draws = self.rng.poisson(-every * np.log1p(-selectivity))
        drawn = np.unique(self.rng.integers(0, max(every, 1), draws))
        return drawn // max(right, 1), drawn % max(right, 1)

    def _serve(self, arriving: Events, work: Floats) -> Floats:
        if self.servers == "shared":
            self.charges.append((arriving.last, work))
            return arriving.ready
        order = np.argsort(arriving.ready, kind="stable")
        done = np.empty(len(work))
        done[order] = served(arriving.ready[order], work[order])
        return done


def _parts(events: Events) -> tuple[Floats, Floats, Floats]:
    return events.ready, events.last, events.until


def served(ready: Floats, work: Floats) -> Floats:
    """When a server is done with each of its arrivals, taken in order."""
    spent = np.cumsum(work)
    done: Floats = spent + np.maximum.accumulate(ready - (spent - work))
    return done

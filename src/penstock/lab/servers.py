"""A server for each join of a tree (V&N: one thread an operator), worked out after the run.

What comes to a join is served there in the order in which it is ready: a tuple when it arrives, an
inner row when it is produced. A match is produced once the later of its two rows has been served.
So the times follow join by join, from the leaves up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields

import numpy as np
from numpy.typing import NDArray

from penstock.lab.apparatus import Apparatus, TreeState, blocks_of
from penstock.lab.charges import Screening
from penstock.lab.clock import ClockCosts, Work, served
from penstock.lab.kernels.inner_state import traced
from penstock.lab.kernels.nested import COMPARES, EXPIRED, INSERTS, KINDS, PROBES, RESULTS, TUPLES
from penstock.lab.kernels.waiting import waiting
from penstock.lab.layout.paths import TreeLowering
from penstock.plan.tree import Branch, Leaf, Node, TreeJoin

Int64s = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Services:
    """When the results are produced (µs, in the kernel's order), what work the servers did, the
    seconds that each was busy, when the last was done (µs), and what predicates took by
    themselves."""

    produced: Floats
    work: Work
    busy: Floats
    end: float
    own: float


@dataclass(frozen=True)
class _Arrivals:
    """Rows that come to a join, from one side or both: when, and with which lifetimes and members.

    Tuples that can join nothing (not `passes`) take their time too. `members` has the kernel's row
    of each input, `places` turns the trace's numbers into numbers here.
    """

    ready: Floats
    births: Int64s
    deaths: Int64s
    passes: Bools
    is_tuple: Bools
    members: Int64s
    places: Int64s


class _Network:
    """The servers of one run, each asked once."""

    def __init__(self, apparatus: Apparatus, costs: ClockCosts):
        assert isinstance(apparatus.plan, TreeJoin), "only trees are traced"
        assert isinstance(apparatus.machine, TreeState)
        self.root = apparatus.plan.root
        self.lowering = TreeLowering(apparatus.plan, apparatus.columns)
        self.apparatus = apparatus
        self.costs = np.array(astuple(costs))
        self.trace = traced(apparatus.machine.inner)
        self.counts = np.zeros((len(self.lowering.joins), KINDS), np.int64)
        self.end = float(apparatus.ready.max()) if len(apparatus.ready) else 0.0
        self.own = np.zeros(len(self.lowering.joins))
        self.screens: list[float] = []

    def screened(self, ready: Floats, screens: Sequence[Screening]) -> Floats:
        """When rows have passed the servers of some predicates, one after the other."""
        done = ready.copy()
        for screen in screens:
            order = screen.rows[np.argsort(done[screen.rows], kind="stable")]
            spent = np.cumsum(np.full(len(order), screen.seconds))
            done[order] = served(done[order], spent)
            self.end = max(self.end, float(done[order].max(initial=-np.inf)))
            self.screens.append(len(order) * screen.seconds)
        return done

    def arrivals(self, node: Node) -> _Arrivals:
        """The rows that a node sends up."""
        return self._tuples(node.alias) if isinstance(node, Leaf) else self._matches(node)

    def _tuples(self, alias: str) -> _Arrivals:
        apparatus = self.apparatus
        number = apparatus.plan.query.aliases.index(alias)
        lives, kept = apparatus.lives[alias], apparatus.kept[alias]
        is_tuple = lives.births >= 0
        ready = np.full(len(is_tuple), -np.inf)
        ready[is_tuple] = apparatus.ready[blocks_of(apparatus, lives.births[is_tuple])]
        ready = self.screened(ready, apparatus.screens.get(alias, ()))
        passes = np.zeros(len(is_tuple), np.bool_)
        passes[kept] = True
        members = np.full((len(is_tuple), len(apparatus.starts)), -1)
        members[kept, number] = apparatus.starts[number] + np.arange(len(kept))
        places = np.full(len(apparatus.windows.rows), -1)
        places[members[kept, number]] = kept
        return _Arrivals(ready, lives.births, lives.deaths, passes, is_tuple, members, places)

    def _matches(self, join: Branch) -> _Arrivals:
        number = self.lowering.joins.index(join)
        left, right = self.arrivals(join.left), self.arrivals(join.right)
        serials = np.flatnonzero(self.trace[:, 0] == number)
        one = left.places[self.trace[serials, 1]]
        other = right.places[self.trace[serials, 2]] + len(left.ready)
        both = _both(left, right)
        done = self._serve(number, both, len(left.ready), one, other)
        places = np.full(len(self.trace), -1)
        places[serials] = np.arange(len(serials))
        return _Arrivals(
            ready=np.maximum(done[one], done[other]),
            births=np.maximum(both.births[one], both.births[other]),
            deaths=np.minimum(both.deaths[one], both.deaths[other]),
            passes=np.ones(len(serials), np.bool_),
            is_tuple=np.zeros(len(serials), np.bool_),
            members=np.maximum(both.members[one], both.members[other]),
            places=places,
        )

    def _serve(
        self, number: int, both: _Arrivals, lefts: int, one: Int64s, other: Int64s
    ) -> Floats:
        """When each arrival is done, the `lefts` first; (one, other) are the matches."""
        # Those that are ready at once and as old go in the order of their members.
        order = np.lexsort((*both.members.T, both.births, both.ready))
        counts = self._counts(number, both, lefts, order)
        if number == len(self.lowering.joins) - 1:
            counts[:, RESULTS] = np.bincount(_later(order, one, other), minlength=len(order))
        # What tables bring was there before everything.
        counts[both.births < 0] = 0
        self.counts[number] = counts.sum(axis=0)
        prices = self.apparatus.prices.joins
        each = prices[number] if len(prices) else np.zeros((2, 2))
        sides = (np.arange(len(order)) >= lefts).astype(np.int64)
        own = (counts[:, [INSERTS, COMPARES]] * each[sides]).sum(axis=1)
        self.own[number] = own.sum()
        done = np.empty(len(order))
        spent = np.cumsum((counts @ self.costs + own)[order])
        done[order] = served(both.ready[order], spent)
        self.end = max(self.end, float(done.max(initial=-np.inf)))
        return done

    def _counts(self, number: int, both: _Arrivals, lefts: int, order: Int64s) -> Int64s:
        """The work of serving each arrival, results aside."""
        able = order[both.passes[order]]
        keys = self.lowering.key_places(self.lowering.joins[number])
        sides = (able >= lefts).astype(np.int64)
        codes = np.zeros(len(able), np.int64)
        if keys is not None:
            member, column = np.array(keys)[sides].T
            codes = self.apparatus.windows.rows[both.members[able, member], column]
        counts = np.zeros((len(order), KINDS), np.int64)
        counts[:, TUPLES] = both.is_tuple
        counts[able, INSERTS] = 1
        counts[able, EXPIRED] = both.deaths[able] < len(self.apparatus.times)
        counts[able, PROBES] = keys is not None
        counts[able, COMPARES] = waiting(codes, sides, both.births[able], both.deaths[able])
        return counts


def _both(left: _Arrivals, right: _Arrivals) -> _Arrivals:
    names = [field.name for field in fields(_Arrivals)]
    return _Arrivals(*(np.concatenate([getattr(left, n), getattr(right, n)]) for n in names))


def _later(order: Int64s, one: Int64s, other: Int64s) -> Int64s:
    """Which of each two arrivals is served later."""
    turns = np.empty(len(order), np.int64)
    turns[order] = np.arange(len(order))
    later: Int64s = np.where(turns[one] > turns[other], one, other)
    return later


def serve_each(
    apparatus: Apparatus, costs: ClockCosts, checks: Sequence[Screening] = ()
) -> Services:
    """The times of a traced run with a server for each join, filter and check of results.

    Serving a row takes its insert, its probe, a compare for each row of the other side that has
    been served and is alive (where the join searches by key: and has the same key), its own expiry
    if it dies before the end, and at the root the results it completes.
    """
    network = _Network(apparatus, costs)
    root = network.arrivals(network.root)
    produced = network.screened(root.ready[root.passes], checks)
    joins = network.counts @ network.costs + network.own
    return Services(
        produced=produced,
        work=Work(*network.counts.sum(axis=0).tolist()),
        busy=np.concatenate([joins, network.screens]),
        end=network.end,
        own=float(network.own.sum() + sum(network.screens)),
    )

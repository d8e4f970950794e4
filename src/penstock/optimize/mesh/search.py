"""Searches for the partition whose mesh costs the least (QM §4.6, §4.7)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import exp, inf, log, nextafter

import numpy as np

from penstock.errors import PlanError
from penstock.optimize.mesh.columns import Labels
from penstock.optimize.mesh.neighbours import neighbour
from penstock.optimize.mesh.space import Candidate, MeshSpace
from penstock.optimize.mesh.starts import BEGINNINGS, numbered
from penstock.papers.query_mesh import partitions
from penstock.plan.mesh_search import Start, Strategy

# Eleven tuples have 678,570 partitions: all of them would take minutes.
OPT_TUPLES = 10

# The first temperature accepts a neighbour that costs a twentieth of the start more with
# probability 1/e, which is about what one tuple's wrong route costs; the last one next to nothing.
WARM, COLD = 0.05, 0.0005


@dataclass(frozen=True)
class Stop:
    """When a search ends: after so many rounds (QM's k), each of which ends when so many neighbours
    in a row were no better; when so many trees were grown, routes found for so many parts, or so
    many neighbours looked at; if it `ends_flat`, after a round that found nothing better.

    Trees are what takes time, a millisecond or two each. QM's limit of time is no part of it: the
    same training gives the same mesh wherever and how often it is searched for.
    """

    rounds: int = 8
    plateau: int = 60
    trees: int = 200
    parts: int = 4_000
    neighbours: int = 20_000
    ends_flat: bool = False


@dataclass
class _Walk:
    """The state that a search carries along, with the neighbours that it has looked at."""

    space: MeshSpace
    random: np.random.Generator
    stop: Stop
    looked_at: int = 0

    @property
    def is_over(self) -> bool:
        space, stop = self.space, self.stop
        return (
            space.trees >= stop.trees
            or space.parts >= stop.parts
            or self.looked_at >= stop.neighbours
        )

    def neighbour(self, labels: Labels) -> Labels:
        """A partition near the given one."""
        self.looked_at += 1
        return neighbour(self.space, labels, self.random)


def search(space: MeshSpace, strategy: Strategy, start: Start, stop: Stop, seed: int) -> Candidate:
    """The best mesh that a strategy finds."""
    if strategy == "opt":
        return _optimal(space)
    walk = _Walk(space, np.random.default_rng(seed), stop)
    return _rounds(walk, start, _improved if strategy == "ii" else _annealed)


def _optimal(space: MeshSpace) -> Candidate:
    """Opt-QM (QM Fig. 5): all partitions, the most promising first, until none can be better."""
    if space.size > OPT_TUPLES:
        raise PlanError(
            f"{space.size} training tuples have {partitions(space.size):,} partitions",
            hint=f"search=opt tries all, of at most {OPT_TUPLES} tuples; use search=ii or sa",
        )
    by_routes = {space.assigned(labels): labels for labels in all_partitions(space.size)}
    bounds = {assigned: space.bound(assigned) for assigned in by_routes}
    best = space.single
    for assigned in sorted(by_routes, key=lambda each: bounds[each]):
        if bounds[assigned] >= best.cost:
            break
        best = space.better(by_routes[assigned], best.cost) or best
    return best


def all_partitions(size: int) -> Iterator[Labels]:
    """Every partition once: each tuple joins a part that is there or begins the next."""

    def grown(labels: list[int], parts: int) -> Iterator[Labels]:
        if len(labels) == size:
            yield np.array(labels)
            return
        for part in range(parts + 1):
            yield from grown([*labels, part], max(parts, part + 1))

    return grown([], 0)


def _rounds(walk: _Walk, start: Start, run: Callable[[_Walk, Candidate], Candidate]) -> Candidate:
    """The best of several rounds: the first from the given start, the others from the other starts
    in turn, and from random ones when these are used up. The first one's start always counts."""
    starts: list[Start] = list(dict.fromkeys((start, *BEGINNINGS)))
    best = walk.space.single
    for number in range(walk.stop.rounds):
        if number and walk.is_over:
            break
        begin = BEGINNINGS[starts[number] if number < len(starts) else "random"]
        found = run(walk, walk.space.candidate(begin(walk.space, walk.random)))
        is_flat = number > 0 and found.cost >= best.cost
        best = min(best, found, key=lambda each: each.cost)
        if is_flat and walk.stop.ends_flat:
            break
    return best


def _improved(walk: _Walk, start: Candidate) -> Candidate:
    """II-QM (QM Fig. 6): random neighbours, downhill only, until a local minimum."""
    here, failed = _settled(walk, start), 0
    while failed < walk.stop.plateau and not walk.is_over:
        labels = walk.neighbour(here.labels)
        # One that costs the same is taken too, to get along flat stretches, but does not count.
        found = walk.space.better(labels, nextafter(here.cost, inf))
        failed = 0 if found and found.cost < here.cost else failed + 1
        here = _settled(walk, found) if found else here
    return here


def _annealed(walk: _Walk, start: Candidate) -> Candidate:
    """SA-QM (QM Fig. 7): random neighbours, uphill with a probability that falls with τ."""
    here = best = _settled(walk, start)
    last = COLD * start.cost
    tau, cooling = WARM * start.cost, exp(log(COLD / WARM) / max(1, walk.stop.plateau))
    failed = 0
    while (tau > last or failed < walk.stop.plateau) and not walk.is_over:
        # Accepted with probability e^(−δ/τ): drawn first, so that the limit is known in advance.
        limit = here.cost - tau * log(1.0 - walk.random.random())
        found = walk.space.better(walk.neighbour(here.labels), limit)
        here = found or here
        failed = 0 if here.cost < best.cost else failed + 1
        best = min(best, here, key=lambda each: each.cost)
        tau *= cooling
    return _settled(walk, best)


def _settled(walk: _Walk, here: Candidate) -> Candidate:
    """The mesh with routes that are best for the tuples that the tree really gives them, as long
    as that is cheaper."""
    while found := walk.space.better(numbered(here.taken), here.cost):
        here = found
    return here

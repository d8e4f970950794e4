"""Sketches of keys: tuples with the least hashes of an input, which all inputs keep alike.

Whoever keeps the tuples below the same hash can be joined with the others: their equal combinations
are a fair sample, by keys, of all (correlated sampling).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod, sqrt

import numpy as np
from numpy.typing import NDArray

from penstock.engine.wire.facts import KeySketch

_HASHES = float(1 << 64)
_FADED = 0.05
"""Of a tuple, what is left when it is forgotten: five half-lives are long enough."""


@dataclass(frozen=True)
class Sketch:
    """The tuples with hashes below `share` of all: different hashes in order, and how many of each.

    It stands for `rows` tuples, which may be a decayed sum like the counts.
    """

    rows: float
    share: float
    hashes: NDArray[np.uint64]
    counts: NDArray[np.float64]

    @classmethod
    def of(cls, fact: KeySketch) -> Sketch:
        """The sketch of a fact."""
        hashes = np.frombuffer(fact.hashes, np.int64).view(np.uint64)
        counts = np.frombuffer(fact.counts, np.int64).astype(np.float64)
        return cls(float(fact.rows), fact.share, hashes, counts)

    def below(self, share: float) -> Sketch:
        """The part of it below a smaller share."""
        if share >= self.share:
            return self
        size = int(np.searchsorted(self.hashes, np.uint64(share * _HASHES)))
        return Sketch(self.rows, share, self.hashes[:size], self.counts[:size])

    def faded(self, decay: float) -> Sketch:
        """The sketch of tuples that count `decay` times as much."""
        counts = self.counts * decay
        kept = counts >= _FADED
        return Sketch(self.rows * decay, self.share, self.hashes[kept], counts[kept])


NOTHING = Sketch(0.0, 1.0, np.empty(0, np.uint64), np.empty(0))


def united(sketches: Iterable[Sketch], most: int) -> Sketch:
    """The sketch of the tuples of several, with at most so many hashes."""
    found = [sketch for sketch in sketches if sketch.rows]
    if len(found) < 2:
        return found[0] if found else NOTHING
    share = min(sketch.share for sketch in found)
    parts = [sketch.below(share) for sketch in found]
    hashes, places = np.unique(np.concatenate([p.hashes for p in parts]), return_inverse=True)
    weights = np.concatenate([p.counts for p in parts])
    counts = np.bincount(places, weights, len(hashes)).astype(np.float64)
    rows = sum(part.rows for part in parts)
    if len(hashes) <= most:
        return Sketch(rows, share, hashes, counts)
    return Sketch(rows, float(hashes[most]) / _HASHES, hashes[:most], counts[:most])


@dataclass(frozen=True)
class Overlap:
    """How many combinations of some inputs are equal, as a fraction, with its relative error.

    `total` are the equal ones of the `met` combinations that the sample stands for, `keys` the
    sampled keys that all inputs have; without any there is no error to be told.
    """

    total: float
    met: float
    error: float
    keys: int

    @property
    def hits(self) -> float:
        """As many independent events as have the same error."""
        return 1.0 / self.error**2 if self.keys else 0.0


def overlaps(sketches: Mapping[str, Sketch]) -> dict[frozenset[str], Overlap]:
    """The overlap of every set of two or more inputs; of many inputs, of every pair."""
    full = {alias: sketch for alias, sketch in sketches.items() if sketch.rows}
    if len(full) < 2:
        return {}
    share = min(sketch.share for sketch in full.values())
    cut = {alias: sketch.below(share) for alias, sketch in full.items()}
    hashes = np.unique(np.concatenate([sketch.hashes for sketch in cut.values()]))
    table = {alias: _spread(sketch, hashes) for alias, sketch in cut.items()}
    sizes = range(2, len(cut) + 1) if len(cut) <= _MOST_MEMBERS else (2,)
    return {
        frozenset(members): _overlap([cut[a] for a in members], [table[a] for a in members], share)
        for size in sizes
        for members in combinations(cut, size)
    }


_MOST_MEMBERS = 8
"""Inputs of a key up to which all their sets (247) are looked at."""


def _spread(sketch: Sketch, hashes: NDArray[np.uint64]) -> NDArray[np.float64]:
    out = np.zeros(len(hashes))
    out[np.searchsorted(hashes, sketch.hashes)] = sketch.counts
    return out


def _overlap(
    sketches: Sequence[Sketch], counts: Sequence[NDArray[np.float64]], share: float
) -> Overlap:
    """The overlap of one set.

    The error has two parts: which keys fell below the share, and how many tuples of these came.
    """
    met = prod(sketch.rows for sketch in sketches) * share
    each = np.prod(counts, axis=0)
    shared = each > 0.0
    total = float(each.sum())
    if not total:
        return Overlap(0.0, met, 1.0, 0)
    by_keys = (1.0 - share) * float(np.square(each).sum()) / total**2
    events = float(np.min(counts, axis=0)[shared].sum())
    return Overlap(total, met, sqrt(by_keys + 1.0 / events), int(shared.sum()))

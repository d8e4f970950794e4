"""Sketches of keys: tuples with the least hashes of an input, which all inputs keep alike.

Whoever keeps the tuples below the same hash can be joined with the others: their equal combinations
are a fair sample, by keys, of all (correlated sampling).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import prod, sqrt

import numpy as np
from numpy.typing import NDArray

from penstock.engine.wire.facts import KeySketch
from penstock.kernels.sorted_counts import add_counts, pair_counts

_HASHES = float(1 << 64)
_FADED = 0.05
"""Of a tuple, what is left when it is forgotten: five half-lives are long enough."""


@dataclass(frozen=True)
class Sketch:
    """The tuples with hashes below `share` of all: different hashes in order, and how many of each.

    It stands for `rows` tuples, which may be a decayed sum like the counts; `known` of them have no
    NULL in the key.
    """

    rows: float
    known: float
    share: float
    hashes: NDArray[np.uint64]
    counts: NDArray[np.float64]

    @classmethod
    def of(cls, fact: KeySketch) -> Sketch:
        """The sketch of a fact."""
        # A copy: for an array that may not be written to, inner loops would be compiled once more.
        hashes = np.frombuffer(fact.hashes, np.int64).view(np.uint64).copy()
        counts = np.frombuffer(fact.counts, np.int64).astype(np.float64)
        return cls(float(fact.rows), float(fact.known), fact.share, hashes, counts)

    def below(self, share: float) -> Sketch:
        """The part of it below a smaller share."""
        if share >= self.share:
            return self
        size = int(np.searchsorted(self.hashes, np.uint64(share * _HASHES)))
        return replace(self, share=share, hashes=self.hashes[:size], counts=self.counts[:size])

    def faded(self, decay: float) -> Sketch:
        """The sketch of tuples that count `decay` times as much."""
        counts = self.counts * decay
        kept = counts >= _FADED
        rows, known = self.rows * decay, self.known * decay
        return Sketch(rows, known, self.share, self.hashes[kept], counts[kept])


NOTHING = Sketch(0.0, 0.0, 1.0, np.empty(0, np.uint64), np.empty(0))


def united(sketches: Iterable[Sketch], most: int) -> Sketch:
    """The sketch of the tuples of several, with at most so many hashes."""
    found = [sketch for sketch in sketches if sketch.rows]
    if len(found) < 2:
        return found[0] if found else NOTHING
    share = min(sketch.share for sketch in found)
    parts = [sketch.below(share) for sketch in found]
    hashes, counts = parts[0].hashes, parts[0].counts
    for part in parts[1:]:
        hashes, counts = add_counts(hashes, counts, part.hashes, part.counts)
    rows, known = sum(part.rows for part in parts), sum(part.known for part in parts)
    if len(hashes) <= most:
        return Sketch(rows, known, share, hashes, counts)
    share = float(hashes[most]) / _HASHES
    return Sketch(rows, known, share, hashes[:most], counts[:most])


@dataclass(frozen=True)
class Overlap:
    """How many combinations of some inputs are equal, as a fraction, with its relative error.

    `total` are the equal ones of the `met` combinations that the sample stands for, `keys` the
    sampled keys that all inputs have; without any there is no error to be told. `matching` is the
    part of the tuples that these come from: few, if most tuples have keys that no other input has.
    """

    total: float
    met: float
    error: float
    keys: int
    matching: float = 1.0

    @property
    def hits(self) -> float:
        """As many independent events as have the same error."""
        return 1.0 / self.error**2 if self.keys else 0.0


_MOST_MEMBERS = 6
"""Inputs of a key up to which all their sets (57) are looked at; of more, the pairs."""


def overlaps(
    sketches: Mapping[str, Sketch], *, only_pairs: bool = False
) -> dict[frozenset[str], Overlap]:
    """The overlap of every set of two or more inputs, or of every pair."""
    full = {alias: sketch for alias, sketch in sketches.items() if sketch.rows}
    if len(full) < 2:
        return {}
    share = min(sketch.share for sketch in full.values())
    cut = [sketch.below(share) for sketch in full.values()]
    aliases = list(full)
    found = {
        frozenset((aliases[i], aliases[j])): _pair(cut[i], cut[j])
        for i, j in combinations(range(len(cut)), 2)
    }
    if only_pairs or not 2 < len(cut) <= _MOST_MEMBERS:
        return found
    counts = _aligned(cut)
    for size in range(3, len(cut) + 1):
        for members in combinations(range(len(cut)), size):
            overlap = _overlap(counts[list(members)], [cut[i].rows for i in members], share)
            found[frozenset(aliases[i] for i in members)] = overlap
    return found


def _aligned(sketches: Sequence[Sketch]) -> NDArray[np.float64]:
    """The counts of all hashes that more than one has: a row for each sketch."""
    hashes, seen = np.unique(np.concatenate([s.hashes for s in sketches]), return_counts=True)
    shared = hashes[seen > 1]
    out = np.zeros((len(sketches), len(shared)))
    for row, sketch in zip(out, sketches, strict=True):
        places = np.searchsorted(shared, sketch.hashes)
        known = places < len(shared)
        known[known] = shared[places[known]] == sketch.hashes[known]
        row[places[known]] = sketch.counts[known]
    return out


def _pair(one: Sketch, other: Sketch) -> Overlap:
    """The overlap of two sketches below the same share, as `_overlap` has it of more."""
    met = one.rows * other.rows * one.share
    total, squares, by_tuples, keys = pair_counts(
        one.hashes, one.counts, other.hashes, other.counts
    )
    if not total:
        return Overlap(0.0, met, 1.0, 0)
    error = sqrt((1.0 - one.share) * squares + by_tuples) / total
    matching = _matching(total, by_tuples, [one.rows, other.rows], one.share)
    return Overlap(total, met, error, keys, matching)


def _matching(total: float, by_tuples: float, rows: Sequence[float], share: float) -> float:
    """The part of all tuples that equal ones come from, if all keys of these are alike: all tuples
    would have the error of 1 / rows of each side."""
    return min(1.0, total * total / (share * by_tuples) * sum(1.0 / each for each in rows))


def _overlap(counts: NDArray[np.float64], rows: Sequence[float], share: float) -> Overlap:
    """The overlap of one set, of inputs with so many tuples.

    The error has two parts: which keys fell below the share, and how many tuples of each came.
    """
    met = prod(rows) * share
    counts = counts[:, counts.all(axis=0)]
    each = counts.prod(axis=0)
    total = float(each.sum())
    if not total:
        return Overlap(0.0, met, 1.0, 0)
    squares = each * each
    by_keys = (1.0 - share) * float(squares.sum())
    by_tuples = float((squares * (1.0 / counts).sum(axis=0)).sum())
    error = sqrt(by_keys + by_tuples) / total
    matching = _matching(total, by_tuples, rows, share)
    return Overlap(total, met, error, counts.shape[1], matching)

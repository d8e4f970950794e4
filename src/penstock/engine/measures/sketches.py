"""Sketches put together: the sketches of a batch's tasks as one, and what several have in common.

Every sketch keeps the tuples whose keys have the least hashes, so the keys that two of them keep
are the same sample of all keys (correlated sampling).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from penstock.engine.join.key_sketches import KeyShares
from penstock.engine.wire.facts import Fact, KeySketch, of_kind

# Different hashes that a sketch of a batch is to have. With 256 of them a selectivity is known to
# about a tenth, and batch after batch adds up; more would take longer to tell than they are worth.
FEWEST = 180
MOST = 2 * FEWEST

_ALL = 2.0**64


@dataclass(frozen=True)
class EqualFraction:
    """The fraction of the combinations of several inputs' tuples that have equal keys.

    `error` is its standard error, `hits` the sampled combinations that it rests on.
    """

    value: float
    error: float
    hits: int


def merged(sketches: Iterable[KeySketch]) -> dict[tuple[str, int], KeySketch]:
    """One sketch for each input and key class, of all the tuples that these are of."""
    together: dict[tuple[str, int], list[KeySketch]] = {}
    for sketch in sketches:
        together.setdefault((sketch.alias, sketch.key), []).append(sketch)
    return {at: _merged(mine) for at, mine in together.items()}


def next_shares(shares: KeyShares, facts: Iterable[Fact]) -> KeyShares:
    """The part of the hashes that the next batch is to keep, by what this one has kept."""
    sketches = of_kind(facts, KeySketch)
    return {**shares, **{(each.alias, each.key): _next_share(each) for each in sketches}}


def equal_fraction(sketches: Sequence[KeySketch]) -> EqualFraction | None:
    """The fraction of equal combinations, by what sketches have in common; None without tuples.

    Tuples whose key is NULL are among the combinations, and equal nothing.
    """
    combinations = float(np.prod([float(sketch.rows) for sketch in sketches]))
    if not combinations:
        return None
    share = min(sketch.share for sketch in sketches)
    counted = [_counts(sketch, share) for sketch in sketches]
    common = reduce(np.intersect1d, (hashes for hashes, _ in counted))
    found = np.ones(len(common))
    for hashes, counts in counted:
        found *= counts[np.searchsorted(hashes, common)]
    scale = 1.0 / share / combinations
    spread = sqrt((1.0 - share) * float((found**2).sum()))
    return EqualFraction(float(found.sum()) * scale, spread * scale, int(found.sum()))


def _merged(sketches: list[KeySketch]) -> KeySketch:
    if len(sketches) == 1:
        return sketches[0]
    first, share = sketches[0], min(sketch.share for sketch in sketches)
    counted = [_counts(sketch, share) for sketch in sketches]
    hashes, places = np.unique(np.concatenate([h for h, _ in counted]), return_inverse=True)
    counts = np.zeros(len(hashes), np.int64)
    np.add.at(counts, places, np.concatenate([c for _, c in counted]))
    return KeySketch(
        alias=first.alias,
        key=first.key,
        rows=sum(sketch.rows for sketch in sketches),
        known=sum(sketch.known for sketch in sketches),
        share=share,
        hashes=hashes.tobytes(),
        counts=counts.tobytes(),
    )


def _counts(sketch: KeySketch, share: float) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """The hashes below a share, sorted, and their counts."""
    hashes = np.frombuffer(sketch.hashes, np.uint64)
    counts = np.frombuffer(sketch.counts, np.int64)
    if share >= sketch.share:
        return hashes, counts
    end = np.searchsorted(hashes, np.uint64(int(share * _ALL)))
    return hashes[:end], counts[:end]


def _next_share(sketch: KeySketch) -> float:
    """Half or double the share until about as many hashes are kept as are wanted."""
    kept, share = len(sketch.hashes) / 8, sketch.share
    while kept > MOST:
        kept, share = kept / 2, share / 2
    while kept < FEWEST and share < 1.0:
        kept, share = max(kept, 1) * 2, share * 2
    return share

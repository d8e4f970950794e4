"""Key sketches: the keys with the least hashes among an input's new tuples, and how often each is.

All inputs keep the same hashes, so that what a sketch of one and a sketch of another have in common
tells how many of their tuples are equal, whether or not a plan ever compares them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from penstock.engine.wire.facts import KeySketch
from penstock.kernels.key_counts import count_keys

KeyShares = Mapping[tuple[str, int], float]
"""The part of all hashes, a power of two, that is kept of an input's key class."""

# Places of a task's table, of which half are used: at most 1,024 hashes, 16 KiB, travel.
_PLACES = 1 << 11
_ALL = 2.0**64
_HIGHEST = np.uint64(2**64 - 1)


@dataclass
class KeyCounter:
    """Counts the keys of one input in one key class."""

    highest: np.uint64
    passed: int = 0
    known: int = 0
    counted: int = 0
    keys: NDArray[np.uint64] = field(default_factory=lambda: np.empty(_PLACES, np.uint64))
    counts: NDArray[np.int64] = field(default_factory=lambda: np.zeros(_PLACES, np.int64))

    @classmethod
    def of(cls, share: float) -> KeyCounter:
        """A counter of the least hashes, so large a part of all."""
        return cls(np.uint64(int(share * _ALL) - 1))

    def take(self, passed: int, known: int, hashes: NDArray[np.int64]) -> None:
        """Count some of the tuples that met the filters, of which `known` have no NULL in the key:
        those that have none in any key, by their hashes."""
        self.passed += passed
        self.known += known
        self.counted += len(hashes)
        few = hashes.view(np.uint64)
        if self.highest < _HIGHEST:
            # Most are above it, which is seen many at a time.
            few = few[few <= self.highest]
        self.highest = np.uint64(count_keys(few, self.highest, self.keys, self.counts))

    def sketch(self, alias: str, key: int) -> KeySketch:
        """What was counted."""
        used = np.flatnonzero(self.counts)
        order = used[np.argsort(self.keys[used])]
        return KeySketch(
            alias=alias,
            key=key,
            rows=self._rows,
            known=self.counted,
            share=(int(self.highest) + 1) / _ALL,
            hashes=self.keys[order].tobytes(),
            counts=self.counts[order].tobytes(),
        )

    @property
    def _rows(self) -> int:
        """Tuples that those counted stand for: as many more as have a NULL in this key, not in
        another one, which says nothing of how often this one meets."""
        return round(self.counted * self.passed / self.known) if self.known else self.passed


@dataclass
class KeyCounters:
    """The counters of all inputs and key classes that a task packs."""

    shares: KeyShares
    counters: dict[tuple[str, int], KeyCounter] = field(default_factory=dict)

    def at(self, alias: str, key: int) -> KeyCounter:
        """The counter of an input in a key class; what has no share yet is counted whole."""
        found = self.counters.get((alias, key))
        if found is None:
            found = KeyCounter.of(self.shares.get((alias, key), 1.0))
            self.counters[alias, key] = found
        return found

    def sketches(self) -> Iterator[KeySketch]:
        """What was counted."""
        return (counter.sketch(*at) for at, counter in self.counters.items())

"""Random numbers by number: the same for the same seed, salt and number, whoever draws them."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import numpy as np

Words = np.ndarray[Any, np.dtype[np.uint64]]
Numbers = np.ndarray[Any, np.dtype[np.int64]]
Floats = np.ndarray[Any, np.dtype[np.float64]]

# The constants of SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators).
_GOLDEN = 0x9E3779B97F4A7C15
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFF_FFFF)


def mixed(numbers: Numbers, seed: int, salt: str) -> Words:
    """A random word for each number."""
    start = blake2b(f"{seed} {salt}".encode(), digest_size=8).digest()
    # In place, since it is the memory that takes the time.
    words: Words = numbers.astype(np.uint64)
    words *= np.uint64(_GOLDEN)
    words += np.uint64(int.from_bytes(start))
    words ^= words >> np.uint64(30)
    words *= _FIRST
    words ^= words >> np.uint64(27)
    words *= _SECOND
    words ^= words >> np.uint64(31)
    return words


def low_below(words: Words, count: int) -> Numbers:
    """A number from 0 to before `count`, at most 2³², by the lower half of each word."""
    return ((words & _LOW) * np.uint64(count) >> _HALF).view(np.int64)


def high_below(words: Words, counts: Numbers | int) -> Numbers:
    """A number from 0 to before each count, at most 2³², by the upper half of each word."""
    below: Words = np.asarray(counts, np.uint64) * (words >> _HALF)
    return (below >> _HALF).view(np.int64)


def fractions(words: Words) -> Floats:
    """A number from 0 up to but not 1 by each word."""
    found: Floats = (words >> np.uint64(11)).astype(np.float64)
    return found * 2.0**-53

"""Drop boxes: which tuples are kept, by a hash that a replay gives again."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from penstock.kernels.hashing import combine, hash_bytes, mix

Int64s = NDArray[np.int64]

_SAMPLES = 13
"""Another seed than drop boxes have: what they keep and what is sampled must be independent."""


def keeps(seed: int, alias: str, arrivals: Int64s, fraction: float) -> NDArray[np.bool_]:
    """Whether each tuple is kept: its hash, of 64 even bits, is below that fraction of them.

    The hash is of the seed, the stream's alias and the arrival number alone, so that batches,
    restarts and engines agree, and streams are shed independently of each other.
    """
    if fraction >= 1.0:
        return np.ones(len(arrivals), np.bool_)
    hashes = _hashes(seed, alias, arrivals).view(np.uint64)
    kept: NDArray[np.bool_] = hashes < np.uint64(max(0.0, fraction) * 2.0**64)
    return kept


def lots(seed: int, alias: str, arrivals: Int64s) -> Int64s:
    """64 random bits for each tuple, of which a replay gives the same.

    They are scrambled once more, so that they tell nothing of whether it is kept.
    """
    return mix(_hashes(seed, alias, arrivals).view(np.uint64))


def sample_lots(alias: str, arrivals: Int64s) -> NDArray[np.uint64]:
    """64 random bits for each tuple of an input, by which some are drawn into samples.

    Cheaper than `lots`, since every new tuple needs one; they tell nothing of what is kept.
    """
    salt = np.uint64(_stream_hash(_SAMPLES, alias).view(np.uint64))
    numbers = np.ascontiguousarray(arrivals, np.int64).view(np.uint64)
    return mix(numbers ^ salt).view(np.uint64)


def _hashes(seed: int, alias: str, arrivals: Int64s) -> Int64s:
    numbers = mix(np.ascontiguousarray(arrivals, np.int64).view(np.uint64))
    return combine([np.full(len(arrivals), _stream_hash(seed, alias)), numbers])


def _stream_hash(seed: int, alias: str) -> np.int64:
    name = np.frombuffer(alias.encode(), np.uint8)
    of_name = hash_bytes(np.array([0, len(name)]), name)
    of_seed = mix(np.array([seed], np.int64).view(np.uint64))
    both: np.int64 = combine([of_seed, of_name])[0]
    return both

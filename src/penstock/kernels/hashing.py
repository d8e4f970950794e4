"""Hash join keys to 64 bits, the same on every machine and in every run."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from penstock.kernels.compiled import compiled, inlined

Hashes = NDArray[np.int64]

LONG_DIGITS = 18
"""The digits of DECIMALs that 64 bits hold."""

_SEED = np.uint64(0x9E3779B97F4A7C15)
_M1 = np.uint64(0xBF58476D1CE4E5B9)
_M2 = np.uint64(0x94D049BB133111EB)
_ALL_BITS = (1 << 64) - 1


def hash_column(column: pa.Array) -> Hashes:
    """A hash for each value of a column without nulls.

    Numbers, booleans and times are hashed by a bijection of their 64 bits, so that equal hashes
    mean equal values; −0.0 and 0.0 are one value and so are all NaNs. Text and bytes may collide,
    and so may DECIMALs of more than 18 digits.
    """
    if pa.types.is_large_string(column.type) or pa.types.is_large_binary(column.type):
        return _hash_text(column)
    if pa.types.is_decimal(column.type):
        low, high = words_of(column)
        return mix(low) if column.type.precision <= LONG_DIGITS else combine([mix(low), mix(high)])
    return mix(_bits(column))


def combine(hashes: list[Hashes]) -> Hashes:
    """One hash for a key of several parts."""
    combined = hashes[0]
    for other in hashes[1:]:
        combined = _fold(combined, other)
    return combined


def partition_of(hashes: Hashes, partitions: int) -> NDArray[np.int64]:
    """The partition, 0 to `partitions` − 1, that each hash belongs to."""
    upper = hashes.view(np.uint64) >> np.uint64(32)
    return (upper % np.uint64(partitions)).astype(np.int64)


def _bits(column: pa.Array) -> NDArray[np.uint64]:
    kind = column.type
    if pa.types.is_floating(kind):
        values: NDArray[np.float64] = pc.cast(column, pa.float64()).to_numpy() + 0.0
        values[np.isnan(values)] = np.nan
        return values.view(np.uint64)
    if pa.types.is_date32(kind):
        column = pc.cast(column, pa.int32())
    elif pa.types.is_boolean(kind):
        column = pc.cast(column, pa.uint8())
    whole: NDArray[np.int64] = pc.cast(column, pa.int64()).to_numpy(zero_copy_only=False)
    return whole.view(np.uint64)


def _hash_text(column: pa.LargeStringArray) -> Hashes:
    _, offsets, data = column.buffers()
    bounds = np.frombuffer(offsets, np.int64)[column.offset : column.offset + len(column) + 1]
    raw = np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8)
    return hash_bytes(bounds, raw)


def words_of(column: pa.Array) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """The low and the high 64 bits of DECIMALs without their point."""
    words = np.frombuffer(column.buffers()[1] or b"", np.uint64).reshape(-1, 2)
    own = words[column.offset : column.offset + len(column)]
    return own[:, 0].copy(), own[:, 1].copy()


@inlined
def _scramble(x: np.uint64) -> np.uint64:
    x = (x ^ (x >> np.uint64(30))) * _M1
    x = (x ^ (x >> np.uint64(27))) * _M2
    return x ^ (x >> np.uint64(31))


@compiled
def mix(bits: NDArray[np.uint64]) -> Hashes:
    """A bijection of 64 bits that spreads them evenly."""
    out = np.empty(len(bits), np.int64)
    for i in range(len(bits)):
        out[i] = np.int64(_scramble(bits[i] + _SEED))
    return out


def unmixed(hash_: int) -> int:
    """The 64 bits that `mix` gives such a hash, without a sign; for the few that people look at."""
    x = hash_ & _ALL_BITS
    x = (x ^ (x >> 31) ^ (x >> 62)) * pow(int(_M2), -1, _ALL_BITS + 1) & _ALL_BITS
    x = (x ^ (x >> 27) ^ (x >> 54)) * pow(int(_M1), -1, _ALL_BITS + 1) & _ALL_BITS
    return (x ^ (x >> 30) ^ (x >> 60)) - int(_SEED) & _ALL_BITS


@compiled
def _fold(left: Hashes, right: Hashes) -> Hashes:
    out = np.empty(len(left), np.int64)
    for i in range(len(left)):
        out[i] = np.int64(_scramble(np.uint64(left[i]) * _SEED + np.uint64(right[i])))
    return out


@compiled
def hash_bytes(bounds: NDArray[np.int64], data: NDArray[np.uint8]) -> Hashes:
    """A hash for each stretch of bytes between two neighbouring bounds."""
    out = np.empty(len(bounds) - 1, np.int64)
    for i in range(len(out)):
        state = _SEED ^ np.uint64(bounds[i + 1] - bounds[i])
        word = np.uint64(0)
        filled = 0
        for j in range(bounds[i], bounds[i + 1]):
            word = (word << np.uint64(8)) | np.uint64(data[j])
            filled += 1
            if filled == 8:
                state = _scramble(state * _M1 + word)
                word = np.uint64(0)
                filled = 0
        out[i] = np.int64(_scramble(state * _M1 + word))
    return out


@compiled
def among(hashes: Hashes, wanted: Hashes) -> NDArray[np.bool_]:
    """Whether each hash is one of the wanted ones; being hashes, they spread over a table."""
    found = np.zeros(len(hashes), np.bool_)
    if not len(wanted):
        return found
    size = 2
    while size < 2 * len(wanted):
        size *= 2
    table, taken = np.zeros(size, np.int64), np.zeros(size, np.bool_)
    for each in wanted:
        at = each & (size - 1)
        while taken[at] and table[at] != each:
            at = (at + 1) & (size - 1)
        table[at], taken[at] = each, True
    for i in range(len(hashes)):
        at = hashes[i] & (size - 1)
        while taken[at] and table[at] != hashes[i]:
            at = (at + 1) & (size - 1)
        found[i] = taken[at]
    return found

"""Damage to files: bits that flip, ends that are lost, pieces that are zero, doubled or strange."""

from __future__ import annotations

from collections.abc import Callable
from random import Random


def damaged(rng: Random, data: bytes) -> bytes:
    """The bytes of a file after something has happened to them."""
    return rng.choice(_DAMAGES)(rng, data)


def _flip(rng: Random, data: bytes) -> bytes:
    found = bytearray(data)
    for _ in range(rng.choice((1, 1, 3, 50)) if data else 0):
        found[rng.randrange(len(found))] ^= 1 << rng.randrange(8)
    return bytes(found)


def _truncate(rng: Random, data: bytes) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _zero(rng: Random, data: bytes) -> bytes:
    start, end = _span(rng, data)
    return data[:start] + bytes(end - start) + data[end:]


def _strange(rng: Random, data: bytes) -> bytes:
    start, end = _span(rng, data)
    return data[:start] + rng.randbytes(rng.choice((1, 4, 100))) + data[end:]


def _double(rng: Random, data: bytes) -> bytes:
    start, end = _span(rng, data)
    return data[:end] + data[start:]


def _lose(rng: Random, data: bytes) -> bytes:
    start, end = _span(rng, data)
    return data[:start] + data[end:]


def _empty(rng: Random, data: bytes) -> bytes:
    return rng.choice((b"", b"\0", b"\n", b"null", b"{}", b"[]", bytes(len(data))))


def _span(rng: Random, data: bytes) -> tuple[int, int]:
    start = rng.randrange(len(data) + 1)
    return start, min(len(data), start + rng.choice((1, 2, 8, 64, 1000)))


_DAMAGES: tuple[Callable[[Random, bytes], bytes], ...] = (
    *(_flip, _flip, _truncate, _zero, _strange, _double, _lose, _empty),
)

"""Physical choices: what a plan leaves open and an engine must settle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Memory:
    """Bytes that there are, those that windows, indexes and inner results take of them, and the
    windows that have no index and are looked through."""

    limit: float
    used: float
    scanned: tuple[str, ...]


@dataclass(frozen=True)
class Lazily:
    """Joins every `tau` seconds, their work as a part of what joining each tuple as it comes takes,
    and the streams whose new tuples are not the outermost loop (`behind`)."""

    tau: float
    work: float
    behind: tuple[str, ...]


@dataclass(frozen=True)
class Physical:
    """Buckets of each hashed input's table, seconds between two cleanings of the windows, and the
    shortest interval (τ, seconds) of re-execution that keeps up: 0 is eager, None is none.

    `memory` is there where memory is limited, `lazy` where the plan is for joins every so often.
    """

    buckets: Mapping[str, int]
    expiration: float
    interval: float | None
    memory: Memory | None = None
    lazy: Lazily | None = None

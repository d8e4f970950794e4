"""Physical choices: what a plan leaves open and an engine must settle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Physical:
    """Buckets of each hashed input's table, seconds between two cleanings of the windows, and the
    shortest interval (τ, seconds) of re-execution that keeps up: 0 is eager, None is none."""

    buckets: Mapping[str, int]
    expiration: float
    interval: float | None

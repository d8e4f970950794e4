"""Given: what a script has from outside of its text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from penstock.query.foreign.frame import FrameShape


class Allowed(Protocol):
    """Knows where a script may read and write; as text, the folders."""

    def stray(self, path: str) -> str | None:
        """What a path or pattern leads to elsewhere; None if nothing is."""


@dataclass(frozen=True)
class Given:
    """DataFrames for its streams and tables, and the folders that it may touch."""

    frames: Mapping[str, FrameShape] = field(default_factory=dict)
    """By the names that they were given for."""

    roots: Allowed | None = None
    """The folders below which all its files are; None if it may name any."""

"""Litter: chunks that nobody needs any more, left to the tasks of the next batch.

Thousands of partitions leave tens of thousands of files in every batch. A driver that deleted them
would do little else.
"""

from __future__ import annotations

from collections.abc import Iterable


class Litter:
    """Names of chunks to be deleted by whoever takes them first."""

    def __init__(self) -> None:
        self._names: list[str] = []

    def leave(self, names: Iterable[str]) -> None:
        """Have somebody else delete these."""
        self._names += names

    def taken(self) -> list[str]:
        """All that was left; it is the caller's now."""
        names, self._names = self._names, []
        return names

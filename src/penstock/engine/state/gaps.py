"""Gaps: what inner state lacks that fills itself while batches go by."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Gap:
    """Inner results that are missing: all with a combination of `members` in them whose tuples had
    all come before the state was begun.

    None of these is alive after `until`, event time in microseconds, so the gap is closed once
    nothing comes any more that is older.
    """

    members: tuple[str, ...]
    until: int


Gaps = tuple[Gap, ...]

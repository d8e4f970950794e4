"""The rhythm of measuring: what is sampled is not sampled in every batch.

Of each two batches one sketches keys, and in the other probes tell what was in their reach. Which
of them does which is drawn, the same in a replay, so that streams with a rhythm of their own are
seen too.
"""

from __future__ import annotations

import zlib

# Batches that do both: the first plans are chosen by them.
_FIRST = 8


def sketches_keys(number: int) -> bool:
    """Whether a batch sketches the keys of new tuples."""
    return number < _FIRST or _is_drawn(number)


def tells_reach(number: int) -> bool:
    """Whether the probes of a batch tell how much was in their reach."""
    return number < _FIRST or not _is_drawn(number)


def _is_drawn(number: int) -> bool:
    return (zlib.crc32(b"%d" % (number // 2)) ^ number) & 1 == 0

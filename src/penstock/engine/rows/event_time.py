"""Event times, in microseconds, as people read them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def moment(micros: int) -> str:
    """A time to the second, such as `2026-11-15 10:15:02`; a finer one with its fraction."""
    try:
        shown = (_EPOCH + timedelta(microseconds=micros)).replace(tzinfo=None)
    except OverflowError:
        return f"{micros:,} µs"
    return shown.isoformat(" ").rstrip("0") if shown.microsecond else shown.isoformat(" ")

"""Event times and spans of them as people read them; both are microseconds."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_UNITS = (
    (86_400_000_000, "day"),
    (3_600_000_000, "hour"),
    (60_000_000, "minute"),
    (1_000_000, "second"),
    (1_000, "millisecond"),
    (1, "microsecond"),
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Fewer of a unit are shown with a tenth.
_FEW = 10


def moment(micros: int) -> str:
    """A time to the second, such as `2026-11-15 10:15:02`; a finer one with its fraction."""
    try:
        shown = (_EPOCH + timedelta(microseconds=micros)).replace(tzinfo=None)
    except OverflowError:
        return f"{micros:,} µs"
    return shown.isoformat(" ").rstrip("0") if shown.microsecond else shown.isoformat(" ")


def span(micros: int) -> str:
    """About how long something is: `4 days`, `1.5 hours`, `40 minutes`."""
    size, unit = next((u for u in _UNITS if micros >= u[0]), (1_000_000, "second"))
    count = micros / size
    shown = f"{count:,.0f}" if count >= _FEW else f"{count:.1f}".removesuffix(".0")
    return f"{shown} {unit}{'' if shown == '1' else 's'}"

"""Text to timestamps: ISO dates and times, with or without a zone; without one they are UTC."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pyarrow.compute as pc

from penstock.engine.expressions.arrow_types import TIMESTAMP

# The years 1 to 9999: what SQL and Python agree on, and far from where int64 wraps.
EARLIEST = -62_135_596_800_000_000
LATEST = 253_402_300_799_999_999
_MICROS_A_DAY = 86_400_000_000

_ISO = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})"
    r"(?:[ T]([0-9]{2})(?::([0-9]{2})(?::([0-9]{2})(?:\.([0-9]{1,9}))?)?)?"
    r"(?:(Z)|([+-])([0-9]{2})(?::?([0-5][0-9]))?)?)?"
)
_ZONED = re.compile(r"[ T].*[Z+-]")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def timestamps_of(text: pa.Array) -> pa.Array:
    """TIMESTAMPs, NULL where the text is not one; blanks around it do not matter."""
    try:
        return _in_range(pc.cast(text, pa.timestamp("us", tz=_zone(text))))
    except pa.ArrowInvalid:
        return pa.array([_micros(each) for each in text.to_pylist()], pa.int64()).cast(TIMESTAMP)


def _zone(text: pa.Array) -> str | None:
    """UTC if the first text has a zone: Arrow reads a column only if all have one, or none."""
    first = pc.index(pc.is_valid(text), True).as_py()
    return "UTC" if first >= 0 and _ZONED.search(text[first].as_py()) else None


def are_in_range(micros: pa.Array) -> bool:
    """Whether all these microseconds since the epoch are TIMESTAMPs."""
    bounds = pc.min_max(micros).as_py()
    return bounds["min"] is None or (bounds["min"] >= EARLIEST and bounds["max"] <= LATEST)


def in_calendar(times: pa.Array) -> pa.Array:
    """DATEs or TIMESTAMPs, NULL where Arrow has years that SQL does not."""
    if not pa.types.is_date32(times.type):
        return _in_range(times)
    days, first, last = times.cast(pa.int32()), EARLIEST // _MICROS_A_DAY, LATEST // _MICROS_A_DAY
    known = pc.and_(pc.greater_equal(days, first), pc.less_equal(days, last))
    return pc.if_else(known, times, pa.scalar(None, times.type))


def _in_range(moments: pa.Array) -> pa.Array:
    """The moments in UTC; Arrow also reads the year 0, which SQL does not have."""
    micros = moments.cast(pa.int64())
    if not are_in_range(micros):
        known = pc.and_(pc.greater_equal(micros, EARLIEST), pc.less_equal(micros, LATEST))
        micros = pc.if_else(known, micros, None)
    return micros.cast(TIMESTAMP)


def _micros(text: str | None) -> int | None:
    parts = _ISO.fullmatch(text.strip(" ")) if text else None
    if parts is None:
        return None
    *numbers, fraction, _, sign, hours, minutes = parts.groups()
    if int(hours or 0) > 23:
        return None
    shift = timedelta(hours=int(hours or 0), minutes=int(minutes or 0))
    try:
        year, month, day, hour, minute, second = (int(number or 0) for number in numbers)
        micros = int((fraction or "0").ljust(6, "0")[:6])
        local = datetime(year, month, day, hour, minute, second, micros, tzinfo=UTC)
        moment = local + shift if sign == "-" else local - shift
    except (ValueError, OverflowError):
        return None
    return (moment - _EPOCH) // timedelta(microseconds=1)

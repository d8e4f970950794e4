"""Text to timestamps: ISO dates and times, with or without a zone; without one they are UTC."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.compute as pc

from penstock.engine.expressions.arrow_types import TIMESTAMP, WALL_TIME

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


def timestamps_of(text: pa.Array, zone: str | None = None) -> pa.Array:
    """TIMESTAMPs, NULL where the text is not one; blanks around it do not matter.

    Texts without a zone are of the given one, else UTC.
    """
    try:
        times = pc.cast(text, pa.timestamp("us", tz=_zone(text)))
    except pa.ArrowInvalid:
        clock = ZoneInfo(zone) if zone else None
        micros = [_micros(each, clock) for each in text.to_pylist()]
        return pa.array(micros, pa.int64()).cast(TIMESTAMP)
    return _in_range(times if zone is None or times.type.tz else in_zone(times, zone))


def wall_times_of(text: pa.Array) -> pa.Array:
    """TIMESTAMP_NTZs, NULL where the text is not one, or has a zone."""
    zoned = pc.match_substring_regex(text, _ZONED.pattern)
    return timestamps_of(pc.if_else(zoned, None, text)).cast(WALL_TIME)


def in_zone(times: pa.Array, zone: str) -> pa.Array:
    """When it is what clocks show somewhere: twice an hour, the first time, as in Spark.

    What a clock skips is counted on from before, so that 2:30 is 3:30 there.
    """
    times = times.cast(WALL_TIME, safe=False)
    try:
        return pc.assume_timezone(times, zone, ambiguous="earliest", nonexistent="raise")
    except pa.ArrowInvalid:
        clock = ZoneInfo(zone)
        moments = [_moment(each, clock) for each in times.to_pylist()]
        return pa.array(moments, TIMESTAMP)


def _moment(wall: datetime | None, zone: ZoneInfo) -> datetime | None:
    if wall is None:
        return None
    shift = wall.replace(tzinfo=zone).utcoffset()
    return wall.replace(tzinfo=UTC) - (shift or timedelta())


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
        return _in_range(times).cast(times.type)
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


def _micros(text: str | None, zone: ZoneInfo | None = None) -> int | None:
    parts = _ISO.fullmatch(text.strip(" ")) if text else None
    if parts is None:
        return None
    *numbers, fraction, utc, sign, hours, minutes = parts.groups()
    if int(hours or 0) > 23:
        return None
    shift = timedelta(hours=int(hours or 0), minutes=int(minutes or 0))
    try:
        year, month, day, hour, minute, second = (int(number or 0) for number in numbers)
        micros = int((fraction or "0").ljust(6, "0")[:6])
        local = datetime(year, month, day, hour, minute, second, micros, tzinfo=UTC)
        if zone is not None and not (utc or sign):
            shift = local.replace(tzinfo=zone).utcoffset() or timedelta()
        moment = local + shift if sign == "-" else local - shift
    except (ValueError, OverflowError):
        return None
    return (moment - _EPOCH) // timedelta(microseconds=1)

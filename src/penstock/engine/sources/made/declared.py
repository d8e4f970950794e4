"""What made-up streams declare alike: where they start, and how their rate changes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from penstock.engine.sources.made.rate_shape import FORMS, RateShape
from penstock.errors import SourceError
from penstock.query.source import Source

RATES = (1e-6, 1e8)
"""The lowest and the highest rate, tuples/s."""
_START = datetime(2026, 1, 1, tzinfo=UTC)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def start_of(source: Source) -> int:
    """The first event time, microseconds since 1970."""
    written = source.option("start")
    try:
        start = _START if written is None else datetime.fromisoformat(str(written).strip())
    except ValueError:
        hint = "write start = '2026-01-01 00:00:00'"
        message = f"cannot start at {written!r}, which is no time"
        raise mistake(source, "start", message, hint) from None
    start = start.replace(tzinfo=UTC) if start.tzinfo is None else start
    return (start - _EPOCH) // timedelta(microseconds=1)


def shape_of(source: Source, rate: float | None) -> RateShape | None:
    """How the rate changes; None if it stays as it is."""
    written = source.option("shape")
    if written is None:
        return None
    hint = f"write shape = 'burst(20 s, 10 s, 5)', or one of {FORMS}"
    try:
        shape = RateShape.parse(str(written))
    except ValueError as error:
        raise mistake(source, "shape", f"has no such shape: {error}", hint) from None
    if rate is not None and rate * shape.factor > RATES[1]:
        raise mistake(source, "shape", "comes to more than 100,000,000 tuples/s", hint)
    return shape


def mistake(source: Source, option: str, message: str, hint: str) -> SourceError:
    """The error of a stream that cannot be made so."""
    place = source.places.get(option) or source.places.get("name")
    return SourceError(f"stream {source.name} {message}", place=place, hint=hint)

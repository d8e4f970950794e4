"""The event time of a stream, guessed from its columns, and how far its tuples are out of order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.cli.scripts.column_types import Guess
from penstock.duration import MICROS, Duration
from penstock.engine.expressions.timestamps import timestamps_of
from penstock.query.source import Unit
from penstock.query.types import DataType

# Numbers are times if they are of these years: few other numbers are.
_FROM, _TO = 631_152_000, 4_102_444_800  # 1990 and 2100, in seconds
_PER_SECOND: Mapping[Unit, int] = {"s": 1, "ms": 1_000, "us": MICROS}
NANOS = 1_000_000_000
# The first is the likeliest name of an event time.
_NAMES = (
    *("ts", "timestamp", "event_time", "eventtime", "time", "datetime", "date_time", "at"),
    *("created_at", "occurred_at", "date"),
)
_HOUR = 3600
DAY = 24 * _HOUR * MICROS
# A lateness is rounded up to one of these, beyond them to whole days.
_MILLIS = (1, 2, 5, 10, 20, 50, 100, 200, 500)
_SECONDS = (1, 2, 5, 10, 20, 30, *(60 * m for m in (1, 2, 5, 10, 20, 30)), _HOUR)
_STEPS = (
    *(each * 1_000 for each in _MILLIS),
    *(each * MICROS for each in (*_SECONDS, 2 * _HOUR, 6 * _HOUR, 12 * _HOUR)),
)


@dataclass(frozen=True)
class EventTime:
    """A column of times: its values in microseconds, in the order of the rows."""

    name: str
    type: DataType
    unit: Unit | None
    micros: Sequence[int]
    nulls: int

    @property
    def behind(self) -> tuple[int, int]:
        """How many tuples are behind an earlier one, and how far at most, in microseconds."""
        values = np.asarray(self.micros, dtype=np.int64)
        if len(values) == 0:
            return 0, 0
        lags = np.maximum.accumulate(values) - values
        return int((lags > 0).sum()), int(lags.max())


def event_time(
    columns: Mapping[str, Sequence[Sequence[Any]]], guesses: Mapping[str, Guess]
) -> EventTime | None:
    """The column that is likeliest the event time, of values file by file; None if there is none.

    One without NULLs goes first, then one that is a time and no number, then the likelier name,
    then the one that stands first.
    """
    found = [
        each
        for name, guess in guesses.items()
        if (each := _as_time(name, guess.type, columns[name])) is not None
    ]
    return min(found, key=_rank, default=None)


def is_in_nanoseconds(values: Sequence[Sequence[Any]]) -> bool:
    """Whether numbers look like nanoseconds since 1970, which are no unit of the language."""
    known = _numbers(values)
    return bool(known) and all(_FROM * NANOS <= each <= _TO * NANOS for each in known)


def is_in_parts_of_seconds(values: Sequence[Sequence[Any]]) -> bool:
    """Whether numbers look like seconds since 1970 with a fraction, which are no unit either."""
    try:
        known = [float(each) for part in values for each in _plain(part) if each is not None]
    except (TypeError, ValueError, OverflowError):
        return False
    has_fraction = any(each != int(each) for each in known if abs(each) <= _TO)
    return has_fraction and all(_FROM <= each <= _TO for each in known)


def _rank(time: EventTime) -> tuple[bool, bool, int]:
    name = time.name.lower()
    place = _NAMES.index(name) if name in _NAMES else len(_NAMES)
    return time.nulls > 0, time.type is DataType.BIGINT, place


def _as_time(
    name: str, type_: DataType | None, values: Sequence[Sequence[Any]]
) -> EventTime | None:
    if type_ is DataType.BIGINT:
        return _counted(name, values)
    if type_ not in (DataType.TIMESTAMP, DataType.DATE):
        return None
    micros = [each for part in values for each in _micros(part)]
    known = [each for each in micros if each is not None]
    # Dates make an event time if they are declared so.
    return EventTime(name, DataType.TIMESTAMP, None, known, len(micros) - len(known))


def _micros(values: Sequence[Any]) -> list[int | None]:
    """Times as microseconds since 1970."""
    if isinstance(values, pa.ChunkedArray):
        times = pc.cast(values, pa.timestamp("us"), safe=False)
    else:
        times = timestamps_of(pa.array(values, pa.string()), None)
    found: list[int | None] = pc.cast(times, pa.int64()).to_pylist()
    return found


def _counted(name: str, values: Sequence[Sequence[Any]]) -> EventTime | None:
    """Numbers as times, in the unit in which all of them are of our years."""
    known = _numbers(values)
    count = sum(len(part) for part in values)
    for unit, per_second in _PER_SECOND.items():
        if known and all(_FROM * per_second <= each <= _TO * per_second for each in known):
            micros = [each * (MICROS // per_second) for each in known]
            return EventTime(name, DataType.BIGINT, unit, micros, count - len(known))
    return None


def _numbers(values: Sequence[Sequence[Any]]) -> list[int]:
    return [int(each) for part in values for each in _plain(part) if each is not None]


def _plain(values: Sequence[Any]) -> Iterator[Any]:
    yield from values.to_pylist() if isinstance(values, pa.ChunkedArray) else values


def rounded(micros: int) -> str:
    """A lateness that covers so much, as it is written."""
    whole_days = -(-micros // DAY) * DAY
    return str(Duration(next((step for step in _STEPS if step >= micros), whole_days))).lower()

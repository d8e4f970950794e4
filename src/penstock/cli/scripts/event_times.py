"""The event time of a stream, guessed from its columns, and how far its tuples are out of order."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.cli.scripts.column_types import Guess, are_nearly_all
from penstock.duration import MICROS, Duration
from penstock.engine.expressions.timestamps import EARLIEST, LATEST, timestamps_of
from penstock.query.source import Unit
from penstock.query.types import DataType

# Numbers are times if they are of these years: few other numbers are.
_FROM, _TO = 631_152_000, 4_102_444_800  # 1990 and 2100, in seconds
_PER_SECOND: Mapping[Unit, int] = {"s": 1, "ms": 1_000, "us": MICROS}
NANOS = 1_000_000_000
_OTHER_DATE = re.compile(
    r"([0-9]{1,2}([/.-])[0-9]{1,2}\2[0-9]{4}|[0-9]{4}([/.])[0-9]{1,2}\3[0-9]{1,2})([ T,]|$)"
)
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
# A lag is no disorder but a wrong time, or one that is not worth waiting for, if it is so many
# times what so many percent of the rows do not exceed; of rows in order, that counts as a minute.
_FAR = 10
_USUAL_PERCENT = 99
_LEAST_USUAL = 60 * MICROS


@dataclass(frozen=True)
class EventTime:
    """A column of times: its values in microseconds, in the order of the rows."""

    name: str
    type: DataType
    unit: Unit | None
    micros: Sequence[int]
    nulls: int
    strays: Sequence[Any] = ()
    """Values that are no times."""

    ahead: Sequence[int] = ()
    """Times that are too far in the future to be right: in microseconds, and not among the
    others."""

    is_of_future: bool = False
    """Whether most of its times are in the future, and so are meant to be."""

    @property
    def lacking(self) -> int:
        """How many rows have no time that is right."""
        return self.nulls + len(self.strays) + len(self.ahead)

    @property
    def behind(self) -> tuple[int, int]:
        """How many tuples are behind an earlier one, and how far at most, in microseconds, but for
        those that are too late."""
        lags = self._lags
        near = lags[lags <= self._bound]
        return int((near > 0).sum()), int(near.max(initial=0))

    @property
    def too_late(self) -> tuple[int, int, int]:
        """How many tuples are so far behind that waiting for them would hold up all others; the
        least and the most of these lags, in microseconds."""
        far = (lags := self._lags)[lags > self._bound]
        return len(far), int(far.min(initial=LATEST)), int(far.max(initial=0))

    @property
    def _lags(self) -> np.ndarray:
        values = np.asarray(self.micros, dtype=np.int64)
        return np.maximum.accumulate(values) - values

    @property
    def _bound(self) -> int:
        """The largest lag that is still disorder."""
        lags = np.sort(self._lags)
        if not are_nearly_all(len(lags) - 1, len(lags)):
            return int(lags.max(initial=0))  # A handful of rows tells nothing of what is usual.
        usual = int(lags[(len(lags) - 1) * _USUAL_PERCENT // 100])
        return _FAR * max(usual, _LEAST_USUAL)


def event_time(
    columns: Mapping[str, Sequence[Sequence[Any]]],
    guesses: Mapping[str, Guess],
    strays: Mapping[str, Sequence[Any]],
    latest: int,
) -> EventTime | None:
    """The column that is likeliest the event time, of values file by file; None if there is none.

    One that nearly all rows have goes first, then one that is a time and no number, then the
    likelier name, then the one that stands first. `strays` are the values of columns that are no
    times, and times after `latest`, in microseconds, are in the future.
    """
    found = [
        each
        for name, guess in guesses.items()
        if (each := _as_time(name, guess.type, columns[name], strays.get(name, ()))) is not None
    ]
    likeliest = min(found, key=_rank, default=None)
    return None if likeliest is None else _without_future(likeliest, latest)


def _without_future(time: EventTime, latest: int) -> EventTime:
    """A time without those values that are in the future, unless they are most of them."""
    ahead = [each for each in time.micros if each > latest]
    if 2 * len(ahead) >= len(time.micros):
        return replace(time, is_of_future=bool(ahead))
    return replace(time, micros=[each for each in time.micros if each <= latest], ahead=ahead)


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


def date_of_another_order(values: Sequence[Sequence[Any]]) -> str | None:
    """One of the texts, if nearly all are dates that are not read: `05/01/2026 10:00`."""
    known = [each for part in values for each in _plain(part) if each is not None]
    dates = [each for each in known if isinstance(each, str) and _OTHER_DATE.match(each)]
    return dates[0] if dates and are_nearly_all(len(dates), len(known)) else None


def _rank(time: EventTime) -> tuple[bool, bool, int]:
    name = time.name.lower()
    place = _NAMES.index(name) if name in _NAMES else len(_NAMES)
    is_common = are_nearly_all(len(time.micros), len(time.micros) + time.lacking)
    return not is_common, time.type is DataType.BIGINT, place


def _as_time(
    name: str, type_: DataType | None, values: Sequence[Sequence[Any]], strays: Sequence[Any]
) -> EventTime | None:
    if strays:
        wrong = set(map(str, strays))
        values = [[v for v in part if v is None or str(v) not in wrong] for part in values]
    if type_ is DataType.BIGINT:
        return _counted(name, values, strays)
    if type_ not in (DataType.TIMESTAMP, DataType.DATE):
        return None
    micros = [each for part in values for each in _micros(part)]
    known = [each for each in micros if each is not None]
    # Dates make an event time if they are declared so.
    return EventTime(name, DataType.TIMESTAMP, None, known, len(micros) - len(known), strays)


def _micros(values: Sequence[Any]) -> list[int | None]:
    """Times as microseconds since 1970."""
    if isinstance(values, pa.ChunkedArray):
        times = pc.cast(values, pa.timestamp("us"), safe=False)
    else:
        times = timestamps_of(pa.array(values, pa.string()), None)
    found: list[int | None] = pc.cast(times, pa.int64()).to_pylist()
    return found


def _counted(name: str, values: Sequence[Sequence[Any]], strays: Sequence[Any]) -> EventTime | None:
    """Numbers as times, in the unit in which nearly all of them are of our years."""
    known = _numbers(values)
    nulls = sum(len(part) for part in values) - len(known)
    for unit, per_second in _PER_SECOND.items():
        ours = sum(_FROM * per_second <= each <= _TO * per_second for each in known)
        if ours and are_nearly_all(ours, len(known) + len(strays)):
            size = MICROS // per_second
            micros = [each * size for each in known if EARLIEST <= each * size <= LATEST]
            beyond = [each for each in known if not EARLIEST <= each * size <= LATEST]
            return EventTime(name, DataType.BIGINT, unit, micros, nulls, [*strays, *beyond])
    return None


def _numbers(values: Sequence[Sequence[Any]]) -> list[int]:
    return [int(each) for part in values for each in _plain(part) if each is not None]


def _plain(values: Sequence[Any]) -> Iterator[Any]:
    yield from values.to_pylist() if isinstance(values, pa.ChunkedArray) else values


def rounded(micros: int) -> str:
    """A lateness that covers so much, as it is written."""
    whole_days = -(-micros // DAY) * DAY
    return str(Duration(next((step for step in _STEPS if step >= micros), whole_days))).lower()

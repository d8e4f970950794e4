"""Results of a rival as rows that can be compared: how many, and a sum over all in any order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds

from penstock.bench.nexmark.query import NexmarkQuery
from penstock.query.view import CHANGE, DELETE, TIME

Row = tuple[Any, ...]
Change = dict[str, Any]

_WORD = 1 << 64


@dataclass(frozen=True)
class Fingerprint:
    """A multiset of rows: their number, and the sum of their hashes."""

    count: int
    total: int


def fingerprint(rows: Iterable[Row]) -> Fingerprint:
    """The fingerprint of rows in any order."""
    count = total = 0
    for row in rows:
        text = "\x1f".join(_text(value) for value in row)
        total += int.from_bytes(blake2b(text.encode(), digest_size=8).digest())
        count += 1
    return Fingerprint(count, total % _WORD)


def compared(query: NexmarkQuery, rows: Iterable[Row], last_block_ms: int) -> Fingerprint:
    """The fingerprint of those rows of a query that every rival tells."""
    if query.behind_seconds is None:
        return fingerprint(rows)
    return fingerprint(told_by(rows, last_block_ms - query.behind_seconds * 1000))


def rows_in(folder: str | Path) -> list[Row]:
    """The rows of a folder of parquet files."""
    return [tuple(row.values()) for row in _read(folder)]


def _read(folder: str | Path) -> list[Change]:
    read: list[Change] = ds.dataset(str(folder), format="parquet").to_table().to_pylist()
    return read


def our_rows(query: NexmarkQuery, folder: str | Path) -> list[Row]:
    """The rows of Penstock's results, of a view as it is at its ticks or in the end."""
    if query.compared == "rows":
        return rows_in(folder)
    states = list(states_of(_read(folder), query.key))
    if query.compared == "end":
        return [_values(row) for row in states[-1][1]] if states else []
    return list(_at_ticks(states, timedelta(seconds=query.tick_seconds)))


def states_of(
    changes: Iterable[Change], key: tuple[str, ...]
) -> Iterator[tuple[datetime, list[Change]]]:
    """The rows of a view after each time at which it has changed."""
    rows: dict[Row, Change] = {}
    ordered = sorted(changes, key=lambda change: (change[TIME], change[CHANGE] != DELETE))
    for time, several in groupby(ordered, lambda change: change[TIME]):
        for change in several:
            rows.pop(tuple(change[name] for name in key), None)
            if change[CHANGE] != DELETE:
                rows[tuple(change[name] for name in key)] = change
        yield time, list(rows.values())


def _at_ticks(states: list[tuple[datetime, list[Change]]], every: timedelta) -> Iterator[Row]:
    """The rows at each tick, with it: between changes they stay as they are."""
    ends = [time for time, _ in states[1:]] + [states[-1][0] + every] if states else []
    for (time, rows), end in zip(states, ends, strict=True):
        while time < end:
            yield from ((*_values(row), time) for row in rows)
            time += every


def _values(row: Change) -> Row:
    return tuple(value for name, value in row.items() if name not in (CHANGE, TIME))


def told_by(rows: Iterable[Row], millis: int) -> list[Row]:
    """Those whose last value, a time of the first day, is not after so many milliseconds."""
    return [row for row in rows if _millis(row[-1]) % 86_400_000 <= millis]


def _text(value: Any) -> str:
    """A value as all rivals write it; means have as many digits as they agree on."""
    match value:
        case datetime():
            return str(_millis(value))
        case float():
            return f"{value:.12g}"
    return str(value)


def _millis(time: datetime) -> int:
    aware = time if time.tzinfo is not None else time.replace(tzinfo=UTC)
    return round(aware.timestamp() * 1000)

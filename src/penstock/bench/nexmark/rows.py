"""Results of a rival as rows that can be compared: how many, and a sum over all in any order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds

from penstock.query.view import CHANGE, TIME

_WORD = 1 << 64


@dataclass(frozen=True)
class Fingerprint:
    """A multiset of rows: their number, and the sum of their hashes."""

    count: int
    total: int


def fingerprint(rows: Iterable[tuple[Any, ...]]) -> Fingerprint:
    """The fingerprint of rows in any order."""
    count = total = 0
    for row in rows:
        text = "\x1f".join(_text(value) for value in row)
        total += int.from_bytes(blake2b(text.encode(), digest_size=8).digest())
        count += 1
    return Fingerprint(count, total % _WORD)


def rows_in(folder: str | Path) -> list[tuple[Any, ...]]:
    """The rows of a folder of parquet files; of a view those that were new, with their time."""
    table = ds.dataset(str(folder), format="parquet").to_table()
    listed = table.to_pylist()
    if CHANGE not in table.column_names:
        return [tuple(row.values()) for row in listed]
    names = [n for n in table.column_names if n not in (CHANGE, TIME)]
    return [(*(row[n] for n in names), row[TIME]) for row in listed if row[CHANGE] == "upsert"]


def told_by(rows: Iterable[tuple[Any, ...]], millis: int) -> list[tuple[Any, ...]]:
    """Those whose last value, a time of the first day, is not after so many milliseconds."""
    return [row for row in rows if _millis(row[-1]) % 86_400_000 <= millis]


def _text(value: Any) -> str:
    return str(_millis(value)) if isinstance(value, datetime) else str(value)


def _millis(time: datetime) -> int:
    aware = time if time.tzinfo is not None else time.replace(tzinfo=UTC)
    return round(aware.timestamp() * 1000)

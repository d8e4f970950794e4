"""Random rows of all types, hostile ones among them, as values in JSON, CSV and Avro."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta
from io import BytesIO
from random import Random
from typing import Any

import fastavro

Row = Mapping[str, Any]
COLUMNS = (
    "ts TIMESTAMP, b BOOLEAN, t TINYINT, s SMALLINT, i INT, l BIGINT, f FLOAT, d DOUBLE, x STRING, "
    "day DATE"
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TEXTS = (
    "",
    " ",
    "null",
    "a,b;c",
    'say "so"',
    '"',
    "two\nlines",
    "\r\n",
    "ß€😀",
    "0x10",
    "NaN",
    "é" * 9,
)


def rows(random: Random, count: int) -> list[Row]:
    """Rows with an event time, each other column NULL now and then."""
    return [
        {"ts": _moment(random), **{name: _maybe(random, make) for name, make in _MADE.items()}}
        for _ in range(count)
    ]


def as_json(row: Row) -> bytes:
    """A row as a JSON object; what is NULL may be left out."""
    shown = {name: _shown(value) for name, value in row.items() if value is not None}
    return json.dumps(shown if row["b"] else {**dict.fromkeys(row), **shown}).encode()


def as_csv(row: Row) -> bytes:
    """A row as a line of CSV, texts in quotes."""
    return ",".join(_field(value) for value in row.values()).encode()


def as_avro(row: Row) -> bytes:
    """A row in Avro, without its schema."""
    stream = BytesIO()
    fastavro.schemaless_writer(stream, SCHEMA, dict(row))
    return stream.getvalue()


def _schema() -> dict[str, Any]:
    micros = {"type": "long", "logicalType": "timestamp-micros"}
    days = {"type": "int", "logicalType": "date"}
    plain = {"b": "boolean", "t": "int", "s": "int", "i": "int", "l": "long", "f": "float"}
    kinds = {**plain, "d": "double", "x": "string", "day": days}
    fields: list[dict[str, Any]] = [{"name": "ts", "type": micros}]
    fields += [{"name": name, "type": ["null", kind]} for name, kind in kinds.items()]
    return {"type": "record", "name": "row", "fields": fields}


SCHEMA = _schema()


def _moment(random: Random) -> datetime:
    far = random.choice([10**9, 10**13, 6 * 10**16])
    return _EPOCH + timedelta(microseconds=random.randrange(-far, far))


def _float(random: Random) -> float:
    wide = random.choice([0.0, -0.0, 1e-40, 3e38, random.gauss(0, 1e6)])
    return float(struct.unpack("f", struct.pack("f", wide))[0])


def _text(random: Random) -> str:
    return "x" * 100_000 if random.random() < 0.01 else random.choice(_TEXTS)


def _whole(bits: int) -> Callable[[Random], int]:
    bound = 1 << (bits - 1)
    return lambda random: random.choice([-bound, bound - 1, 0, random.randrange(-bound, bound)])


_MADE: Mapping[str, Callable[[Random], Any]] = {
    "b": lambda random: random.random() < 0.5,
    "t": _whole(8),
    "s": _whole(16),
    "i": _whole(32),
    "l": _whole(64),
    "f": _float,
    "d": lambda random: random.choice([0.1, -0.0, 5e-324, 1.7e308, random.gauss(0, 1)]),
    "x": _text,
    "day": lambda random: random.choice([date(1, 1, 1), date(9999, 12, 31), date(1969, 2, 3)]),
}


def _maybe(random: Random, make: Callable[[Random], Any]) -> Any:
    return None if random.random() < 0.2 else make(random)


def _shown(value: Any) -> Any:
    return value.isoformat() if isinstance(value, date) else value


def _field(value: Any) -> str:
    match value:
        case None:
            return ""
        case str():
            return '"' + value.replace('"', '""') + '"'
        case bool():
            return str(value).lower()
    return str(_shown(value))

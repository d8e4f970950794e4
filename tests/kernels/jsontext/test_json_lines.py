"""Lines of JSON of every type, beside lines that are made value by value."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from penstock.kernels.jsontext.jsonlines import json_lines, json_objects

SIZE = 500
LOWEST, HIGHEST = -(2**63), 2**63 - 1
LETTERS = [*'abc"\\/ é日😀\x00\x08\x0b\x1f\x7f\n\r\t\f']
Random = np.random.Generator


def by_value(column: pa.Array) -> list[str]:
    """The text of each value: by Arrow's casts of one value, and by the json module."""
    return [_text(pa.array([value], column.type)) for value in column]


def _text(one: pa.Array) -> str:
    kind = one.type
    if one.null_count:
        return "null"
    if pa.types.is_timestamp(kind):
        text = one.cast(pa.timestamp("us")).cast(pa.string())[0].as_py().replace(" ", "T")
        return f'"{text}{"Z" if kind.tz else ""}"'
    value = one[0].as_py()
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, bytes):
        return f'"{b64encode(value).decode()}"'
    if pa.types.is_floating(kind) and not np.isfinite(value):
        return "null"
    text = one.cast(pa.string())[0].as_py()
    return f'"{text}"' if pa.types.is_date(kind) else str(text)


def wholes(rng: Random) -> Any:
    sizes = rng.integers(0, 63, SIZE)
    edges = [10**n + d for n in range(19) for d in (-1, 0, 1)]
    return np.array([*(rng.integers(-1, 2, SIZE) << sizes), *edges, *(-e for e in edges)])


def reals(rng: Random) -> Any:
    """Of any bits, of few digits, and at the edges of what there is."""
    twos, tens = 2.0 ** np.arange(-1074, 1024), [float(f"1e{n}") for n in range(-323, 309)]
    near = [np.nextafter(twos, 0), np.nextafter(twos, np.inf), np.nextafter(tens, 0)]
    odd = [np.nan, np.inf, -np.inf, -0.0, 0.0, 1.7976931348623157e308, 9007199254740993.0]
    bits = rng.integers(LOWEST, HIGHEST, SIZE).view(np.float64)
    short = rng.integers(-(10**6), 10**6, SIZE) / 100
    return np.concatenate([twos, tens, *near, odd, bits, short, rng.random(SIZE)])


def texts(rng: Random) -> list[str]:
    return ["".join(rng.choice(LETTERS, rng.integers(0, 30))) for _ in range(SIZE)]


KINDS: dict[str, Callable[[Random], pa.Array]] = {
    "bigint": lambda rng: pa.array(wholes(rng)),
    "lowest": lambda rng: pa.array([LOWEST, HIGHEST, 0]),
    "int": lambda rng: pa.array(rng.integers(-(2**31), 2**31, SIZE), pa.int32()),
    "byte": lambda rng: pa.array(range(-128, 128), pa.int8()),
    "unsigned": lambda rng: pa.array([0, 2**64 - 1], pa.uint64()),
    "boolean": lambda rng: pa.array(rng.random(SIZE) < 0.5),
    "double": lambda rng: pa.array(reals(rng)),
    "float": lambda rng: pa.array(rng.random(SIZE).astype(np.float32)),
    "text": lambda rng: pa.array(texts(rng), pa.large_string()),
    "short text": lambda rng: pa.array(texts(rng), pa.string()),
    "plain text": lambda rng: pa.array([t.strip('"\\\n') for t in texts(rng)], pa.large_string()),
    "utc": lambda rng: pa.array(rng.integers(-(10**16), 10**16, SIZE), pa.timestamp("us", "UTC")),
    "local": lambda rng: pa.array(rng.integers(0, 10**9, SIZE), pa.timestamp("us")),
    "millis": lambda rng: pa.array(rng.integers(0, 10**9, SIZE), pa.timestamp("ms", "UTC")),
    "odd years": lambda rng: pa.array([-(10**17), 0, 10**18], pa.timestamp("us", "UTC")),
    "date": lambda rng: pa.array(rng.integers(-(10**5), 10**5, SIZE).astype(np.int32), pa.date32()),
    "decimal": lambda rng: pa.array([Decimal(int(n)) / 100 for n in rng.integers(-999, 999, SIZE)]),
    "binary": lambda rng: pa.array([rng.bytes(n) for n in range(20)], pa.large_binary()),
}


def some_null(rng: Random, column: pa.Array) -> pa.Array:
    known = rng.random(len(column)) < 0.7
    return column.take(pa.array(np.where(known, np.arange(len(column)), 0), mask=~known))


@pytest.mark.parametrize("name", KINDS)
def test_every_type_is_written_as_it_is_by_itself(name: str) -> None:
    rng = np.random.default_rng(5)
    whole = KINDS[name](rng)
    first, last = len(whole) // 3, len(whole) // 3 * 2
    empty = whole.take(pa.array([None] * len(whole), pa.int64()))
    part = whole.slice(first, last - first)
    for column in (whole, some_null(rng, whole), empty, part, some_null(rng, whole).slice(first)):
        rows = pa.RecordBatch.from_pydict({'a "name"': column})
        expected = [f'{{"a \\"name\\"":{text}}}' for text in by_value(column)]
        assert bytes(json_lines(rows)).decode() == "".join(f"{line}\n" for line in expected)
        assert json_objects(rows).to_pylist() == expected


def test_columns_of_all_types_stand_side_by_side() -> None:
    rng = np.random.default_rng(6)
    found = {name: some_null(rng, made(rng)) for name, made in KINDS.items()}
    rows = pa.RecordBatch.from_pydict(
        {
            name: column.take(pa.array(rng.integers(0, len(column), 100)))
            for name, column in found.items()
        }
    )
    values = zip(*map(by_value, rows.columns), strict=True)
    lines = [
        "{" + ",".join(f'"{n}":{text}' for n, text in zip(KINDS, row, strict=True)) + "}"
        for row in values
    ]
    assert bytes(json_lines(rows)).decode().split("\n") == [*lines, ""]
    for line in lines:
        json.loads(line)


def test_keys_tell_numbers_apart_that_lines_do_not() -> None:
    column = pa.array([float("nan"), float("inf"), -0.0, 0.0, 0.5, None])
    rows = pa.RecordBatch.from_pydict({"k": column})
    keys = ['{"k":"nan"}', '{"k":"inf"}', '{"k":0}', '{"k":0}', '{"k":0.5}', '{"k":null}']
    assert json_objects(rows, is_key=True).to_pylist() == keys
    assert json_objects(rows.slice(6), is_key=True).to_pylist() == []
    assert bytes(json_lines(rows.slice(6))) == b""

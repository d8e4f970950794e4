"""Plain lines of JSON by the compiled reader: what Arrow reads, or a plain no."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import penstock as ps
from penstock.engine.sources import json_rows
from penstock.engine.sources.lines import Piece
from penstock.engine.sources.parsed import converted
from penstock.kernels.jsontext.flat_columns import flat_columns
from penstock.query import DataType
from penstock.query.source import Field

FIELDS = [
    Field("id", DataType.BIGINT),
    Field("small", DataType.TINYINT),
    Field("x", DataType.DOUBLE),
    Field("name", DataType.STRING),
    Field("ok", DataType.BOOLEAN),
]
TYPES = [json_rows._read_type(field.type) for field in FIELDS]
NAMES = [field.name for field in FIELDS]
STRANGE = [
    '{"id": 1, "id": 2}',
    '{"ID": 1}',
    '{"id": 01}',
    '{"id": -}',
    '{"id": 1.}',
    '{"id": 1.5}',
    '{"id": 1e3}',
    '{"id": 9223372036854775807}',
    '{"id": 9223372036854775808}',
    '{"small": 128}',
    '{"x": .5}',
    '{"x": 1e}',
    '{"x": +1}',
    '{"x": NaN}',
    '{"x": "1"}',
    '{"x": 1e999}',
    '{"x": -1e999}',
    '{"name": 1}',
    '{"name": "a\\"b"}',
    '{"name": "a\\u00e9"}',
    '{"name": "a\tb"}',
    '{"ok": 1}',
    '{"ok": tru}',
    '{"ok": truely}',
    '{"other": {"id": 3}, "id": 4}',
    '{"other": [1], "id": 4}',
    '{"id": 1} {"id": 2}',
    '{"id": 1}x',
    '{"id": 1,}',
    '{,"id": 1}',
    '{"id" 1}',
    '{"id": }',
    "{",
    "[]",
    "",
    " ",
    "null",
    '{"\u212a": 1}',
    '{"i\\u0064": 1}',
    "{'id': 1}",
]


def line(random: Random) -> str:
    values: dict[str, Any] = {
        "id": random.choice([None, 0, -1, 7, random.randrange(-(10**18) + 1, 10**18)]),
        "small": random.choice([None, -128, 127, 0]),
        "x": random.choice([None, 0.0, -0.0, 1, 5e-324, 1.7e308, 1e-7, random.random()]),
        "name": random.choice([None, "", "a", "é", "日本", "a,b:{}[]", " x "]),
        "ok": random.choice([None, True, False]),
        "other": random.choice([None, 1, "x", False]),
    }
    kept = random.sample(list(values), random.randrange(len(values) + 1))
    separators = random.choice([(", ", ": "), (",", ":"), (" ,\t", " : ")])
    made = {name: values[name] for name in kept}
    text = json.dumps(made, ensure_ascii=False, separators=separators)
    return random.choice([text, f" {text}\r", f"{text}\t"])


def by_arrow(data: bytes) -> list[pa.Array] | None:
    try:
        return json_rows._read(FIELDS, data)
    except pa.ArrowInvalid:
        return None


def same(one: list[pa.Array], other: list[pa.Array]) -> bool:
    # Bytes, not values: NaN is not itself, and 0.0 is -0.0.
    return [column.to_pylist().__repr__() for column in one] == [
        column.to_pylist().__repr__() for column in other
    ]


@pytest.mark.parametrize("seed", range(20))
def test_plain_lines_are_read_as_by_arrow(seed: int) -> None:
    random = Random(seed)
    data = "\n".join(line(random) for _ in range(200)).encode() + random.choice([b"", b"\n"])
    found, expected = flat_columns(NAMES, TYPES, data), by_arrow(data)
    assert found is not None
    assert expected is not None
    assert same(found, expected)
    assert [column.type for column in found] == TYPES


@pytest.mark.parametrize("strange", STRANGE)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_what_is_not_plain_is_left_to_others_or_read_alike(strange: str, place: int) -> None:
    lines = ['{"id": 5, "x": 2.5}', '{"name": "a"}']
    lines.insert(place, strange)
    data = "\n".join(lines).encode()
    found = flat_columns(NAMES, TYPES, data)
    if found is not None:
        expected = by_arrow(data)
        assert expected is not None
        assert same(found, expected)


@pytest.mark.parametrize("seed", range(10))
def test_damaged_lines_never_give_other_rows_than_arrow(seed: int) -> None:
    random = Random(seed)
    taken = 0
    for _ in range(300):
        data = bytearray("\n".join(line(random) for _ in range(3)).encode())
        for _ in range(random.randrange(1, 4)):
            at = random.randrange(len(data))
            how = random.randrange(3)
            if how == 0:
                data[at] = random.choice(b'{}[]",:\\ \n\te.-+0123456789ntfxX\x00\x80\xff')
            elif how == 1:
                del data[at]
            else:
                data.insert(at, random.choice(b'"{},:0 \n\\'))
        try:
            found = flat_columns(NAMES, TYPES, bytes(data))
        except pa.ArrowInvalid:
            found = None
        if found is not None:
            expected = by_arrow(bytes(data))
            assert expected is not None, bytes(data)
            assert same(found, expected), bytes(data)
            taken += 1
    assert taken


TIMES = [
    "2026-11-17 18:05:44",
    "2026-11-17T18:05:44Z",
    "2026-11-17 18:05:44.1",
    "2026-11-17 18:05:44.123456Z",
    "2026-11-17 18:05:44.1234567",
    "2026-11-17 18:05:44.123456789",
    "2026-11-17 18:05:44.",
    "2026-11-17 18:05:44.Z",
    "2026-11-17 18:05:44.12a4",
    "2026-11-17 18:05:44,125",
    "2026-11-17 18:05:44+01:00",
    "2026-11-17 18:05:44.5-0130",
    "2026-11-17 18:05:44ZZ",
    "2026-11-17 18:05",
    "2026-11-17 18:05Z",
    "2026-11-17",
    "2026-11-17Z",
    " 2026-11-17 18:05:44 ",
    "2026-11-17  18:05:44",
    "2026-11-17t18:05:44",
    "2026/11/17 18:05:44",
    "2026-11-17 18-05-44",
    "2026-1-017 18:05:44",
    "+026-11-17 18:05:44",
    "2026-11-17 18:05:4 ",
    "2026-11-17 1:05:044",
    "2026-11-17 24:00:00",
    "2026-11-17 18:60:44",
    "2026-11-17 18:05:60",
    "2026-00-17 18:05:44",
    "2026-13-17 18:05:44",
    "2026-11-00 18:05:44",
    "2026-11-31 18:05:44",
    "2026-02-29 00:00:00",
    "2024-02-29 23:59:59.999999",
    "1900-02-29 00:00:00",
    "2000-02-29 00:00:00",
    "0000-01-01 00:00:00",
    "0001-01-01 00:00:00",
    "9999-12-31 23:59:59.999999",
    "10000-01-01 00:00:00",
    "1969-12-31 23:59:59.999999",
    "٢٠٢٦-11-17 18:05:44",
    "Z",
    "",
]


@pytest.mark.parametrize("zone", [None, "Europe/Amsterdam"])
@pytest.mark.parametrize("strange", TIMES)
def test_times_are_read_as_from_texts(strange: str, zone: str | None) -> None:
    field, texts = Field("t", DataType.TIMESTAMP), ["2026-11-17 18:05:43.5", strange, None]
    lines = [json.dumps({} if each is None else {"t": each}, ensure_ascii=False) for each in texts]
    faults: dict[int, str] = {}
    expected = converted(field, pa.array(texts, pa.large_string()), faults, zone)
    found = json_rows.parse_plain([field], bytes_of("\n".join(lines)), len(lines), zone)
    assert found is not None
    assert (found[0].column("t"), found[1]) == (expected, faults)
    assert found[0].column("t").type == expected.type


@pytest.mark.parametrize("rows", [0, 1, 3])
def test_lines_that_are_not_as_many_as_records_are_left_to_others(rows: int) -> None:
    field, lines = Field("id", DataType.BIGINT), bytes_of('{"id": 1}\n{"id": 2}\n')
    assert json_rows.parse_plain([field], lines, rows) is None
    assert json_rows.parse_plain([field], lines, 2) is not None


@pytest.mark.parametrize("name", ['a"b', "a\\b", "a\tb", "é"])
def test_names_that_json_spells_otherwise_are_left_to_others(name: str) -> None:
    assert flat_columns([name], [pa.int64()], f'{{"{name}": 1}}'.encode()) is None


def bytes_of(text: str) -> Any:
    return np.frombuffer(text.encode(), np.uint8)


def test_nothing_is_not_plain() -> None:
    assert flat_columns(NAMES, TYPES, b"") is None
    assert flat_columns(["é"], [pa.int64()], b'{"\xc3\xa9": 1}') is None
    assert flat_columns(["d"], [pa.decimal128(5, 2)], b'{"d": 1.25}') is None


@pytest.mark.parametrize("bad", [None, '{"id": "seven"}', "not json", '{"id": 1, "x": [2]}'])
def test_large_pieces_have_the_rows_and_faults_of_small_ones(
    bad: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = Random(1)
    lines = [line(random) for _ in range(2000)]
    if bad is not None:
        lines[777] = bad
    piece = Piece("\n".join(lines).encode(), 1)
    assert len(piece.data) > json_rows.MANY
    large = json_rows.parse_lines(FIELDS, piece)
    monkeypatch.setattr(json_rows, "MANY", 1 << 40)
    small = json_rows.parse_lines(FIELDS, piece)
    assert same(large.batch.columns, small.batch.columns)
    assert large.faults == small.faults
    assert (bad is None) == (not large.faults)


def test_a_query_reads_a_large_file(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("".join(f'{{"at": {i}, "x": {i / 8}}}\n' for i in range(4000)), "utf-8")
    query = ps.sql(
        f"CREATE STREAM a (at BIGINT, x DOUBLE) WITH (format = 'json', path = '{path}', "
        "timestamp = 'at', unit = 's'); SELECT a.x FROM a [NOW]",
        engine="local",
    )
    out = tmp_path / "out.jsonl"
    query.local(
        sink=ps.jsonl(out), checkpoint=tmp_path / "state", available_now=True
    ).await_termination()
    found = sorted(json.loads(each)["x"] for each in out.read_text().splitlines())
    assert found == [i / 8 for i in range(4000)]

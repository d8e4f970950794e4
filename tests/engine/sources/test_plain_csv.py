"""Plain lines of CSV by the compiled reader: what Arrow reads, or a plain no."""

from __future__ import annotations

from random import Random

import pyarrow as pa
import pytest

from penstock.engine.sources import csv_rows
from penstock.engine.sources.csv_rows import CsvLayout
from penstock.engine.sources.lines import Piece
from penstock.kernels.csvtext.plain_columns import plain_columns
from penstock.query import DataType
from penstock.query.source import Field

# In other places than they are asked for, and with a column that nobody asks for.
FIELDS = (
    Field("name", DataType.STRING),
    Field("id", DataType.BIGINT),
    Field("small", DataType.TINYINT),
    Field("x", DataType.DOUBLE),
    Field("at", DataType.TIMESTAMP),
)
LAYOUT = CsvLayout(FIELDS, FIELDS, (3, 0, 1, 4, 5), 6, ",", "", None)
TYPES = [csv_rows._fast_type(field) for field in FIELDS]
STRANGE = [
    "",
    " ",
    ",",
    "1,2,3,4,5",
    "1,2,3,4,5,6,7",
    '1,2,o,"a""b",5,',
    '1,2,o,"a\nb",5,',
    '1,2,o,"a"b,5,',
    '1,2,o,a"b,5,',
    '1,2,o,"a,5,',
    '"1",2,o,a,5,',
    '"",2,o,a,5,',
    '1,2,o,a,"",',
    "007,2,o,a,5,",
    "+1,2,o,a,5,",
    "-,2,o,a,5,",
    " 1,2,o,a,5,",
    "0x10,2,o,a,5,",
    "1.0,2,o,a,5,",
    "1e3,2,o,a,5,",
    "9223372036854775807,2,o,a,5,",
    "9223372036854775808,2,o,a,5,",
    "1,128,o,a,5,",
    "1,2,o,a,.5,",
    "1,2,o,a,5.,",
    "1,2,o,a,nan,",
    "1,2,o,a,inf,",
    "1,2,o,a,1e999,",
    "1,2,o,a,-1e-999,",
    "1,2,o,a,5 ,",
    "1,2,o,a,5,yesterday",
    "1,2,o,NULL,5,",
    "1,2,o,null,null,",
    "\ufeff1,2,o,a,5,",
    "1,2,\x00,\x00,5,",
    "1,2,o,a\rb,5,",
]


def line(random: Random) -> str:
    whole = random.choice(["", "0", "-1", "7", str(random.randrange(-(10**18) + 1, 10**18))])
    number = random.choice(["", "0.0", "-0.0", "1", "5e-324", "1.7e308", f"{random.random()}"])
    long = "x" * random.randrange(40)
    texts = ["", '""', "a", '"a"', "é", '"日本"', '"a,b"', f'"{long}"', long, f'"{long},é"', " x "]
    at = random.choice(["", "2026-01-02 03:04:05", '"2026-01-02 03:04:05.678"', '"2026-01-02"'])
    small, other = random.choice(["", "-128", "127", "0"]), random.choice(texts)
    return ",".join((whole, small, other, random.choice(texts), number, at))


def by_arrow(data: bytes) -> list[pa.Array] | None:
    try:
        return csv_rows._columns(LAYOUT, Piece(data, 1), TYPES)[0]
    except pa.ArrowInvalid:
        return None


def by_loops(data: bytes) -> list[pa.Array] | None:
    ends = data.count(b"\n")
    return plain_columns(LAYOUT.places, TYPES, LAYOUT.width, LAYOUT.delimiter, data, ends)


def same(one: list[pa.Array], other: list[pa.Array]) -> bool:
    # Texts, not values: 0.0 is -0.0.
    return [repr(column.to_pylist()) for column in one] == [
        repr(column.to_pylist()) for column in other
    ]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("seed", range(20))
def test_plain_lines_are_read_as_by_arrow(seed: int, end: str) -> None:
    random = Random(seed)
    data = "".join(line(random) + end for _ in range(200)).encode()
    if random.random() < 0.5:
        data += b"1,2,o,a,5,2026-01-02"
    found, expected = by_loops(data), by_arrow(data)
    assert found is not None
    assert expected is not None
    assert same(found, expected)
    assert [column.type for column in found] == TYPES


@pytest.mark.parametrize("strange", STRANGE)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_what_is_not_plain_is_left_to_others_or_read_alike(strange: str, place: int) -> None:
    lines = ["5,6,o,a,2.5,2026-01-02", ',,"",,,']
    lines.insert(place, strange)
    data = "\n".join([*lines, ""]).encode()
    found = by_loops(data)
    if found is not None:
        expected = by_arrow(data)
        assert expected is not None
        assert same(found, expected)


@pytest.mark.parametrize("seed", range(10))
def test_damaged_lines_never_give_other_rows_than_arrow(seed: int) -> None:
    random = Random(seed)
    taken = 0
    for _ in range(300):
        data = bytearray("".join(line(random) + "\n" for _ in range(3)).encode())
        for _ in range(random.randrange(1, 4)):
            at, how = random.randrange(len(data)), random.randrange(3)
            if how == 0:
                data[at] = random.choice(b'",;\n\r \te.-+0123456789xX\x00\x80\xff')
            elif how == 1:
                del data[at]
            else:
                data.insert(at, random.choice(b'",0 \n\r'))
        try:
            found = by_loops(bytes(data))
        except pa.ArrowInvalid:
            found = None
        if found is not None:
            expected = by_arrow(bytes(data))
            assert expected is not None, bytes(data)
            assert same(found, expected), bytes(data)
            taken += 1
    assert taken


def test_other_types_and_delimiters_are_not_plain() -> None:
    assert plain_columns([0], [pa.decimal128(5, 2)], 1, ",", b"1.25\n", 1) is None
    assert plain_columns([0], [pa.int64()], 1, "§", b"1\n", 1) is None
    assert plain_columns([], [], 1, ",", b"1\n", 1) is None


@pytest.mark.parametrize("bad", [None, "seven,1,o,a,1,", "1,2", '1,1,o,"a""b",1,', "1,1,o,a,1,x"])
def test_large_pieces_have_the_rows_and_faults_of_small_ones(
    bad: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = Random(1)
    lines = [line(random) for _ in range(2000)]
    if bad is not None:
        lines[777] = bad
    piece = Piece("\n".join([*lines, ""]).encode(), 1)
    assert len(piece.data) > csv_rows._MANY
    large = csv_rows.parse_csv(LAYOUT, piece)
    monkeypatch.setattr(csv_rows, "_MANY", 1 << 40)
    small = csv_rows.parse_csv(LAYOUT, piece)
    assert same(large.batch.columns, small.batch.columns)
    assert large.faults == small.faults

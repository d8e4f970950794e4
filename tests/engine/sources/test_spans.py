"""Files that several tasks read: whatever the parts, together they are the file."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from penstock.cql.script import parse
from penstock.engine.sources import lines
from penstock.engine.sources.files import FileInfo, weight_of
from penstock.engine.sources.read_slice import read_slice
from penstock.engine.sources.slices import Slice, shared_out
from penstock.errors import SourceError
from penstock.query.source import Source

FIELDS = ["", "1", "-3", "2.5", "word", "two words", "é", " "]


def source_of(path: Path, kind: str, more: str = "") -> Source:
    text = (
        f"CREATE STREAM a (ts BIGINT, x STRING, y INT) WITH (format='{kind}', path='{path}', "
        f"timestamp='ts', unit='us'{more}); SELECT a.x, a.y FROM a [NOW]"
    )
    return parse(text).sources["a"]


def arrived(source: Source, pieces: Sequence[Slice]) -> list[tuple[Any, ...]]:
    """The rows of pieces with their arrival numbers, and how many rows were malformed."""
    rows, malformed = list[tuple[Any, ...]](), 0
    for piece in pieces:
        for found in read_slice(source, ("ts", "x", "y"), piece):
            columns = [found.rows.column(name).to_pylist() for name in ("ts", "x", "y")]
            rows += zip(found.numbers.tolist(), *columns, strict=True)
            malformed += found.malformed
    numbers = [row[0] for row in rows]
    assert numbers == sorted(set(numbers))
    return [(malformed,), *(row[1:] for row in rows)]


def some_csv(chance: random.Random) -> str:
    rows = []
    for number in range(chance.randrange(40)):
        text = chance.choice(FIELDS)
        if chance.random() < 0.1:
            text = f'"{text}\n, and more"'
        rows.append(f"{number},{text},{chance.choice(['', '7', 'odd'])}")
        rows += [""] * chance.choice([0, 0, 0, 2])
    end = chance.choice(["\n", "\r\n"])
    return end.join(["ts,x,y", *rows]) + chance.choice(["", end])


def some_json(chance: random.Random) -> str:
    rows = []
    for number in range(chance.randrange(40)):
        y = chance.choice(["null", "7", '"odd"'])
        rows.append(f'{{"ts": {number}, "x": "{chance.choice(FIELDS)}", "y": {y}}}')
        rows += [""] * chance.choice([0, 0, 0, 2])
    return "\n".join(rows) + chance.choice(["", "\n"])


@pytest.mark.parametrize("kind", ["csv", "json"])
@pytest.mark.parametrize("seed", range(40))
def test_the_parts_of_a_file_are_the_file(kind: str, seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    path = tmp_path / f"a.{kind}"
    path.write_text(some_csv(chance) if kind == "csv" else some_json(chance), newline="")
    source = source_of(path, kind, ", malformed='drop'")
    whole = Slice("a", str(path), 3)
    wanted = arrived(source, [whole])
    for count in (2, 3, 7):
        parts = list(whole.parts(count, path.stat().st_size))
        assert len(parts) == count
        assert arrived(source, parts) == wanted


@pytest.mark.parametrize("piece_bytes", [16, 100])
def test_parts_are_read_in_pieces_too(
    piece_bytes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.csv"
    path.write_text("ts,x,y\n" + "".join(f"{n},text {n},{n % 5}\n" for n in range(300)))
    source, whole = source_of(path, "csv"), Slice("a", str(path))
    wanted = arrived(source, [whole])
    monkeypatch.setattr(lines, "PIECE_BYTES", piece_bytes)
    assert arrived(source, list(whole.parts(4, path.stat().st_size))) == wanted
    assert len(wanted) == 301


def test_a_malformed_row_of_a_part_is_named_by_its_line(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(
        "ts,x,y\n" + "".join(f"{n},text,{'odd' if n == 90 else n}\n" for n in range(99))
    )
    parts = list(Slice("a", str(path)).parts(3, path.stat().st_size))
    with pytest.raises(SourceError, match=r"a\.csv, line 92: "):
        arrived(source_of(path, "csv"), parts[2:])


def test_a_file_without_its_columns_is_told_of_once(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("ts,x,z\n" + "1,2,3\n" * 50)
    source = source_of(path, "csv", ", malformed='drop'")
    parts = Slice("a", str(path)).parts(3, path.stat().st_size)
    blocks = [b for part in parts for b in read_slice(source, ("ts", "y"), part)]
    assert [block.unreadable is not None for block in blocks] == [True]


def sliced(path: Path, size: int, number: int = 0) -> Slice:
    return Slice("a", str(path), number, weight=weight_of(FileInfo(str(path), 0, size)))


@pytest.mark.parametrize(
    ("name", "kind", "size", "parts"),
    [
        ("a.csv", "csv", 10 << 20, 4),
        ("a.csv", "csv", 3 << 20, 3),
        ("a.csv", "csv", 1 << 20, 1),
        ("a.csv.gz", "csv", 10 << 20, 1),
        ("a.json", "json", 10 << 20, 1),
        ("a.json", "json", 30 << 20, 3),
        ("a.parquet", "parquet", 10 << 20, 1),
    ],
)
def test_large_files_are_shared_out(
    name: str, kind: str, size: int, parts: int, tmp_path: Path
) -> None:
    source = source_of(tmp_path / name, kind)
    found = shared_out([sliced(tmp_path / name, size)], {"a": source}, tasks=4)
    assert len(found) == parts
    assert found[0].first == 0
    assert len(shared_out(found[:1], {"a": source}, tasks=1)) == 1


def test_many_files_are_not_taken_apart(tmp_path: Path) -> None:
    source = source_of(tmp_path, "csv")
    many = [sliced(tmp_path / f"{n}.csv", 10 << 20, n) for n in range(20)]
    assert shared_out(many, {"a": source}, tasks=2) == many

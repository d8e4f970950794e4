"""Rows that are too long: malformed, and never held in memory."""

from __future__ import annotations

import gzip
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from penstock.cql import parse
from penstock.engine.places.place import Place
from penstock.engine.sources import lines
from penstock.engine.sources.lines import Piece, pieces_of
from penstock.engine.sources.read import read_file
from penstock.errors import SourceError, SqlError
from penstock.query import DataType, Field, Source
from support.streams.blocks import rows

FIELDS = (Field("ts", DataType.BIGINT), Field("n", DataType.STRING))


def source(format_: str, **more: object) -> Source:
    """A stream whose rows may have 100 bytes."""
    options = (("max_row", 100), *((key, value) for key, value in more.items()))
    shape: dict[str, object] = {"timestamp": "ts", "unit": "us", "options": options}
    return Source("s", FIELDS, format_, malformed="drop", **shape)  # type: ignore[arg-type]


def row(format_: str, number: int, text: str) -> str:
    return f"{number},{text}" if format_ == "csv" else f'{{"ts": {number}, "n": "{text}"}}'


@pytest.mark.parametrize("format_", ["csv", "json"])
@pytest.mark.parametrize("piece", [16, 64, 1000, 1 << 20])
@pytest.mark.parametrize("ending", ["\n", "\r\n", ""])
def test_rows_of_too_many_bytes_are_malformed(
    format_: str, piece: int, ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "PIECE_BYTES", piece)
    sizes = [3, 500, 10, 40, 1000, 1001, 5, 200]
    texts = [row(format_, number, "x" * size) for number, size in enumerate(sizes)]
    head = ["ts,n"] if format_ == "csv" else []
    path = tmp_path / "in"
    path.write_text((ending or "\n").join([*head, *texts]) + ending, newline="")
    blocks = list(read_file(source(format_), path, ["ts", "n"]))
    sound = [number for number, size in enumerate(sizes) if size <= 40]
    assert [found[0] for found in rows(blocks)] == sound
    assert sum(block.malformed for block in blocks) == len(sizes) - len(sound)
    places = [place for block in blocks for place in _places(block)]
    assert places == sound, "arrival numbers count the rows that were skipped"
    with pytest.raises(SourceError) as caught:
        list(read_file(replace(source(format_), malformed="fail"), path, ["ts", "n"]))
    line = 2 + len(head)
    size = len(texts[1]) + (ending == "\r\n")
    assert f"in, line {line}: it has {size} bytes, and max_row is 100" in caught.value.message


def _places(block: object) -> list[int]:
    found = getattr(block, "rows", None)
    first, batch = block.first_row, block.batch  # type: ignore[attr-defined]
    return list(range(first, first + len(batch))) if found is None else found.to_pylist()


def test_a_first_line_that_is_too_long_is_no_header(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text("x" * 200 + "\n1,a\n")
    (block,) = read_file(source("csv"), path, ["ts", "n"])
    assert block.unreadable is not None
    assert "its first line has 200 bytes" in block.unreadable
    (_, block) = read_file(source("csv", header=False), path, ["ts", "n"])
    assert rows([block]) == [(1, "a")]


def test_line_ends_between_quotes_end_no_row(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text('ts,n\n1,"a\nb"\n' + "2," + "y" * 300 + '\n3,"c\nd"\n')
    blocks = list(read_file(source("csv"), path, ["ts", "n"]))
    assert rows(blocks) == [(1, "a\nb"), (3, "c\nd")]


LIMITED = """
import resource, sys
from penstock.engine.places.place import Place
from penstock.engine.sources.lines import pieces_of
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
found = [piece.skipped for piece in pieces_of(Place.of(sys.argv[1]), quoted=True)]
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(found, after - before)
"""


def test_a_row_of_400_mb_takes_a_bounded_part_of_it(tmp_path: Path) -> None:
    """Of a text that packs well, so that the disk has little to do."""
    path, size = tmp_path / "in.csv.gz", 400 << 20
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(size >> 22):
            file.write(b"x" * (1 << 22))
        file.write(b"\n1,a\n")
    command = [sys.executable, "-c", LIMITED, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found, _, kilobytes = done.stdout.strip().rpartition(" ")
    assert found == f"[{size}, 0]"
    assert int(kilobytes) < 300 << 10


def test_pieces_tell_what_was_skipped(tmp_path: Path) -> None:
    path = tmp_path / "in"
    path.write_bytes(b"a\n" + b"b" * 50 + b"\nc\n\n" + b"d" * 51)
    found = list(pieces_of(Place.of(path), quoted=False, most=10))
    assert found == [
        Piece(b"a\n", 1),
        Piece(b"b" * 50, 2, 50),
        Piece(b"c\n\n", 3),
        Piece(b"d" * 51, 5, 51),
    ]


def test_sizes_are_written_in_bytes_or_units() -> None:
    script = (
        "CREATE STREAM s (ts BIGINT) WITH (format = 'json', path = 'in', timestamp = 'ts', "
        "unit = 's', max_row = {}); SELECT * FROM s [NOW]"
    )

    def read(value: str) -> object:
        return parse(script.format(value)).sources["s"].option("max_row")

    assert [read("1000"), read("'2 kB'"), read("'3 MiB'")] == [1000, 2000, 3 << 20]
    for wrong in ("0", "'much'", "TRUE", "-5", "1.5"):
        with pytest.raises(SqlError, match="max_row must be a number of bytes, or a size"):
            read(wrong)

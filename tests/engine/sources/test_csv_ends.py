"""The last line of a CSV file, with a line end and without."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.cql.script import parse
from penstock.engine.sources.read import read_file


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
@pytest.mark.parametrize("type_", ["STRING", "BIGINT", "DATE", "TIMESTAMP"])
def test_an_empty_field_at_the_end_of_a_file_is_null(end: str, type_: str, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f'ts;x\n2026-01-01;\n"2026-01-02";{end}', encoding="utf-8", newline="")
    query = parse(
        f"CREATE STREAM a (ts TIMESTAMP, x {type_}) WITH (format = 'csv', path = '{path}', "
        "timestamp = 'ts', delimiter = ';'); SELECT a.x FROM a [NOW];"
    )
    blocks = list(read_file(query.sources["a"], path, ["ts", "x"]))
    assert [x for block in blocks for x in block.batch.column("x").to_pylist()] == [None, None]

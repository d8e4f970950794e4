"""A query over files, read back from its checkpoint while it runs and after it died."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa

import penstock as ps
from penstock.engine.results.content import Content, Offset, content_of

DECLARED = """
CREATE STREAM a (ts TIMESTAMP, k INT, name STRING, x DOUBLE, day DATE, is_new BOOLEAN)
  WITH (format='json', path='{folder}/a', timestamp='ts', max_files=1);
CREATE STREAM b (ts TIMESTAMP, k INT, z BIGINT)
  WITH (format='json', path='{folder}/b', timestamp='ts', max_files=1);
"""
JOIN = """SELECT a.ts, a.k, a.name, a.x, a.day, a.is_new, b.z AS "the z"
FROM a [RANGE 1 HOUR], b [RANGE 1 HOUR] WHERE a.k = b.k"""
VIEW = """SELECT a.k, COUNT(*) AS n, SUM(b.z) AS z
FROM a [RANGE 5 SECONDS], b [RANGE 5 SECONDS] WHERE a.k = b.k GROUP BY a.k EVERY 2 SECONDS"""
SEVERAL = f"""CREATE STREAM near AS SELECT k, z FROM b [NOW] WHERE k < 3;
{JOIN} INTO pairs;
SELECT n.k, COUNT(*) AS n, SUM(n.z) AS z FROM near [RANGE 5 SECONDS] AS n, a [RANGE 5 SECONDS]
WHERE a.k = n.k GROUP BY n.k EVERY 2 SECONDS INTO counts"""

NAMES = ["null", '"plain"', '"with \\"quotes\\", commas"', '"two\\nlines"', '"ü"']
FILES = 6


def write_streams(folder: Path) -> None:
    """Files of both streams, a batch each: texts that need care, NULLs, and batches of nothing."""
    for stream in "ab":
        (folder / stream).mkdir(parents=True)
    for number in range(FILES):
        rows = [number * 4 + i for i in range(4)]
        (folder / "a" / f"{number}.jsonl").write_text("".join(map(_a_line, rows)))
        (folder / "b" / f"{number}.jsonl").write_text("".join(map(_b_line, rows)))


def _a_line(row: int) -> str:
    x = "null" if row % 5 == 0 else row / 3
    return (
        f'{{"ts": "2026-01-01T00:00:{row:02d}.123456Z", "k": {row % 3}, '
        f'"name": {NAMES[row % 5]}, "x": {x}, "day": "2026-02-{row % 27 + 1:02d}", '
        f'"is_new": {"true" if row % 2 else "null"}}}\n'
    )


def _b_line(row: int) -> str:
    # The keys of some files meet nothing, so that batches are without results.
    key = row % 3 if row // 4 % 3 else 77
    return f'{{"ts": "2026-01-01T00:00:{row:02d}Z", "k": {key}, "z": {row * 10**12}}}\n'


def script(folder: Path, select: str = JOIN) -> str:
    """A query over these streams."""
    return DECLARED.format(folder=folder) + select


def run_several(streams: Path, place: Path, *, report: Any = None) -> list[ps.Report]:
    """A run of several queries over all files in this process."""
    asked = ps.script(script(streams, SEVERAL), engine="local")
    with asked.local(
        sink={name: f"parquet:{place / name}" for name in ("pairs", "counts")},
        checkpoint=place / "checkpoint",
        available_now=True,
        report=report,
        partitions=2,
    ) as started:
        started.await_termination()
    return list(started.reports)


class Follower:
    """Reads what is new as Spark would: positions and pieces, from a stored position on."""

    def __init__(self, checkpoint: object, what: str = "results", query: str | None = None):
        self._checkpoint = str(checkpoint)
        self._what = what
        self._query = query
        self._offset: Offset | None = None
        self.rows: list[dict[str, Any]] = []
        self.visits = 0

    def catch_up(self) -> None:
        """Read from where it stood to what there is; nothing is kept but the position."""
        content = content_of(self._checkpoint, self._what, query=self._query)
        start = content.first() if self._offset is None else self._offset
        end = content.latest()
        self.rows += rows_in(content, content.between(start, end))
        self.visits += end != start
        self._offset = end


def table_of(checkpoint: object, what: str = "results", **more: Any) -> list[dict[str, Any]]:
    """All rows that there are."""
    content = content_of(str(checkpoint), what, **more)
    return rows_in(content, content.table())


def rows_in(content: Content, pieces: Iterable[Any]) -> list[dict[str, Any]]:
    """The rows of some pieces."""
    found: list[dict[str, Any]] = []
    for piece in pieces:
        for batch in content.read(piece):
            assert batch.schema == content.schema
            found += pa.Table.from_batches([batch]).to_pylist()
    return found


def counted(rows: Iterable[dict[str, Any]]) -> Counter[tuple[Any, ...]]:
    """Rows in any order."""
    return Counter(tuple(row.values()) for row in rows)

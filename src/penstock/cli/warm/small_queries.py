"""Small queries that take every way through the engine that queries usually take.

Numba compiles an inner loop for the types of its first call. Which these are, nothing tells but a
run; so queries are run, over a few made-up rows in files of each format.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

_ROWS = 60
_KEYS = 7

_STREAMS = """
CREATE STREAM a (ts BIGINT, k BIGINT, t STRING, x DOUBLE, n INT)
  WITH (format = 'csv', path = '{folder}/a', timestamp = 'ts', unit = 's', max_files = 1);
CREATE STREAM b (ts BIGINT, k BIGINT, t STRING, x DOUBLE, n INT)
  WITH (format = 'json', path = '{folder}/b', timestamp = 'ts', unit = 's', max_files = 1,
    lateness = '5 seconds');
CREATE STREAM c (ts TIMESTAMP, k BIGINT, t STRING, x DOUBLE, n INT)
  WITH (format = 'parquet', path = '{folder}/c', timestamp = 'ts', max_files = 1);
CREATE TABLE d (k BIGINT, t STRING) WITH (format = 'csv', path = '{folder}/d');
"""
_THREE = "a [RANGE 9 SECONDS], b [RANGE 9 SECONDS], c [RANGE 9 SECONDS]"
_TWO = "a [RANGE 9 SECONDS], b [RANGE 9 SECONDS]"


@dataclass(frozen=True)
class SmallQuery:
    """A query, the plan that it is forced to, and the part of its streams that is kept once there
    is too much of them."""

    name: str
    select: str
    plan: str | None = None
    kept: float | None = None

    def text(self, folder: Path) -> str:
        """The script over the files of a folder."""
        return _STREAMS.format(folder=folder) + self.select


QUERIES = (
    SmallQuery("join", f"SELECT a.ts, b.x, c.t FROM {_THREE} WHERE a.k = b.k AND b.k = c.k"),
    SmallQuery(
        "tree",
        f"SELECT a.ts, a.x FROM {_THREE} WHERE a.k = b.k AND b.n = c.n AND a.x < c.x",
        plan="((a b) c)",
    ),
    SmallQuery("text", f"SELECT a.ts, d.t FROM {_TWO}, d WHERE a.t = b.t AND a.k = d.k"),
    SmallQuery(
        "view",
        f"SELECT a.k, COUNT(*) AS n, SUM(b.x) AS s, AVG(b.n) AS m, MIN(b.x) AS l, MAX(b.n) AS h "
        f"FROM {_TWO} WHERE a.k = b.k GROUP BY a.k EVERY 2 SECONDS",
    ),
    SmallQuery(
        "tumbling",
        "SELECT t, COUNT(*) AS n, SUM(x) AS s, COUNT(DISTINCT k) AS d FROM b [TUMBLE 5 SECONDS] "
        "GROUP BY t",
    ),
    SmallQuery(
        "first",
        f"SELECT a.t, COUNT(*) AS n FROM {_TWO} WHERE a.k = b.k GROUP BY a.t "
        "ORDER BY n DESC LIMIT 3",
    ),
    SmallQuery("rows", "SELECT a.ts, b.ts AS other FROM a [ROWS 5], b [ROWS 5] WHERE a.k = b.k"),
    SmallQuery(
        "rows view",
        "SELECT a.k, COUNT(*) AS n, MAX(b.x) AS h FROM a [ROWS 5], b [PARTITION BY k ROWS 2] "
        "WHERE a.k = b.k GROUP BY a.k",
    ),
    SmallQuery(
        "latest",
        "SELECT b.k, b.t, b.x FROM b [UNBOUNDED] "
        "QUALIFY ROW_NUMBER() OVER (PARTITION BY b.k, b.t ORDER BY b.ts DESC) = 1 EVERY 5 SECONDS",
    ),
    SmallQuery(
        "outer",
        "SELECT a.ts, b.x FROM a [RANGE 5 SECONDS] LEFT JOIN b [RANGE 5 SECONDS] ON a.k = b.k",
    ),
    SmallQuery(
        "shed",
        f"SELECT a.k, COUNT(*) AS n, SUM(b.x) AS s FROM {_TWO} WHERE a.k = b.k GROUP BY a.k",
        kept=0.6,
    ),
    SmallQuery(
        "early",
        f"SELECT a.n, COUNT(*) AS c, AVG(c.x) AS m FROM {_THREE} WHERE a.k = b.k AND b.k = c.k "
        "GROUP BY a.n EVERY 2 SECONDS",
        plan="a: b c; b: a c; c: a b | early a b c",
        kept=0.6,
    ),
    SmallQuery(
        "anew",
        f"SELECT a.n, COUNT(*) AS c, AVG(c.x) AS m FROM {_THREE} WHERE a.k = b.k AND b.k = c.k "
        "GROUP BY a.n EVERY 2 SECONDS",
        plan="a: b c; b: a c; c: a b | early a b c | recompute c",
        kept=0.6,
    ),
)


def write_rows(folder: Path) -> None:
    """Two files of each stream and one of the table, the same every time."""
    for name in "abcd":
        (folder / name).mkdir(parents=True)
    (folder / "d" / "1.csv").write_text(
        "k,t\n" + "".join(f"{k},t{k}\n" for k in range(_KEYS)), encoding="utf-8"
    )
    for number in (1, 2):
        rows = [_row(place) for place in range(number * _ROWS, (number + 1) * _ROWS)]
        lines = [",".join(map(str, row.values())) for row in rows]
        head = ",".join(rows[0])
        (folder / "a" / f"{number}.csv").write_text("\n".join([head, *lines, ""]), encoding="utf-8")
        objects = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / "b" / f"{number}.jsonl").write_text(objects, encoding="utf-8")
        table = pa.Table.from_pylist(rows)
        times = pa.array([row["ts"] * 1_000_000 for row in rows], pa.timestamp("us"))
        pq.write_table(table.set_column(0, "ts", times), folder / "c" / f"{number}.parquet")


def _row(place: int) -> dict[str, int | float | str]:
    key = place * 5 % _KEYS
    return {"ts": place // 3, "k": key, "t": f"t{key}", "x": place / 4, "n": place % 3}

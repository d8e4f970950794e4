"""A join in which all tuples have one key, run in a process of its own, which tells how much memory
its rows took at the most: `hot_key.py FOLDER QUERY PARTITIONS`."""

from __future__ import annotations

import json
import sys
import tracemalloc
from pathlib import Path

import pyarrow as pa

import penstock as ps

STREAMS = ("a", "b", "c")
QUERIES = {
    "two": "SELECT a.n, b.n AS m FROM a [RANGE 1 HOUR], b [RANGE 1 HOUR] WHERE a.k = b.k;",
    "three": "SELECT a.n, c.n AS o FROM a [RANGE 1 HOUR], b [RANGE 1 HOUR], c [RANGE 1 HOUR]"
    " WHERE a.k = b.k AND b.k = c.k;",
    # What a and b find goes on to the space of the other key.
    "chain": "SELECT a.n, b.n AS m, c.n AS o FROM a [RANGE 1 HOUR], b [RANGE 1 HOUR],"
    " c [RANGE 1 HOUR] WHERE a.k = b.k AND b.j = c.j;",
    "view": "SELECT COUNT(*) AS n, SUM(a.n) AS s FROM a [RANGE 1 HOUR], b [RANGE 1 HOUR]"
    " WHERE a.k = b.k EVERY 1 HOUR;",
}


def declared(folder: Path) -> str:
    """The streams, each a file of CSV."""
    return "".join(
        f"CREATE STREAM {name} (ts BIGINT, k BIGINT, j BIGINT, n BIGINT) WITH (format = 'csv', "
        f"path = '{folder / name}', timestamp = 'ts', unit = 'ms');\n"
        for name in STREAMS
    )


def write(folder: Path, rows: tuple[int, ...]) -> None:
    """So many tuples of each stream, all with the same keys."""
    for name, count in zip(STREAMS, rows, strict=True):
        (folder / name).mkdir(parents=True)
        lines = (f"{number},7,9,{number}" for number in range(count))
        (folder / name / "0.csv").write_text("\n".join(("ts,k,j,n", *lines, "")))


def main(folder: Path, asked: str, partitions: int) -> None:
    """Run a query; the bytes of Arrow and of NumPy that it held at the most, beside its own."""
    query = ps.sql(declared(folder) + QUERIES[asked], engine="local")
    tracemalloc.start(1)
    with query.local(
        sink=ps.parquet(folder / "results"),
        checkpoint=folder / "state",
        available_now=True,
        drain=True,
        partitions=partitions,
    ) as run:
        run.await_termination()
    _, traced = tracemalloc.get_traced_memory()
    print(json.dumps({"arrow": pa.default_memory_pool().max_memory(), "python": traced}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))

"""Three streams of few keys as files, and a table, for outer joins that are asked in text."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq

from penstock.cql import parse, parse_script
from penstock.duration import MICROS
from penstock.query import Query
from penstock.query.script import Script
from reference import Row
from support.streams.cases import Case, arrival

_DECLARATIONS = """
CREATE STREAM a (ts BIGINT, k INT, x INT)
  WITH (format='parquet', path='{0}/a', timestamp='ts', unit='s', max_files=1, lateness='3 s');
CREATE STREAM b (ts BIGINT, k INT, x INT)
  WITH (format='parquet', path='{0}/b', timestamp='ts', unit='s', max_files=1);
CREATE STREAM c (ts BIGINT, k INT, x INT)
  WITH (format='parquet', path='{0}/c', timestamp='ts', unit='s', max_files=1);
CREATE TABLE d (k INT, x INT) WITH (format='parquet', path='{0}/d');
"""


def asked_case(select: str, folder: Path, seed: int = 1, batches: int = 6) -> Case:
    """A SELECT over the streams a, b and c, which bring a few tuples in each batch, and the table
    d; some keys are NULL, and some tuples late."""
    rng = Random(seed)
    made = {name: [_batch(rng, number) for number in range(batches)] for name in "abc"}
    made["d"] = [[_of_table(row) for row in _batch(rng, 0)]]
    for name, files in made.items():
        (folder / name).mkdir(parents=True)
        for number, rows in enumerate(files):
            fields = [("ts", pa.int64()), ("k", pa.int32()), ("x", pa.int32())]
            schema = pa.schema(fields[name == "d" :])
            table = pa.Table.from_pylist([dict(row.values) for row in rows], schema=schema)
            pq.write_table(table, folder / name / f"{number:04}.parquet")
    query = asked_query(select, folder)
    return Case(query, {item.alias: made[item.source.name] for item in query.inputs})


def asked_query(select: str, folder: Path) -> Query:
    """The query of a SELECT over a, b, c and d."""
    return parse(_DECLARATIONS.format(folder) + select)


def asked_script(text: str, folder: Path) -> Script:
    """The script of some queries over a, b, c and d."""
    return parse_script(_DECLARATIONS.format(folder) + text)


def _of_table(row: Row) -> Row:
    values = {name: row.values[name] for name in ("k", "x")}
    return replace(row, values=values)


def _batch(rng: Random, number: int) -> list[Row]:
    rows = []
    for position in range(rng.randint(3, 8)):
        ts = 10 * number + rng.randint(-5, 9)
        values = {"ts": ts, "k": rng.choice((None, 1, 2, 3, 4)), "x": rng.randint(0, 9)}
        rows.append(Row(ts * MICROS, arrival(number, position), values))
    return rows

"""A query that asks all aggregates as they are written, and streams for it."""

from __future__ import annotations

import math
from random import Random
from typing import Any

from penstock.cql import parse
from penstock.duration import MICROS
from penstock.query import Source
from reference import Row
from support.streams.cases import Case, arrival, event_time

DECLARED = """
CREATE STREAM a (ts BIGINT, k INT, x DOUBLE, n BIGINT, s STRING, b BOOLEAN)
  WITH (format = 'parquet', path = 'a', timestamp = 'ts', unit = 'ms');
CREATE STREAM c (ts TIMESTAMP, k INT, y DOUBLE)
  WITH (format = 'parquet', path = 'c', timestamp = 'ts');
CREATE TABLE t (k INT, g STRING) WITH (format = 'parquet', path = 't');
"""
ASKED = """COUNT(*) FILTER (WHERE a.b) AS f1, SUM(a.n) FILTER (WHERE a.x < c.y) AS f2,
  BOOL_OR(a.b) AS b1, ANY(a.x > c.y) AS b2, EVERY(a.b) AS b3, BOOL_AND(a.x > 0) AS b4,
  STDDEV(a.n) AS v1, STDDEV_POP(a.x) AS v2, VARIANCE(c.y) AS v3, VAR_POP(a.n) AS v4,
  MAX_BY(a.s, a.x) AS m1, MIN_BY(a.n, c.y) FILTER (WHERE a.b) AS m2,
  FIRST(a.s) AS o1, LAST(a.n) AS o2, LAST(c.y) FILTER (WHERE a.n > 2) AS o3,
  COUNT(DISTINCT a.s) AS d1, SUM(DISTINCT a.n) AS d2, AVG(DISTINCT a.n) AS d3,
  COUNT(DISTINCT a.x) + COUNT(DISTINCT c.y) AS d4,
  APPROX_COUNT_DISTINCT(a.s) AS e1, APPROX_PERCENTILE(a.x, 0.5) AS e2,
  APPROX_PERCENTILE(a.x * 2, 0.9) FILTER (WHERE c.y > 0) AS e3"""
WINDOWS = {
    "RANGE": ("RANGE 3 SECONDS", "RANGE 4 SECONDS SLIDE 2 SECONDS"),
    "TUMBLE": ("TUMBLE 2 SECONDS", "RANGE 2 SECONDS"),
    "ROWS": ("ROWS 6", "RANGE 3 SECONDS"),
}
NUMBERS = (None, math.nan, math.inf, -math.inf, 0.0, -0.0, 1e300, -1e9, 1e9 + 1e-7, 0.1, 7.0)


def written_case(seed: int, windows: str, is_total: bool = False) -> Case:
    """All aggregates over two streams and a table, by group or in total."""
    rng = Random(f"written {seed}")
    one, other = WINDOWS[windows]
    select = f"SELECT {'' if is_total else 't.g, '}{ASKED} FROM a [{one}], c [{other}], t"
    where = " WHERE a.k = c.k AND c.k = t.k" + ("" if is_total else " GROUP BY t.g")
    query = parse(f"{DECLARED} {select} {where} HAVING COUNT(*) < 900 EVERY 2 SECONDS")
    table = [Row(0, arrival(0, n), {"k": n, "g": "gh"[n % 2]}) for n in range(3)]
    batches = {
        item.alias: [table]
        if item.is_table
        else [_rows(rng, item.source, number) for number in range(3)]
        for item in query.inputs
    }
    return Case(query, batches)


def _rows(rng: Random, source: Source, batch: int) -> list[Row]:
    """Twelve rows in three seconds, some at the same moment."""
    times = sorted(rng.randrange(6) * MICROS // 2 + batch * 3 * MICROS for _ in range(12))
    return [Row(ts, arrival(batch, n), _values(rng, source, ts)) for n, ts in enumerate(times)]


def _values(rng: Random, source: Source, ts: int) -> dict[str, Any]:
    drawn = {
        "ts": event_time(source, ts),
        "k": rng.randrange(3),
        "x": rng.choice(NUMBERS[:1] + NUMBERS[4:]) if rng.random() < 0.8 else rng.choice(NUMBERS),
        "y": rng.choice((*NUMBERS, 1.5, 2.5)),
        "n": rng.choice((None, 1, 2, 3, 2**40, -(2**40))),
        "s": rng.choice((None, "", "a", "b", "日本")),
        "b": rng.choice((None, True, False)),
    }
    return {field.name: drawn[field.name] for field in source.fields}

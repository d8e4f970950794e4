"""Two streams and a table that share a key, in files."""

from __future__ import annotations

from penstock.cql import parse
from penstock.query import Query

SECOND = 1_000_000
STREAMS = """
CREATE STREAM a (ts BIGINT, k INT)
  WITH (format='csv', path='{folder}/a', timestamp='ts', unit='s', max_files=1);
CREATE STREAM b (ts BIGINT, k INT)
  WITH (format='csv', path='{folder}/b', timestamp='ts', unit='s', max_files=1);
CREATE TABLE t (k INT) WITH (format='csv', path='{folder}/t');
"""
JOIN = "SELECT a.k FROM a [RANGE 10 SECONDS], b [RANGE 10 SECONDS] WHERE a.k = b.k"
VIEW = """SELECT a.k, COUNT(*) AS n FROM a [RANGE 10 SECONDS], b [RANGE 10 SECONDS]
          WHERE a.k = b.k GROUP BY a.k EVERY 1 MINUTE"""


def query(select: str, folder: object = "x") -> Query:
    return parse(STREAMS.format(folder=folder) + select)

"""The query that the tests of statistics are about."""

from __future__ import annotations

QUERY = """\
CREATE STREAM A (ts BIGINT, a BIGINT, x DOUBLE, s STRING)
  WITH (format = 'csv', path = 'a.csv', timestamp = 'ts', unit = 'us', rate = 1000);
CREATE STREAM B (ts BIGINT, a INT, b BIGINT, y DOUBLE)
  WITH (format = 'csv', path = 'b.csv', timestamp = 'ts', unit = 'us');
CREATE TABLE T (id BIGINT, name STRING) WITH (format = 'csv', path = 't.csv');
SELECT A.a FROM A [RANGE 10 SECONDS], B [ROWS 10], B AS B2 [UNBOUNDED], T
WHERE A.a = B.a AND B.a = B2.a AND B2.b = T.id
  AND A.x < B.y AND A.x > 5 AND s = 'a = b' AND A.x BETWEEN 1 AND 9 AND B2.y IS NOT NULL
"""

"""Streams and a table for views worked by hand."""

from __future__ import annotations

from penstock.cql import parse
from penstock.query import Query

DECLARATIONS = """;
CREATE STREAM A (ts TIMESTAMP, k INT, x INT, y DOUBLE, s STRING, f FLOAT, d DATE, b BOOLEAN)
WITH (format = 'csv', path = 'a', timestamp = 'ts');
CREATE STREAM B (ts TIMESTAMP, k INT, z BIGINT)
WITH (format = 'csv', path = 'b', timestamp = 'ts', lateness = '2 seconds');
CREATE TABLE T (k INT, name STRING) WITH (format = 'csv', path = 't');
"""


def ask(select: str) -> Query:
    return parse(select + DECLARATIONS)

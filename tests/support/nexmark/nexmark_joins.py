"""Nexmark's queries by another engine: the same events in tables of DuckDB, asked in plain SQL.

All tuples of a result are alive at the time of the last one, so each is at most its window older
than any other: that is a condition on every pair.
"""

from __future__ import annotations

from datetime import datetime
from itertools import permutations
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from penstock.cql import parse
from penstock.engine.sources.made.made import made_of
from penstock.query import Query, TimeWindow
from penstock.query.source import Source

EXAMPLES = Path(__file__).parents[3] / "examples" / "nexmark"
Row = tuple[Any, ...]

_BLOCK = "time_bucket(INTERVAL 10 SECONDS, {0}.dateTime)"
_NEW_USERS = f"""
SELECT DISTINCT p.id, p.name, {_BLOCK.format("p")} + INTERVAL 10 SECONDS AS _time
FROM person p JOIN auction a ON p.id = a.seller AND {_BLOCK.format("p")} = {_BLOCK.format("a")}
"""


def example(name: str, rate: int, options: str = "") -> Query:
    """One of the example queries, over events that come slower and have more options."""
    text = (EXAMPLES / f"{name}.cql").read_text()
    assert "rate = 10000" in text
    return parse(text.replace("rate = 10000", f"rate = {rate}{options}"))


def told(name: str, query: Query) -> list[Row]:
    """The rows that the query has over all events, in the order of their texts."""
    base = duckdb.connect()
    for source in query.sources.values():
        base.register(source.name, events(source))
    return ordered(base.execute(_NEW_USERS if name == "q8" else _join(name, query)).fetchall())


def events(source: Source) -> pa.Table:
    """All tuples of a stream, times without their zone."""
    generator, names = made_of(source), [field.name for field in source.fields]
    assert generator.blocks is not None
    table = pa.Table.from_batches([b for b, _ in generator.generate(0, generator.blocks, names)])
    columns = [
        c.cast(pa.timestamp("us")) if pa.types.is_timestamp(c.type) else c for c in table.columns
    ]
    return pa.table(columns, names)


def ordered(rows: list[Row]) -> list[Row]:
    """Rows in one order, times without their zone."""
    return sorted((tuple(_plain(value) for value in row) for row in rows), key=repr)


def _plain(value: Any) -> Any:
    return value.replace(tzinfo=None) if isinstance(value, datetime) else value


def _join(name: str, query: Query) -> str:
    """The text of the query without its windows, and with what these ask of each pair."""
    text = (EXAMPLES / f"{name}.cql").read_text()
    select = text[text.index("SELECT") :].rstrip().rstrip(";")
    for _ in query.inputs:
        start = select.index("[")
        select = select[:start] + select[select.index("]") + 1 :]
    near = [
        f"{one.alias}.dateTime >= {other.alias}.dateTime - to_microseconds({one.window.extent})"
        for one, other in permutations(query.inputs, 2)
        if isinstance(one.window, TimeWindow) and one.window.extent is not None
    ]
    return " AND ".join([select, *near])

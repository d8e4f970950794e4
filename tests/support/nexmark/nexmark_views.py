"""Nexmark's queries over queries, asked of DuckDB: the rows of a view as they are at a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import duckdb

from penstock.cql import parse
from penstock.query.view import CHANGE, TIME
from support.nexmark.nexmark_joins import EXAMPLES, events

Rows = dict[Any, dict[str, Any]]
"""The rows of a view by its key."""

_WINNING = """
SELECT a.id, a.seller, a.category, a.itemName, a.dateTime, a.expires, b.price, b.bidder,
       row_number() OVER (PARTITION BY a.id ORDER BY b.price DESC, b.bidder DESC) AS place
FROM auction a JOIN bid b ON b.auction = a.id AND b.dateTime BETWEEN a.dateTime AND a.expires
WHERE b.dateTime <= $at AND a.dateTime <= $at
"""


@dataclass(frozen=True)
class ViewOracle:
    """What a view is at a time: its key, and the SQL that says so."""

    key: tuple[str, ...]
    sql: str


VIEWS = {
    "q4": ViewOracle(
        ("category",),
        f"SELECT category, AVG(price) AS price FROM ({_WINNING}) WHERE place = 1 GROUP BY category",
    ),
    "q5": ViewOracle(
        ("auction",),
        """WITH counted AS (
          SELECT auction, COUNT(*) AS n FROM bid
          WHERE dateTime <= $at AND dateTime >= $at - INTERVAL 10 SECONDS GROUP BY auction)
        SELECT auction, n FROM counted WHERE n = (SELECT MAX(n) FROM counted)""",
    ),
    # Which of more than ten are the last depends on the order of auctions that close together.
    "q6": ViewOracle(
        ("seller",),
        f"""WITH closed AS (
          SELECT id, seller, price FROM ({_WINNING})
          WHERE place = 1 AND expires < (SELECT MAX(dateTime) FROM bid WHERE dateTime <= $at))
        SELECT seller, AVG(price) AS price FROM closed GROUP BY seller HAVING COUNT(*) <= 10""",
    ),
    "q9": ViewOracle(
        ("id",),
        "SELECT id, itemName, seller, category, price, bidder, dateTime "
        f"FROM ({_WINNING}) WHERE place = 1",
    ),
    "q18": ViewOracle(
        ("bidder", "auction"),
        """SELECT auction, bidder, price, dateTime FROM bid WHERE dateTime <= $at
        QUALIFY row_number() OVER (
          PARTITION BY bidder, auction ORDER BY dateTime DESC, price DESC) = 1""",
    ),
    "q19": ViewOracle(
        ("auction", "place"),
        """SELECT auction, bidder, price, dateTime,
          row_number() OVER (
            PARTITION BY auction ORDER BY price DESC, dateTime, auction, bidder) AS place
        FROM bid WHERE dateTime <= $at QUALIFY place <= 10""",
    ),
}
HIGHEST = """
WITH highest AS (
  SELECT time_bucket(INTERVAL 10 SECONDS, dateTime) AS block, MAX(price) AS price
  FROM bid GROUP BY block)
SELECT b.auction, b.bidder, b.price, b.dateTime FROM bid b JOIN highest h
ON b.price = h.price AND time_bucket(INTERVAL 10 SECONDS, b.dateTime) = h.block
"""
"""The bids that q7 tells, once all blocks are over."""


def script_text(name: str, rate: int) -> str:
    """The script of an example, over events that come slower."""
    text = (EXAMPLES / f"{name}.cql").read_text()
    assert "rate = 10000" in text
    return text.replace("rate = 10000", f"rate = {rate}")


def tables(rate: int) -> duckdb.DuckDBPyConnection:
    """A base with all auctions and bids of the examples."""
    base = duckdb.connect()
    for name in ("auction", "bid"):
        declared = f"CREATE STREAM {name} WITH (format = 'nexmark', rate = {rate}, "
        query = parse(f"{declared} duration = '1 minute'); SELECT * FROM {name} [NOW]")
        base.register(name, events(query.sources[name]))
    return base


def oracle_at(base: duckdb.DuckDBPyConnection, view: ViewOracle, at: datetime) -> Rows:
    """The rows that a view should have at a time."""
    found = base.execute(view.sql, {"at": at.replace(tzinfo=None)})
    names = [column[0] for column in found.description or ()]
    rows = (dict(zip(names, row, strict=True)) for row in found.fetchall())
    return {tuple(row[name] for name in view.key): row for row in rows}


def replayed(changes: Iterable[Mapping[str, Any]], key: tuple[str, ...], at: datetime) -> Rows:
    """The rows of a view at a time, by the changes that were told until then."""
    rows: Rows = {}
    order = sorted(changes, key=lambda row: (row[TIME], row[CHANGE] != "delete"))
    for row in order:
        if row[TIME].replace(tzinfo=UTC) > at:
            break
        group = tuple(row[name] for name in key)
        rows.pop(group, None)
        if row[CHANGE] == "upsert":
            rows[group] = {n: v for n, v in row.items() if n not in (TIME, CHANGE)}
    return rows

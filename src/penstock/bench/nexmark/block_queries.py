"""Queries of what happened in some seconds: q5, q7 and q8."""

from __future__ import annotations

from penstock.bench.nexmark.query import NexmarkQuery

_BLOCK = "window(dateTime, '10 seconds') AS block"
_HOP = "window(dateTime, '10 seconds', '2 seconds') AS block"

_FLINK_BIDS = """
SELECT auction, COUNT(*) AS n, window_start, window_end
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(dateTime), INTERVAL '2' SECOND, INTERVAL '10' SECOND))
GROUP BY auction, window_start, window_end"""

Q5 = NexmarkQuery(
    "q5",
    ("bid",),
    {"auction": "BIGINT", "n": "BIGINT", "told": "TIMESTAMP(3)"},
    cql="""
CREATE VIEW bids AS
SELECT b.auction, COUNT(*) AS n
FROM bid [RANGE 10 SECONDS SLIDE 2 SECONDS] AS b
GROUP BY b.auction
EVERY 2 SECONDS;

CREATE VIEW most AS
SELECT MAX(n) AS n FROM bids EVERY 2 SECONDS;

SELECT c.auction, MAX(c.n) AS n
FROM bids AS c, most AS m
WHERE c.n = m.n
GROUP BY c.auction
EVERY 2 SECONDS;""",
    # Two aggregates, one over the other, are less work for Spark than joining the first with its
    # own maximum: it would compute the first twice.
    spark=f"""
SELECT inline(filter(counted, c -> c.n = most)), block.end AS told
FROM (
  SELECT block, MAX(n) AS most, collect_list(struct(auction, n)) AS counted
  FROM (
    SELECT block, auction, COUNT(*) AS n
    FROM (SELECT auction, {_HOP} FROM bid)
    GROUP BY block, auction)
  GROUP BY block)""",
    flink=f"""
SELECT c.auction, c.n, c.window_end
FROM ({_FLINK_BIDS}) AS c
JOIN (
  SELECT MAX(n) AS n, window_start, window_end
  FROM ({_FLINK_BIDS})
  GROUP BY window_start, window_end) AS m
ON c.window_start = m.window_start AND c.window_end = m.window_end AND c.n = m.n""",
    compared="ticks",
    key=("auction",),
    tick_seconds=2,
    marked=("spark", "flink"),
    behind_seconds=0,
)

Q7 = NexmarkQuery(
    "q7",
    ("bid",),
    {"auction": "BIGINT", "bidder": "BIGINT", "price": "BIGINT", "dateTime": "TIMESTAMP(3)"},
    cql="""
CREATE VIEW highest AS
SELECT MAX(b.price) AS price FROM bid [TUMBLE 10 SECONDS] AS b;

SELECT b.auction, b.bidder, b.price, b.dateTime
FROM bid [RANGE 10 SECONDS] AS b, highest [NOW] AS h
WHERE b.price = h.price;""",
    # The time of a bid is computed anew: Spark takes one marked column of a side, here the block.
    spark=f"""
SELECT auction, bidder, price, at AS dateTime
FROM (SELECT auction, bidder, price, dateTime + INTERVAL 0 SECONDS AS at, {_BLOCK} FROM bid)
JOIN (
  SELECT block, MAX(price) AS price
  FROM (SELECT price, {_BLOCK} FROM bid)
  GROUP BY block)
USING (block, price)""",
    # A window join: the interval join that is usual takes twice as much of the processor.
    flink="""
SELECT b.auction, b.bidder, b.price, b.dateTime
FROM (
  SELECT * FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(dateTime), INTERVAL '10' SECOND))) AS b
JOIN (
  SELECT MAX(price) AS price, window_start, window_end
  FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(dateTime), INTERVAL '10' SECOND))
  GROUP BY window_start, window_end) AS h
ON b.price = h.price AND b.window_start = h.window_start AND b.window_end = h.window_end""",
    marked=("spark", "flink"),
    behind_seconds=0,
)

_FLINK_NEW = """
SELECT {columns}, window_start, window_end
FROM TABLE(TUMBLE(TABLE {kind}, DESCRIPTOR(dateTime), INTERVAL '10' SECOND))
GROUP BY {columns}, window_start, window_end"""

Q8 = NexmarkQuery(
    "q8",
    ("person", "auction"),
    {"id": "BIGINT", "name": "STRING", "told": "TIMESTAMP(3)"},
    cql="""
SELECT p.id, p.name
FROM person [TUMBLE 10 SECONDS] AS p, auction [TUMBLE 10 SECONDS] AS a
WHERE p.id = a.seller
GROUP BY p.id, p.name;""",
    spark=f"""
SELECT id, name, block.end AS told
FROM (SELECT id, name, {_BLOCK} FROM person)
JOIN (SELECT seller AS id, {_BLOCK} FROM auction) USING (id, block)
GROUP BY block, id, name""",
    flink=f"""
SELECT p.id, p.name, p.window_end
FROM ({_FLINK_NEW.format(columns="id, name", kind="person")}) AS p
JOIN ({_FLINK_NEW.format(columns="seller", kind="auction")}) AS a
ON p.id = a.seller AND p.window_start = a.window_start AND p.window_end = a.window_end""",
    compared="ticks",
    key=("id",),
    tick_seconds=10,
    marked=("spark", "flink"),
    behind_seconds=0,
)

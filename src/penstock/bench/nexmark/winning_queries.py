"""Queries of the bids that win auctions: q4, q6 and q9."""

from __future__ import annotations

from penstock.bench.nexmark.query import NexmarkQuery

LONGEST_SECONDS = 7
"""No auction is open for longer, at 500 events/s or more."""

Q4 = NexmarkQuery(
    "q4",
    ("auction", "bid"),
    {"category": "BIGINT", "price": "DOUBLE"},
    cql="""
CREATE VIEW highest AS
SELECT a.id, a.category, MAX(b.price) AS price
FROM auction [UNBOUNDED] AS a, bid [UNBOUNDED] AS b
WHERE a.id = b.auction AND b.dateTime BETWEEN a.dateTime AND a.expires
GROUP BY a.id, a.category
EVERY 10 SECONDS;

SELECT h.category, AVG(h.price) AS price
FROM highest AS h
GROUP BY h.category
EVERY 10 SECONDS;""",
    # Flink's mean of whole numbers is a whole number.
    flink="""
SELECT category, AVG(CAST(price AS DOUBLE)) AS price
FROM (
  SELECT a.id, a.category, MAX(b.price) AS price
  FROM auction AS a, bid AS b
  WHERE a.id = b.auction AND b.dateTime BETWEEN a.dateTime AND a.expires
  GROUP BY a.id, a.category)
GROUP BY category""",
    compared="end",
    key=("category",),
)

Q6 = NexmarkQuery(
    "q6",
    ("auction", "bid"),
    {"seller": "BIGINT", "price": "DOUBLE"},
    cql="""
CREATE VIEW winning AS
SELECT a.id, a.seller, a.expires, MAX(b.price) AS price
FROM auction [RANGE 20 SECONDS] AS a, bid [RANGE 20 SECONDS] AS b
WHERE a.id = b.auction AND b.dateTime BETWEEN a.dateTime AND a.expires
GROUP BY a.id, a.seller, a.expires
EVERY 1 SECOND;

CREATE VIEW clock AS
SELECT MAX(b.dateTime) AS now FROM bid [RANGE 1 SECOND] AS b EVERY 1 SECOND;

CREATE VIEW closed AS
SELECT w.id, w.seller, MAX(w.price) AS price
FROM winning AS w, clock AS c
WHERE w.expires < c.now
GROUP BY w.id, w.seller
EVERY 1 SECOND;

SELECT c.seller, AVG(c.price) AS price
FROM closed [PARTITION BY seller ROWS 10] AS c
GROUP BY c.seller
EVERY 1 SECOND;""",
    compared="end",
    key=("seller",),
)

Q9 = NexmarkQuery(
    "q9",
    ("auction", "bid"),
    {
        "id": "BIGINT",
        "itemName": "STRING",
        "seller": "BIGINT",
        "category": "BIGINT",
        "price": "BIGINT",
        "bidder": "BIGINT",
        "dateTime": "TIMESTAMP(3)",
    },
    cql="""
SELECT a.id, a.itemName, a.seller, a.category, MAX(b.price) AS price,
       MAX_BY(b.bidder, b.price) AS bidder, a.dateTime
FROM auction [UNBOUNDED] AS a, bid [UNBOUNDED] AS b
WHERE a.id = b.auction AND b.dateTime BETWEEN a.dateTime AND a.expires
GROUP BY a.id, a.itemName, a.seller, a.category, a.dateTime
EVERY 10 SECONDS;""",
    # Spark's aggregates over joins tell a group once it is over, so an auction's time is in it, and
    # the join says how long bids may come.
    spark=f"""
SELECT id, itemName, seller, category, best.price AS price, best.bidder AS bidder, dateTime
FROM (
  SELECT id, itemName, seller, category, dateTime, MAX(bid) AS best
  FROM (
    SELECT a.id, a.itemName, a.seller, a.category, a.dateTime, struct(b.price, b.bidder) AS bid
    FROM auction AS a JOIN bid AS b
    ON a.id = b.auction AND b.dateTime BETWEEN a.dateTime AND a.expires
    AND b.dateTime <= a.dateTime + INTERVAL {LONGEST_SECONDS} SECONDS)
  GROUP BY id, itemName, seller, category, dateTime)""",
    flink="""
SELECT id, itemName, seller, category, price, bidder, dateTime
FROM (
  SELECT a.id, a.itemName, a.seller, a.category, b.price, b.bidder, a.dateTime,
    ROW_NUMBER() OVER (PARTITION BY a.id ORDER BY b.price DESC, b.bidder DESC) AS place
  FROM auction AS a, bid AS b
  WHERE a.id = b.auction AND b.dateTime BETWEEN a.dateTime AND a.expires)
WHERE place <= 1""",
    compared="end",
    key=("id",),
    marked=("spark",),
    behind_seconds=10,
)

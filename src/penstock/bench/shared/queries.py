"""Ten questions that a team has about an auction site, over three streams and three joins."""

from __future__ import annotations

from collections.abc import Mapping

_SALES = "bid [RANGE {b}] AS b, auction [RANGE {a}] AS a WHERE b.auction = a.id"
_OFFERS = "auction [RANGE {a}] AS a, person [RANGE {p}] AS p WHERE a.seller = p.id"
_CHAINS = (
    "bid [RANGE {b}] AS b, auction [RANGE {a}] AS a, person [RANGE {p}] AS p "
    "WHERE b.auction = a.id AND a.seller = p.id"
)


def _sales(b: int, a: int) -> str:
    return _SALES.format(b=f"{b} SECONDS", a=f"{a} SECONDS")


def _offers(a: int, p: int) -> str:
    return _OFFERS.format(a=f"{a} SECONDS", p=f"{p} SECONDS")


def _chains(b: int, a: int, p: int) -> str:
    return _CHAINS.format(b=f"{b} SECONDS", a=f"{a} SECONDS", p=f"{p} SECONDS")


QUERIES: Mapping[str, str] = {
    "turnover": (
        "SELECT a.category, COUNT(*) AS bids, SUM(b.price) AS turnover "
        f"FROM {_chains(10, 20, 30)} GROUP BY a.category EVERY 5 SECONDS"
    ),
    "states": (
        "SELECT p.state, COUNT(*) AS bids, AVG(b.price) AS price "
        f"FROM {_chains(10, 30, 30)} GROUP BY p.state EVERY 10 SECONDS"
    ),
    "cities": (
        "SELECT p.city, MAX(b.price) AS highest, MIN(a.initialBid) AS lowest "
        f"FROM {_chains(5, 20, 20)} AND b.price > 1000000 GROUP BY p.city EVERY 5 SECONDS"
    ),
    "sellers": (
        "SELECT a.seller, COUNT(*) AS bids, SUM(b.price) AS turnover "
        f"FROM {_chains(10, 20, 30)} AND b.price > 10000000 GROUP BY a.seller EVERY 10 SECONDS"
    ),
    "large_bids": (
        "SELECT b.bidder, b.price, a.id, p.name, p.city "
        f"FROM {_chains(5, 20, 30)} AND b.price > 30000000"
    ),
    "new_sellers": (
        "SELECT p.name, b.price, b.bidder "
        f"FROM {_chains(5, 10, 10)} AND b.price > a.reserve AND p.state = 'CA'"
    ),
    "fair_bids": (
        "SELECT a.id, b.bidder, b.price, a.reserve "
        f"FROM {_sales(5, 30)} AND a.category = 10 AND b.price > a.reserve"
    ),
    "early_bids": (
        "SELECT a.category, COUNT(*) AS bids, MAX(b.price) AS highest "
        f"FROM {_sales(1, 5)} GROUP BY a.category EVERY 5 SECONDS"
    ),
    "local_offers": (
        "SELECT p.name, p.city, p.state, a.id "
        f"FROM {_offers(10, 30)} AND a.category = 10 AND p.state IN ('OR', 'ID', 'CA')"
    ),
    "offers": (
        "SELECT p.state, COUNT(*) AS offers, MAX(a.reserve) AS dearest "
        f"FROM {_offers(10, 20)} GROUP BY p.state EVERY 5 SECONDS"
    ),
}
"""The queries by name, each as it is asked by itself."""

_LONGEST = 30
"""Seconds of the longest window of auctions, in which nearly every bid finds its own."""


def stats_text(rate: float) -> str:
    """What the team knows of so many events a second, as a stats file: the prices of bids are
    spread evenly over six powers of ten, and an auction has bids while it is young."""
    auctions, persons = rate * 3 / 50 * _LONGEST, rate / 50 * _LONGEST
    return f"""
[streams.a]
distinct = {{category = 5, seller = {persons:.0f}, id = {auctions:.0f}}}
[streams.b]
distinct = {{auction = {auctions:.0f}}}
[streams.p]
distinct = {{state = 6, city = 10}}
[joins]
"b.auction = a.id" = {{selectivity = {1 / auctions:.3g}}}
"a.seller = p.id" = {{selectivity = {1 / persons:.3g}}}
"b.price > a.reserve" = {{selectivity = 0.3}}
[filters]
"b.price > 30000000" = {{selectivity = 0.09}}
"b.price > 10000000" = {{selectivity = 0.17}}
"b.price > 1000000" = {{selectivity = 0.33}}
"a.category = 10" = {{selectivity = 0.2}}
"p.state IN ('OR', 'ID', 'CA')" = {{selectivity = 0.5}}
"p.state = 'CA'" = {{selectivity = 0.17}}
"""

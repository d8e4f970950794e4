"""The queries of the benchmark: joins over all that has ever come, blocks, and winning bids."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.bench.nexmark.block_queries import Q5, Q7, Q8
from penstock.bench.nexmark.query import NexmarkQuery, flink_type
from penstock.bench.nexmark.winning_queries import Q4, Q6, Q9
from penstock.query.made.nexmark import STREAMS, StreamKind


def _join(name: str, inputs: Mapping[str, StreamKind], outputs: str, where: str) -> NexmarkQuery:
    """An equi-join over all that has ever come; an output is `alias.column` or `… AS name`."""
    listed = [each.strip() for each in outputs.split(",")]
    columns = dict(_named(each, inputs) for each in listed)
    plain = ", ".join(f"{kind} AS {alias}" for alias, kind in inputs.items())
    kept = ", ".join(f"{kind} [UNBOUNDED] AS {alias}" for alias, kind in inputs.items())
    select = f"SELECT {', '.join(listed)} FROM "
    asked = f"{select}{plain} WHERE {where}"
    cql = f"{select}{kept} WHERE {where};"
    return NexmarkQuery(name, tuple(inputs.values()), columns, cql, asked, asked)


def _named(output: str, inputs: Mapping[str, StreamKind]) -> tuple[str, str]:
    """The name and the type of an output."""
    column, _, name = output.partition(" AS ")
    alias, _, own = column.partition(".")
    types = {field.name: str(field.type) for field in STREAMS[inputs[alias]].fields}
    return name or own, flink_type(types[own])


_BID = (
    "b.auction, b.bidder, b.price, b.channel, b.url, b.dateTime AS bid_time, b.extra AS bid_extra"
)
_ITEM = (
    "a.itemName, a.description, a.initialBid, a.reserve, a.dateTime AS auction_time, a.expires, "
    "a.seller, a.category, a.extra AS auction_extra"
)
_Q3 = _join(
    "q3",
    {"a": "auction", "p": "person"},
    "p.name, p.city, p.state, a.id",
    "a.seller = p.id AND a.category = 10 AND p.state IN ('OR', 'ID', 'CA')",
)
_Q20 = _join(
    "q20",
    {"b": "bid", "a": "auction"},
    f"{_BID}, {_ITEM}",
    "b.auction = a.id AND a.category = 10",
)
_Q23 = _join(
    "q23",
    {"b": "bid", "p": "person", "a": "auction"},
    "b.bidder, b.price, b.channel, b.url, b.extra AS bid_extra, p.id AS person, p.name, "
    "p.emailAddress, p.creditCard, p.city, p.state, p.extra AS person_extra, " + _ITEM,
    "b.bidder = p.id AND b.bidder = a.seller",
)

_ALL = (_Q3, Q4, Q5, Q6, Q7, Q8, Q9, _Q20, _Q23)
QUERIES: Mapping[str, NexmarkQuery] = {each.name: each for each in _ALL}

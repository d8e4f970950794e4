"""The queries of the benchmark in the languages of all rivals, made of one description each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from penstock.query.made.nexmark import STREAMS, StreamKind

BLOCK_SECONDS = 10


@dataclass(frozen=True)
class NexmarkQuery:
    """A query as each rival is asked it.

    `columns` are those of its results, with their types as Flink writes them. Where `is_of_blocks`,
    the last of them is the end of the block that a result is told for.
    """

    name: str
    streams: tuple[StreamKind, ...]
    cql: str
    spark: str
    flink: str
    columns: Mapping[str, str]
    is_of_blocks: bool = False


def _join(name: str, inputs: Mapping[str, StreamKind], outputs: str, where: str) -> NexmarkQuery:
    """An equi-join over all that has ever come; an output is `alias.column` or `… AS name`."""
    listed = [each.strip() for each in outputs.split(",")]
    columns = dict(_named(each, inputs) for each in listed)
    plain = ", ".join(f"{kind} AS {alias}" for alias, kind in inputs.items())
    kept = ", ".join(f"{kind} [UNBOUNDED] AS {alias}" for alias, kind in inputs.items())
    select = f"SELECT {', '.join(listed)} FROM "
    asked = f"{select}{plain} WHERE {where}"
    kinds = tuple(inputs.values())
    return NexmarkQuery(name, kinds, f"{select}{kept} WHERE {where}", asked, asked, columns)


def _named(output: str, inputs: Mapping[str, StreamKind]) -> tuple[str, str]:
    """The name and the type of an output."""
    column, _, name = output.partition(" AS ")
    alias, _, own = column.partition(".")
    types = {field.name: str(field.type) for field in STREAMS[inputs[alias]].fields}
    return name or own, flink_type(types[own])


def flink_type(type_: str) -> str:
    """A type as Flink writes it; its event times are in milliseconds."""
    return type_.replace("TIMESTAMP", "TIMESTAMP(3)")


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
_WINDOW = f"window(dateTime, '{BLOCK_SECONDS} seconds') AS block"
_FLINK_BLOCKS = (
    "(SELECT {columns}, window_start, window_end FROM TABLE(TUMBLE(TABLE {kind}, "
    f"DESCRIPTOR(dateTime), INTERVAL '{BLOCK_SECONDS}' SECOND)) "
    "GROUP BY {columns}, window_start, window_end)"
)
_Q8 = NexmarkQuery(
    "q8",
    ("person", "auction"),
    f"SELECT p.id, p.name FROM person [TUMBLE {BLOCK_SECONDS} SECONDS] AS p, "
    f"auction [TUMBLE {BLOCK_SECONDS} SECONDS] AS a WHERE p.id = a.seller GROUP BY p.id, p.name",
    f"SELECT id, name, block.end AS told FROM (SELECT id, name, {_WINDOW} FROM person) "
    f"JOIN (SELECT seller AS id, {_WINDOW} FROM auction) USING (id, block) "
    "GROUP BY block, id, name",
    "SELECT p.id, p.name, p.window_end FROM "
    f"{_FLINK_BLOCKS.format(columns='id, name', kind='person')} AS p JOIN "
    f"{_FLINK_BLOCKS.format(columns='seller', kind='auction')} AS a "
    "ON p.id = a.seller AND p.window_start = a.window_start AND p.window_end = a.window_end",
    {"id": "BIGINT", "name": "STRING", "told": "TIMESTAMP(3)"},
    is_of_blocks=True,
)

QUERIES: Mapping[str, NexmarkQuery] = {each.name: each for each in (_Q3, _Q8, _Q20, _Q23)}

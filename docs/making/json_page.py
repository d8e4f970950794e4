"""The page of explain's JSON: every field of two queries, with what it was of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import penstock as ps
from documented import table

_HEAD = """\
# explain as JSON

Every field that `penstock explain --format json` has of the two queries below, with its value there
(`…` where it is long). The `version` is 1: fields are added under it, and none is changed. What is
not known is null. Rates are tuples/s, times seconds, work is CPU-seconds a second.
"""
_STREAMS = """\
CREATE STREAM bid (ts TIMESTAMP, auction BIGINT, price DOUBLE)
WITH (format = 'csv', path = 'bids', timestamp = 'ts', rate = 1000);
CREATE STREAM auction (ts TIMESTAMP, id BIGINT, seller STRING)
WITH (format = 'csv', path = 'auctions', timestamp = 'ts', rate = 50);
"""
_QUERIES = {
    "A join": """\
SELECT b.ts, a.seller, b.price
FROM bid [RANGE 10 SECONDS] AS b, auction [RANGE 1 HOUR] AS a
WHERE b.auction = a.id AND b.price > 100.0;
""",
    "A view": """\
SELECT a.seller, COUNT(*) AS bids, AVG(b.price) AS mean
FROM bid [RANGE 10 SECONDS] AS b, auction [RANGE 1 HOUR] AS a
WHERE b.auction = a.id
GROUP BY a.seller EVERY 1 SECOND;
""",
}
_LONG = 60


def json_page() -> str:
    """All of it."""
    parts = [_HEAD, f"```sql\n{_STREAMS}```"]
    for title, query in _QUERIES.items():
        document = json.loads(ps.sql(_STREAMS + query).explain("json", alternatives=True))
        rows = [(f"`{path}`", _shown(value)) for path, value in dict(_paths(document)).items()]
        parts.append(f"## {title}\n\n```sql\n{query}```\n\n{table(('field', 'here'), rows)}")
    return "\n\n".join(parts) + "\n"


def _paths(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """The ways to all values; of a list, of its first item."""
    match value:
        case dict() if value:
            for name, inner in value.items():
                yield from _paths(inner, f"{path}.{name}" if path else name)
        case [first, *_]:
            yield from _paths(first, f"{path}[]")
        case _:
            yield path, value


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return f"`{text if len(text) <= _LONG else text[:_LONG] + '…'}`"

"""The columns that are read of sources: malformed values in others are nobody's concern."""

from __future__ import annotations

from penstock.engine.rows.layout import Layout
from penstock.query import Query
from penstock.query.script import Script


def columns_read(asked: Query | Script) -> dict[str, tuple[str, ...]]:
    """The columns that a query, or any of a script, reads of each source by its name."""
    queries = [asked] if isinstance(asked, Query) else [m.query for m in asked.members]
    found: dict[str, set[str]] = {}
    for query in queries:
        layout = Layout(query)
        for item in query.inputs:
            found.setdefault(item.source.name, set()).update(layout.reads(item.alias))
    return {name: tuple(sorted(columns)) for name, columns in found.items()}

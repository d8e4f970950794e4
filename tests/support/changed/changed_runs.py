"""What a sink holds of a query that was changed: results of before, and of since."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from penstock.query import Query
from support.engines.runs import Place
from support.streams.cases import canonical


def found(place: Place, query: Query, since: int) -> tuple[Counter[Any], Counter[Any]]:
    """The results of the batches before one, whatever their columns, and of those since."""
    before: list[tuple[Any, ...]] = []
    after: list[tuple[Any, ...]] = []
    names = [output.name for output in query.results]
    extra = ["_time", "_change"] if query.view is not None else []
    for path in sorted(Path(place.sink.place).glob("*.parquet")):
        is_old = int(path.name.split("-")[1]) < since
        for row in pq.read_table(path).to_pylist():
            told = tuple(row[name] for name in (*extra, *([] if is_old else names)))
            values = tuple(v for n, v in row.items() if n not in extra) if is_old else ()
            (before if is_old else after).append((*told, *values))
    return canonical(before), canonical(after)

"""Input, results and runs on an object store."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pyarrow.parquet as pq

from penstock.engine.places.objects import list_objects
from penstock.engine.places.place import Place, open_new
from penstock.engine.sinks.sink import Sink
from support.engines.soak import QUERIES, STREAMS, write_input


def upload(folder: Path, to: Place) -> None:
    """Copy the files of a folder, in the order of their names."""
    for path in sorted(each for each in folder.rglob("*") if each.is_file()):
        with open_new(to / str(path.relative_to(folder))) as file:
            file.write(path.read_bytes())


def stored_input(folder: Path, bucket: str, files: int = 3) -> str:
    """The same input in a folder and in a bucket; where it is there."""
    write_input(folder, files, Random(5))
    to = f"s3a://{bucket}/in"
    upload(folder, Place.of(to))
    return to


def script_over(query: str, folder: str) -> str:
    """One of the queries of a siege over a folder or a URI."""
    return STREAMS.format(folder=folder) + QUERIES[query]


def stored_results(sink: Sink) -> Counter[tuple[Any, ...]]:
    """What a parquet sink on a store holds, and how often."""
    found: Counter[tuple[Any, ...]] = Counter()
    for name, _ in sink.place.files():
        if name.endswith(".parquet"):
            file = sink.place / name
            table = pq.read_table(file.path, filesystem=file.filesystem)
            found.update(tuple(row.values()) for row in table.to_pylist())
    return found


def names_in(bucket: str) -> list[str]:
    """All that a bucket holds."""
    return [each.name for each in list_objects(Place.of(f"s3://{bucket}"))]

"""Random queries over tables that change from batch to batch, and runs over them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import pyarrow.parquet as pq

from penstock.query import Input, Query, Source
from reference import Row
from support.streams.cases import Case, as_table, write_case


@dataclass(frozen=True)
class ChangingCase:
    """A case whose tables have a version for each batch, by alias."""

    case: Case
    versions: dict[str, list[list[Row]]]

    @property
    def query(self) -> Query:
        return self.case.query

    @property
    def tables(self) -> dict[str, Input]:
        """An input for each table, by the name of its source."""
        return {item.source.name: item for item in self.query.inputs if item.is_table}


def changing(case: Case, rng: Random) -> ChangingCase | None:
    """A case with a table at least, which changes; None if all of it is one source."""
    query = case.query
    single = [
        item
        for item in query.inputs
        if len(query.reading(item.source.name)) == 1 and len(query.streams) > 1
    ]
    if not any(item.is_table for item in query.inputs):
        if not single:
            return None
        case = _with_table(case, rng.choice(single))
    query = case.query
    inputs = tuple(
        replace(i, source=replace(i.source, refresh=0)) if i.is_table else i for i in query.inputs
    )
    count = max(len(case.batches[item.alias]) for item in query.streams)
    pools = {i.alias: [r for b in case.batches[i.alias] for r in b] for i in inputs if i.is_table}
    versions = {alias: _versions(rng, pool, count) for alias, pool in pools.items()}
    first = {alias: [found[0]] for alias, found in versions.items()}
    case = Case(replace(query, inputs=inputs), {**case.batches, **first})
    return ChangingCase(case, versions)


def _with_table(case: Case, chosen: Input) -> Case:
    source = replace(chosen.source, is_table=True, timestamp=None, unit=None, lateness=0)
    table = Input(chosen.alias, source, None)
    inputs = tuple(table if item is chosen else item for item in case.query.inputs)
    return replace(case, query=replace(case.query, inputs=inputs))


def _versions(rng: Random, pool: Sequence[Row], count: int) -> list[list[Row]]:
    """A version for each batch: some rows of a pool, none, or the same as before."""
    versions = [list(pool) if rng.random() < 0.5 else _some(rng, pool)]
    for _ in range(1, count):
        is_same = rng.random() < 0.3
        versions.append(versions[-1] if is_same else _some(rng, pool))
    return versions


def _some(rng: Random, pool: Sequence[Row]) -> list[Row]:
    share = rng.choice((0.0, 0.3, 0.7, 1.0))
    return [row for row in pool if rng.random() < share]


def write_changing(case: ChangingCase, directory: Path) -> Query:
    """Write the streams, and the first version of the tables; the query that reads them."""
    query = write_case(case.case, directory)
    write_versions(case, query, 0)
    return query


def write_versions(case: ChangingCase, query: Query, number: int) -> None:
    """Have the tables as they are for a batch; after the last one they stay."""
    for item in query.inputs:
        if item.is_table and number < len(case.versions[item.alias]):
            write_table(item.source, case.versions[item.alias][number], number)


def write_table(source: Source, rows: Sequence[Row], number: int) -> None:
    """Replace all files of a table, by one or by two."""
    assert source.path is not None
    folder = Path(source.path)
    shutil.rmtree(folder)
    folder.mkdir()
    half = len(rows) // 2 if number % 2 else 0
    for name, part in (("a", rows[:half]), ("b", rows[half:])):
        path = folder / f"{name}.parquet"
        pq.write_table(as_table(source, part), path)
        os.utime(path, (1_000_000_000 + number, 1_000_000_000 + number))


def changing_cases(
    drawn: Callable[[int], Case], seeds: Iterable[int], most: int
) -> list[tuple[int, ChangingCase]]:
    """The first cases of some seeds that have tables."""
    found: list[tuple[int, ChangingCase]] = []
    for seed in seeds:
        case = changing(drawn(seed), Random(f"changing {seed}"))
        if case is not None and len(found) < most:
            found.append((seed, case))
    return found

"""Scenarios: streams whose rates and keys change from batch to batch, and a join of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from penstock.bench.drift.streams.keys import Keys
from penstock.bench.workload import quoted
from penstock.cql import parse
from penstock.query import Query

Columns = Mapping[str, Keys]


@dataclass(frozen=True)
class Flow:
    """A stream for a while: tuples/s of event time, and the keys of its columns."""

    rate: float
    columns: Columns


Regime = Mapping[str, Flow]
"""All streams for a while, by name."""


@dataclass(frozen=True)
class Stretch:
    """A regime that lasts for so many batches."""

    regime: Regime
    batches: int


@dataclass(frozen=True)
class Scenario:
    """Streams with their windows in seconds, joined by `equalities`, stretch after stretch.

    `predicates` are those besides, each with the part that it lets through.
    A batch is `step` seconds of event time: a file of each stream, with a number of tuples that is
    drawn from a Poisson distribution. At the `turns` another plan may become the best one; without
    them, at the start of every stretch. If it `takes_all`, a batch is whatever files are there.
    """

    name: str
    windows: Mapping[str, float]
    equalities: tuple[str, ...]
    predicates: Mapping[str, float]
    stretches: tuple[Stretch, ...]
    step: float = 2.0
    seed: int = 1
    turns: tuple[int, ...] | None = None
    takes_all: bool = False

    @property
    def batches(self) -> int:
        return sum(stretch.batches for stretch in self.stretches)

    @property
    def edges(self) -> tuple[int, ...]:
        """The batches from which on another plan may be the best one."""
        if self.turns is not None:
            return self.turns
        starts, found = 0, list[int]()
        for stretch in self.stretches[:-1]:
            starts += stretch.batches
            found.append(starts)
        return tuple(found)

    def regimes(self) -> Iterator[Regime]:
        """The regime of each batch."""
        for stretch in self.stretches:
            for _ in range(stretch.batches):
                yield stretch.regime

    def text(self, folder: Path) -> str:
        """The query over the files in a folder, a file of each stream to a batch."""
        return "\n".join([*self._declarations(folder), self._select()])

    def query(self, folder: Path) -> Query:
        """The same, parsed."""
        return parse(self.text(folder))

    def _declarations(self, folder: Path) -> Iterator[str]:
        for name, flow in self.stretches[0].regime.items():
            columns = ", ".join(f"{column} BIGINT" for column in (*flow.columns, "id"))
            yield (
                f"CREATE STREAM {name} (ts TIMESTAMP, {columns}) WITH (format = 'parquet', "
                f"path = {quoted(folder / name)}, timestamp = 'ts'{self._limit});"
            )

    @property
    def _limit(self) -> str:
        return "" if self.takes_all else ", max_files = 1"

    def _select(self) -> str:
        selected = ", ".join(f"{name}.id AS {name}_id" for name in self.windows)
        windows = ", ".join(
            f"{name} [RANGE {round(seconds * 1000)} MILLISECONDS]"
            for name, seconds in self.windows.items()
        )
        where = " AND ".join([*self.equalities, *self.predicates])
        return f"SELECT {selected} FROM {windows} WHERE {where};"

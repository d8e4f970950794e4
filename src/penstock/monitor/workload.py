"""Queries over made-up streams of which everything is known: as scripts, for measuring machines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from penstock.query import Query
from penstock.query.window import MICROS
from penstock.sql import parse
from penstock.stats.figure import Figure
from penstock.stats.statistics import GivenCondition, Statistics, StreamFigures

FILTERED = "v"
"""The column that filters look at: uniform over this many whole numbers."""
FILTER_VALUES = 1_000


@dataclass(frozen=True)
class MadeStream:
    """A stream of `rate` tuples/s; every key is uniform over so many values.

    The window is of `rows` tuples, or else of `extent` seconds. The fraction `passing` of the
    tuples passes the filter.
    """

    name: str
    rate: float
    keys: Mapping[str, int]
    extent: float = 1.0
    rows: int | None = None
    passing: float = 1.0

    @property
    def filling(self) -> float:
        """The seconds after which the window is full."""
        return self.extent if self.rows is None else self.rows / self.rate

    @property
    def window(self) -> str:
        """The window as a query has it."""
        if self.rows is not None:
            return f"[ROWS {self.rows}]"
        return f"[RANGE {max(1, round(self.extent * MICROS))} MICROSECONDS]"


@dataclass(frozen=True)
class Workload:
    """Streams that are joined on columns of the same name, for so many seconds of event time.

    They come in so many batches where that matters, or all at once.
    """

    streams: tuple[MadeStream, ...]
    seconds: float
    seed: int = 1
    batches: int | None = None

    def script(self) -> str:
        """The query, with its sources, as a user would write it."""
        created = "\n".join(self._created(stream) for stream in self.streams)
        inputs = ", ".join(f"{stream.name} {stream.window}" for stream in self.streams)
        conditions = [*self._equalities(), *self._filters()]
        where = f"\nWHERE {' AND '.join(conditions)}" if conditions else ""
        columns = ", ".join(
            f"{stream.name}.{FILTERED} AS {stream.name}_v" for stream in self.streams
        )
        return f"{created}\nSELECT {columns}\nFROM {inputs}{where};\n"

    def query(self) -> Query:
        """The query itself."""
        return parse(self.script())

    def lasting(self, seconds: float) -> Workload:
        """The same for another length of event time."""
        return replace(self, seconds=seconds)

    def scaled(self, factor: float) -> Workload:
        """Faster streams with as many more keys: each tuple finds as many partners as before."""
        streams = tuple(
            replace(
                stream,
                rate=stream.rate * factor,
                keys={key: max(1, round(count * factor)) for key, count in stream.keys.items()},
                rows=None if stream.rows is None else max(1, round(stream.rows * factor)),
            )
            for stream in self.streams
        )
        return replace(self, streams=streams)

    @property
    def tuples(self) -> float:
        """About how many tuples there are."""
        return self.seconds * sum(stream.rate for stream in self.streams)

    def statistics(self) -> Statistics:
        """What is true of the streams, exactly."""
        streams = {
            stream.name: StreamFigures(
                Figure(stream.rate, "declared"),
                distinct={key: Figure(float(n), "declared") for key, n in stream.keys.items()},
            )
            for stream in self.streams
        }
        query = self.query()
        passing = {
            str(condition): GivenCondition(Figure(stream.passing, "declared"))
            for stream in self.streams
            for condition in query.filters_of(stream.name)
        }
        return Statistics(query, streams, conditions=passing)

    def _equalities(self) -> Iterator[str]:
        holders: dict[str, str] = {}
        for stream in self.streams:
            for key in stream.keys:
                if key in holders:
                    yield f"{holders[key]}.{key} = {stream.name}.{key}"
                holders.setdefault(key, stream.name)

    def _filters(self) -> list[str]:
        return [
            f"{stream.name}.{FILTERED} < {round(stream.passing * FILTER_VALUES)}"
            for stream in self.streams
            if stream.passing < 1.0
        ]

    def _created(self, stream: MadeStream) -> str:
        keys = "".join(f", {key} BIGINT" for key in stream.keys)
        values = [f"{key}: uniform(0, {count})" for key, count in stream.keys.items()]
        values.append(f"{FILTERED}: uniform(0, {FILTER_VALUES})")
        options = {
            "format": "'synthetic'",
            "timestamp": "'ts'",
            "rate": f"{stream.rate:.6g}",
            "arrivals": "'poisson'",
            "seed": str(self.seed),
            "duration": f"'{max(1, round(self.seconds * MICROS))} microseconds'",
            "values": f"'{', '.join(values)}'",
        }
        if self.batches is not None:
            micros = max(1, round(self.seconds * MICROS / self.batches))
            options["max_time"] = f"'{micros} microseconds'"
        given = ", ".join(f"{name} = {value}" for name, value in options.items())
        columns = f"ts TIMESTAMP{keys}, {FILTERED} BIGINT"
        return f"CREATE STREAM {stream.name} ({columns}) WITH ({given});"

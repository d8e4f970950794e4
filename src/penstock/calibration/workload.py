"""Queries over made-up streams of which everything is known: as scripts, for measuring machines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from penstock.cql import parse
from penstock.duration import MICROS
from penstock.figure import Figure
from penstock.query import Query
from penstock.stats.statistics import GivenCondition, Statistics, StreamFigures

FILTERED = "v"
"""The column that filters look at: uniform over this many whole numbers."""
FILTER_VALUES = 1_000
GROUPED = "g"
"""The column that views group by."""


@dataclass(frozen=True)
class MadeStream:
    """A stream of `rate` tuples/s; every key is uniform over so many values.

    The window is of `rows` tuples, or else of `extent` seconds. The fraction `passing` of the
    tuples passes the filter. A view groups by so many uniform `groups` of the stream.
    """

    name: str
    rate: float
    keys: Mapping[str, int]
    extent: float = 1.0
    rows: int | None = None
    passing: float = 1.0
    groups: int = 1

    @property
    def filling(self) -> float:
        """The seconds after which the window is full."""
        return self.extent if self.rows is None else self.rows / self.rate

    @property
    def window(self) -> str:
        """The window as a query has it."""
        if self.rows is not None:
            return f"[ROWS {self.rows}]"
        return f"[RANGE {_micros(self.extent)} MICROSECONDS]"


@dataclass(frozen=True)
class Theta:
    """A predicate over the streams, as text, and the fraction of their pairs that passes it."""

    text: str
    passing: float


@dataclass(frozen=True)
class Workload:
    """Streams that are joined on columns of the same name, for so many seconds of event time.

    They come in so many batches where that matters, or all at once. With `theta`, that joins them
    and no key does. A view is evaluated `every` so many seconds: COUNT and SUM by all groups.
    """

    streams: tuple[MadeStream, ...]
    seconds: float
    seed: int = 1
    batches: int | None = None
    theta: Theta | None = None
    every: float | None = None

    def script(self) -> str:
        """The query, with its sources, as a user would write it."""
        created = "\n".join(self._created(stream) for stream in self.streams)
        inputs = ", ".join(f"{stream.name} {stream.window}" for stream in self.streams)
        conditions = [*self._joins(), *self._filters()]
        where = f"\nWHERE {' AND '.join(conditions)}" if conditions else ""
        return f"{created}\nSELECT {self._columns()}\nFROM {inputs}{where}{self._view()};\n"

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
        """The exact statistics of the streams."""
        streams = {
            stream.name: StreamFigures(
                Figure(stream.rate, "declared"),
                distinct={c: Figure(float(n), "declared") for c, n in self._values(stream).items()},
            )
            for stream in self.streams
        }
        query = self.query()
        passing = {
            str(condition): GivenCondition(Figure(stream.passing, "declared"))
            for stream in self.streams
            for condition in query.filters_of(stream.name)
        }
        if self.theta is not None:
            (condition,) = query.thetas
            passing[str(condition)] = GivenCondition(Figure(self.theta.passing, "declared"))
        return Statistics(query, streams, conditions=passing)

    def _columns(self) -> str:
        if self.every is None:
            return ", ".join(f"{s.name}.{FILTERED} AS {s.name}_v" for s in self.streams)
        groups = [f"{s.name}.{GROUPED} AS {s.name}_g" for s in self.streams]
        summed = f"{self.streams[-1].name}.{FILTERED}"
        return ", ".join([*groups, "COUNT(*) AS n", f"SUM({summed}) AS total"])

    def _view(self) -> str:
        if self.every is None:
            return ""
        groups = ", ".join(f"{stream.name}.{GROUPED}" for stream in self.streams)
        return f"\nGROUP BY {groups}\nEVERY {_micros(self.every)} MICROSECONDS"

    def _values(self, stream: MadeStream) -> dict[str, int]:
        """How many values the columns have that keys and groups are read from."""
        return {**stream.keys, **({} if self.every is None else {GROUPED: stream.groups})}

    def _joins(self) -> Iterator[str]:
        if self.theta is not None:
            yield self.theta.text
            return
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
        made = self._values(stream)
        keys = "".join(f", {key} BIGINT" for key in made)
        values = [f"{key}: uniform(0, {count})" for key, count in made.items()]
        values.append(f"{FILTERED}: uniform(0, {FILTER_VALUES})")
        options = {
            "format": "'synthetic'",
            "timestamp": "'ts'",
            "rate": f"{stream.rate:.6g}",
            "arrivals": "'poisson'",
            "seed": str(self.seed),
            "duration": f"'{_micros(self.seconds)} microseconds'",
            "values": f"'{', '.join(values)}'",
        }
        if self.batches is not None:
            options["max_time"] = f"'{_micros(self.seconds / self.batches)} microseconds'"
        given = ", ".join(f"{name} = {value}" for name, value in options.items())
        columns = f"ts TIMESTAMP{keys}, {FILTERED} BIGINT"
        return f"CREATE STREAM {stream.name} ({columns}) WITH ({given});"


def _micros(seconds: float) -> int:
    """Whole microseconds, at least one."""
    return max(1, round(seconds * MICROS))

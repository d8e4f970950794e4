"""The workloads of aggjoin: an aggregation over a windowed join on one key."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from penstock.bench.workload import quoted
from penstock.figure import Figure
from penstock.query import Query
from penstock.stats.statistics import Statistics, StreamFigures

NUMBERS = ("k", "g", "x")
Kind = Literal["tumbling", "sliding"]

WINDOW = 10
"""Seconds."""
EVERY = 1
"""Seconds between evaluations of sliding windows; tumbling ones are evaluated as they close."""


@dataclass(frozen=True)
class AggJoin:
    """Streams of `ts`, the join key `k`, the group `g` and the number `x`, all but `ts` BIGINT.

    The first stream gives the groups, the second what is summed. `rate` is tuples/s of each stream,
    `seconds` are of event time; a file holds a second, and a batch `batch` files of each stream.
    """

    keys: int
    streams: tuple[str, ...] = ("A", "B")
    groups: int = 100
    rate: int = 20_000
    seconds: int = 60
    batch: int = 31

    @property
    def tuples(self) -> int:
        """Tuples of all streams together, without those that close the windows."""
        return len(self.streams) * self.rate * self.seconds

    def join_results(self, kind: Kind) -> float:
        """Combinations of tuples that are equal on the key and in the windows together, expected.

        Of m times drawn from T seconds, all lie within w of each other in m·wᵐ⁻¹(T − w) + wᵐ of Tᵐ
        cases.
        """
        m, blocks, rest = len(self.streams), *divmod(self.seconds, WINDOW)
        if kind == "tumbling":
            extent = blocks * WINDOW**m + rest**m
        else:
            width = min(WINDOW, self.seconds)
            extent = m * width ** (m - 1) * (self.seconds - width) + width**m
        return float(extent * self.rate**m / self.keys ** (m - 1))

    def matches(self, kind: Kind) -> float:
        """Join results for each tuple."""
        return self.join_results(kind) / self.tuples

    def state_bound(self, kind: Kind) -> int:
        """Tuples and aggregates that a plan may keep at most, for it to keep no join results.

        Tumbling: what can be told apart of each stream; sliding: that and the windows themselves.
        The view has its groups as they are shown, and as they will be at the ticks to come.
        """
        sets = [self.groups * self.keys, *[self.keys] * (len(self.streams) - 1)]
        if kind == "tumbling":
            return sum(sets) + 2 * self.groups
        window = self.rate * WINDOW
        view = self.groups * (1 + WINDOW // EVERY)
        return len(self.streams) * window + sum(min(each, window) for each in sets) + view

    def cql(self, folder: Path, kind: Kind) -> str:
        """The query over the files in a folder."""
        columns = ", ".join(f"{name} BIGINT" for name in NUMBERS)
        streams = [
            f"CREATE STREAM {alias} (ts TIMESTAMP, {columns}) WITH (format = 'parquet', "
            f"path = {quoted(folder / alias)}, timestamp = 'ts', max_files = {self.batch});"
            for alias in self.streams
        ]
        first, second, *_ = self.streams
        window = f"[{'TUMBLE' if kind == 'tumbling' else 'RANGE'} {WINDOW} SECONDS]"
        return "\n".join(
            [
                *streams,
                f"SELECT {first}.g, COUNT(*) AS n, SUM({second}.x) AS total",
                f"FROM {', '.join(f'{alias} {window}' for alias in self.streams)}",
                f"WHERE {' AND '.join(f'{first}.k = {other}.k' for other in self.streams[1:])}",
                f"GROUP BY {first}.g",
                *([f"EVERY {EVERY} SECONDS"] if kind == "sliding" else []),
            ]
        )

    def statistics(self, query: Query) -> Statistics:
        """The true figures of the streams."""
        distinct = {"k": _declared(self.keys), "g": _declared(self.groups)}
        figures = StreamFigures(_declared(self.rate), distinct=distinct)
        return Statistics(query, dict.fromkeys(self.streams, figures))


def _declared(number: int) -> Figure:
    return Figure(float(number), "declared")

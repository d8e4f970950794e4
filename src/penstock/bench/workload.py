"""Workloads: three streams and a windowed join of them, in a size that every rival is given."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from penstock.duration import MICROS

ALIASES = ("A", "B", "C")


@dataclass(frozen=True)
class Workload:
    """Streams A, B, C with the same columns: `ts`, the keys (BIGINT) and one double `x`.

    `equalities` join B to A, then C to A or B. Keys are uniform over `distinct` values; `rate` is
    tuples/s of each stream; `seconds` and `window` are of event time, and a file holds `step`
    microseconds of it.
    """

    name: str
    keys: tuple[str, ...]
    equalities: tuple[tuple[str, str], tuple[str, str]]
    distinct: int
    rate: int = 20_000
    seconds: int = 60
    window: int = 10
    step: int = 5 * MICROS

    @property
    def columns(self) -> tuple[str, ...]:
        return ("ts", *self.keys, "x")

    @property
    def files(self) -> int:
        """Files of each stream, which is also the number of batches."""
        return self.seconds * MICROS // self.step

    @property
    def tuples_per_file(self) -> int:
        return self.rate * self.step // MICROS

    @property
    def tuples(self) -> int:
        """Tuples of all streams together."""
        return len(ALIASES) * self.files * self.tuples_per_file

    def cql(self, folder: Path) -> str:
        """The query over the files in a folder, a file of each stream to a batch."""
        streams = [
            f"CREATE STREAM {alias} ({self.declared}) WITH (format = 'parquet', "
            f"path = {quoted(folder / alias)}, timestamp = 'ts', max_files = 1);"
            for alias in ALIASES
        ]
        return "\n".join([*streams, self.select])

    @property
    def declared(self) -> str:
        """The columns of each stream with their types."""
        types = {"ts": "TIMESTAMP", "x": "DOUBLE"}
        return ", ".join(f"{name} {types.get(name, 'BIGINT')}" for name in self.columns)

    @property
    def select(self) -> str:
        """The query without its declarations."""
        windows = ", ".join(f"{alias} [RANGE {self.window} SECONDS]" for alias in ALIASES)
        where = " AND ".join(f"{left} = {right}" for left, right in self.equalities)
        return f"SELECT * FROM {windows} WHERE {where};"


JOIN3 = Workload("join3", ("k",), (("A.k", "B.k"), ("A.k", "C.k")), distinct=100_000)
SPARSE3 = replace(JOIN3, name="sparse3", distinct=2_000_000)
CHAIN3 = Workload("chain3", ("a", "b"), (("A.a", "B.a"), ("B.b", "C.b")), distinct=100_000)


def quoted(path: Path) -> str:
    """The path as a text of SQL."""
    return "'" + str(path.absolute()).replace("'", "''") + "'"

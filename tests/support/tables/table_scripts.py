"""A script over tables of every kind: its files, and what its queries mean."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

from penstock.cql import parse, parse_script
from penstock.engine.reports.report import Report
from penstock.engine.sinks.sink import Sink, parquet
from penstock.query import Query
from penstock.query.script import Script
from reference import Row, answer
from reference_tables import answer_by_versions, changes_by_versions
from support.engines.runs import results_in
from support.streams.cases import EPOCH, arrival, canonical
from support.streams.views import told_in

BATCHES = 4
SOURCES = """
CREATE STREAM a (ts BIGINT, id BIGINT, k BIGINT)
  WITH (format = 'csv', path = '{folder}/a', timestamp = 'ts', unit = 's', max_files = 1);
CREATE TABLE t (k BIGINT, v BIGINT) WITH (format = 'csv', path = '{folder}/t.csv',
  refresh = '0 seconds', malformed = 'keep:{folder}/kept.jsonl');
CREATE TABLE u (at BIGINT, k BIGINT, op STRING, v BIGINT)
  WITH (format = 'csv', path = '{folder}/u', timestamp = 'at', unit = 's', max_files = 1,
        lateness = '2 seconds', key = 'k', delete = 'op = ''D''');
"""
QUERIES = {
    "joined": "SELECT a.id AS id, t.v AS v FROM a [RANGE 10 SECONDS], t WHERE a.k = t.k",
    "counted": "SELECT t.v AS v, COUNT(*) AS n FROM a [RANGE 15 SECONDS], t WHERE a.k = t.k "
    "GROUP BY t.v EVERY 5 SECONDS",
    "met": "SELECT a.id AS id, u.v AS v FROM a [NOW], u WHERE a.k = u.k",
}
MADE = """
CREATE STREAM found AS {joined};
SELECT id, v INTO joined FROM found [NOW];
{counted} INTO counted;
{met} INTO met;
"""


@dataclass
class TableScript:
    """The script over files in a folder; `change` gives the table its version for a batch."""

    folder: Path
    batches: dict[str, list[list[Row]]] = field(default_factory=dict)

    def write(self) -> None:
        """Write the streams, and the first version of the table."""
        rng = Random(11)
        for name, columns in (("a", ("ts", "id", "k")), ("u", ("at", "k", "op", "v"))):
            (self.folder / name).mkdir(parents=True)
            self.batches[name] = []
            for number in range(BATCHES):
                rows = [_row(rng, columns, number, place) for place in range(9)]
                self._write(f"{name}/{number}.csv", columns, rows, number)
                self.batches[name].append(
                    [
                        Row(row[columns[0]] * 1_000_000, arrival(number, place), row)
                        for place, row in enumerate(rows)
                    ]
                )
        self.change(0)

    def change(self, number: int) -> None:
        """Have the table as it is for a batch; one of its rows is malformed."""
        rows: list[dict[str, Any]] = [dict(row.values) for row in version(number)]
        self._write("t.csv", ("k", "v"), [*rows, {"k": "oops", "v": number}], number)

    def after(self, report: Report) -> None:
        """Change the table after a batch, but after some."""
        self.change((report.batch + 1) // 2 * 2)

    def _write(self, name: str, columns: tuple[str, ...], rows: list[Any], time: int) -> None:
        lines = [",".join(columns)]
        lines += [",".join("" if r[c] is None else str(r[c]) for c in columns) for r in rows]
        path = self.folder / name
        path.write_text("\n".join(lines) + "\n")
        os.utime(path, (1_000_000_000 + time, 1_000_000_000 + time))

    @property
    def script(self) -> Script:
        return parse_script(self.sources + MADE.format(**QUERIES))

    @property
    def sources(self) -> str:
        return SOURCES.format(folder=self.folder)

    @property
    def sinks(self) -> dict[str, Sink]:
        return {name: parquet(self.folder / f"out {name}") for name in QUERIES}

    def expected(self) -> dict[str, Counter[Any]]:
        """What each query means, drained."""
        versions = {"t": [version(number // 2 * 2) for number in range(BATCHES)]}
        read = {name: self.batches[name] for name in ("a",)}
        joined = answer_by_versions(self._query("joined"), read, versions)
        changes = changes_by_versions(self._query("counted"), read, versions)
        counted = [(EPOCH + timedelta(microseconds=c.time), c.kind, *c.values) for c in changes]
        met = answer(self._query("met"), self.batches)
        return {
            "joined": canonical(joined),
            "counted": canonical(counted),
            "met": canonical(met),
        }

    def found(self) -> dict[str, Counter[Any]]:
        """What the sinks hold."""
        one, two = (canonical(results_in(self.sinks[n], self._query(n))) for n in ("joined", "met"))
        counted = told_in(Path(self.sinks["counted"].place), self._query("counted"))
        return {"joined": one, "counted": counted, "met": two}

    def _query(self, name: str) -> Query:
        return parse(self.sources + QUERIES[name])

    @property
    def kept(self) -> list[str]:
        """The malformed rows that were kept."""
        return (self.folder / "kept.jsonl").read_text().splitlines()


def version(number: int) -> list[Row]:
    """The sound rows of a version."""
    return [Row(0, k, {"k": k, "v": 10 * number + k % 2}) for k in range(4) if (k + number) % 4]


def _row(rng: Random, columns: tuple[str, ...], number: int, place: int) -> dict[str, Any]:
    time = 10 * number + rng.randrange(10) - rng.choice((0, 0, 0, 3))
    values: dict[str, Callable[[], Any]] = {
        "ts": lambda: 10 * number + place,
        "at": lambda: time,
        "id": lambda: 100 * number + place,
        "k": lambda: rng.choice((0, 1, 2, 3, None)),
        "op": lambda: rng.choice((None, "U", "D")),
        "v": lambda: rng.randrange(1000),
    }
    return {column: values[column]() for column in columns}

"""Runs over tables that change, killed at any moment while somebody changes the tables: every batch
has the version that was written down for it, and each result is there once."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from penstock.cql import parse
from penstock.engine.places.place import Place
from penstock.engine.sinks.sink import Sink
from penstock.engine.state.store import Store
from penstock.query import Query
from reference import Row
from reference_tables import answer_by_versions, changes_by_versions
from support.engines.crashes import Crash, Run, exit_code
from support.engines.runs import Place as Kept
from support.streams.cases import EPOCH, arrival, canonical
from support.streams.views import told

BATCHES = 6
SCRIPT = """
CREATE STREAM a (ts BIGINT, id BIGINT, k BIGINT)
  WITH (format = 'parquet', path = '{folder}/a', timestamp = 'ts', unit = 's', max_files = 1);
CREATE STREAM b (ts BIGINT, id BIGINT, k BIGINT)
  WITH (format = 'parquet', path = '{folder}/b', timestamp = 'ts', unit = 's', max_files = 1);
CREATE TABLE t (k BIGINT, v BIGINT)
  WITH (format = 'parquet', path = '{folder}/t', refresh = '0 seconds');
"""
JOIN = """
SELECT a.id AS a, b.id AS b, t.v AS v
FROM a [RANGE 15 SECONDS], b [RANGE 15 SECONDS], t WHERE a.k = b.k AND b.k = t.k
"""
VIEW = """
SELECT t.v AS v, COUNT(*) AS n
FROM a [RANGE 15 SECONDS], t WHERE a.k = t.k GROUP BY t.v EVERY 5 SECONDS
"""


def write_streams(folder: Path) -> dict[str, list[list[Row]]]:
    """Two streams of a few batches, as files and as rows."""
    rng, batches = Random(7), dict[str, list[list[Row]]]()
    for name in ("a", "b"):
        (folder / name).mkdir(parents=True)
        batches[name] = []
        for n in range(BATCHES):
            times = sorted(rng.randrange(10 * n, 10 * n + 10) for _ in range(8))
            values = [
                {"ts": ts, "id": 100 * n + i, "k": rng.randrange(3)} for i, ts in enumerate(times)
            ]
            path = folder / name / f"{n}.parquet"
            pq.write_table(pa.Table.from_pylist(values), path)
            os.utime(path, (1_000_000_000 + n, 1_000_000_000 + n))
            batches[name].append(
                [Row(v["ts"] * 1_000_000, arrival(n, i), v) for i, v in enumerate(values)]
            )
    return batches


def write_version(folder: Path, number: int) -> None:
    """Another version of the table, in which all rows say which it is."""
    (folder / "t").mkdir(exist_ok=True)
    path = folder / "t" / "t.parquet"
    rows = [{"k": k, "v": number} for k in range(3) if (k + number) % 3]
    pq.write_table(pa.Table.from_pylist(rows), path)
    os.utime(path, (2_000_000_000 + number, 2_000_000_000 + number))


def rows_of(number: int) -> list[Row]:
    return [Row(0, k, {"k": k, "v": number}) for k in range(3) if (k + number) % 3]


def begun(store: Store) -> int:
    """The batches whose input has been written down, those that are final among them."""
    names = [*store.names("feed"), *store.names("manifests")]
    numbers = [n.rpartition("/")[2].removesuffix(".json") for n in names if n.endswith(".json")]
    return max((int(n) + 1 for n in numbers if n.isdigit()), default=0)


def run_through(folder: Path, text: str, point: str, more: dict[str, Any]) -> list[int]:
    """Run until nothing is left, killed between batches and at a point in turns; the version of
    each batch. Before each run there is another one."""
    store = Store(Place.of(str(folder / "checkpoint")))
    sink = Sink.named(f"parquet:{folder / 'results'}")
    run, seen = Run(text, str(folder / "checkpoint"), sink.name, **more), list[int]()
    late = Crash("after the commit", 1)
    for attempt, crash in enumerate((late, Crash(point, 0), late, Crash(point, 0), None)):
        write_version(folder, attempt + 1)
        code = exit_code(replace(run, crash=crash))
        assert code == (0 if crash is None else -signal.SIGKILL)
        # What a batch reads is what was there when it was begun.
        seen += [attempt + 1] * (min(begun(store), BATCHES) - len(seen))
    return seen


TREES = (("a", ("b", "t")), (("a", "t"), "b"), None)
KILLS = [
    (JOIN, "before a table is copied", {}),
    (JOIN, "after a table is copied", {"shapes": TREES}),
    (JOIN, "before a version is forgotten", {"shapes": TREES}),
    (JOIN, "after a chunk", {"shapes": TREES}),
    (VIEW, "before the commit", {"early": ("a", "t")}),
    (VIEW, "in a rebuild", {}),
]


@pytest.mark.parametrize(("select", "point", "more"), KILLS)
def test_every_batch_keeps_its_version(
    select: str, point: str, more: dict[str, Any], tmp_path: Path
) -> None:
    batches = write_streams(tmp_path)
    text = SCRIPT.format(folder=tmp_path) + select
    seen = run_through(tmp_path, text, point, more)
    assert len(set(seen)) > 1
    query: Query = parse(text)
    versions = {"t": [rows_of(number) for number in seen]}
    place = Kept(tmp_path)
    read = {alias: batches[alias] for alias in query.aliases if alias != "t"}
    if query.view is None:
        wanted = answer_by_versions(query, read, versions)
        assert canonical(place.results(query)) == canonical(wanted)
        assert len(wanted) > 50
    else:
        changes = changes_by_versions(query, read, versions)
        rows = ((EPOCH + timedelta(microseconds=c.time), c.kind, *c.values) for c in changes)
        assert told(place, query) == canonical(rows)
        assert len(changes) > 10

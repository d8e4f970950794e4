"""Checkpoints of the formats that there have been: each later version goes on with them, or says
how to upgrade. And the hashes by which tuples are placed and shed, which are in every checkpoint.

`PENSTOCK_GOLDEN=1` writes those that are missing. Those that are there stay as they are: a version
that cannot read them any more needs a way to upgrade.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from penstock.cql import parse_script
from penstock.engine.local import LocalRun, open_run, open_script
from penstock.engine.run.options import RunOptions
from penstock.engine.sinks.sink import Sink, noop
from penstock.errors import CheckpointError
from penstock.kernels.drop import keeps, lots, sample_lots
from penstock.kernels.hashing import combine, hash_column, partition_of
from penstock.plan.default_plan import default_plan
from support.golden_checkpoints import restored, saved, write_streams
from support.paths import TESTS

GOLDEN = TESTS / "golden" / "checkpoints"
STREAMS = """
CREATE STREAM a (ts BIGINT, k BIGINT, s STRING, v BIGINT) WITH (format='csv', path='{folder}/in/a',
  timestamp='ts', unit='s', max_files=1, lateness='2 s');
CREATE STREAM b (ts BIGINT, k BIGINT, s STRING, v BIGINT) WITH (format='csv', path='{folder}/in/b',
  timestamp='ts', unit='s', max_files=1, lateness='2 s');
"""
QUERIES = {
    "join-1": "SELECT a.v AS x, b.v AS y, a.s AS s INTO found FROM a [RANGE 15 s], b [RANGE 15 s] "
    "WHERE a.k = b.k AND a.s = b.s",
    "rows-1": "SELECT a.v AS x, b.v AS y INTO found FROM a [ROWS 4], b [RANGE 9 s] WHERE a.k = b.k",
    "view-1": "SELECT a.k AS k, COUNT(*) AS n, SUM(b.v) AS y INTO found "
    "FROM a [RANGE 15 s], b [RANGE 15 s] WHERE a.k = b.k GROUP BY a.k EVERY 5 s",
    "script-1": "CREATE STREAM pairs AS SELECT a.k AS k, a.v AS x, b.v AS y, a.ts AS ts "
    "FROM a [RANGE 8 s], b [RANGE 8 s] WHERE a.k = b.k;"
    "SELECT k, COUNT(*) AS n INTO counts FROM pairs [RANGE 6 s] GROUP BY k EVERY 5 s;"
    "SELECT x, y INTO found FROM pairs [NOW]",
}
LINES = ("rows-1", "view-1")
"""Those whose results are lines."""


def opened(name: str, folder: Path) -> LocalRun:
    script = parse_script(STREAMS.format(folder=folder) + QUERIES[name])
    kind = "jsonl" if name in LINES else "parquet"
    sinks = {m.name: Sink.named(f"{kind}:{folder}/results/{m.name}") for m in script.shown}
    checkpoint = str(folder / "checkpoint")
    if len(script.members) > 1:
        plans = {member.name: default_plan(member.query) for member in script.members}
        return open_script(script, plans, sinks, RunOptions(sink=noop(), checkpoint=checkpoint))
    (member,) = script.members
    options = RunOptions(sink=sinks[member.name], checkpoint=checkpoint, partitions=2)
    return open_run(default_plan(member.query), options)


def results(folder: Path) -> Counter[tuple[str, ...]]:
    """All results, each with the name of its query."""
    found: Counter[tuple[str, ...]] = Counter()
    for path in sorted((folder / "results").rglob("[!.]*")):
        if path.name.endswith(".parquet"):
            rows = [row.values() for row in pq.read_table(path).to_pylist()]
            found.update((path.parent.name, *map(str, row)) for row in rows)
        elif path.is_file() and path.parent.name == "results":
            lines = path.read_text().splitlines()
            found.update((path.name, *map(str, json.loads(line).values())) for line in lines)
    return found


def golden(name: str, tmp_path: Path) -> dict[str, Any]:
    """What a run over the first two files of each stream has left."""
    path = GOLDEN / f"{name}.json"
    if "PENSTOCK_GOLDEN" in os.environ and not path.exists():
        folder = tmp_path / "made"
        write_streams(folder, 2)
        opened(name, folder).available_now()
        path.parent.mkdir(exist_ok=True)
        files = {n: f for n, f in saved(folder).items() if not n.startswith("in/")}
        path.write_text(json.dumps(files, indent=1) + "\n")
    found: dict[str, Any] = json.loads(path.read_text())
    return found


@pytest.mark.parametrize("name", QUERIES)
def test_a_checkpoint_of_each_format_is_gone_on_with(name: str, tmp_path: Path) -> None:
    kept, right = tmp_path / "kept", tmp_path / "right"
    restored(golden(name, tmp_path), kept)
    before = results(kept)
    for folder in (kept, right):
        write_streams(folder, 4)
        opened(name, folder).available_now(drain=True)
    assert results(kept) == results(right)
    assert 0 < before.total() < results(right).total()


@pytest.mark.parametrize("name", ["join-1", "script-1"])
def test_a_format_of_a_later_version_is_refused(name: str, tmp_path: Path) -> None:
    restored(golden(name, tmp_path), tmp_path)
    path = tmp_path / "checkpoint" / ("script.json" if name == "script-1" else "query.json")
    found = json.loads(path.read_text()) | {"format": 99}
    found.pop("checksum", None)
    path.write_text(json.dumps(found))
    with pytest.raises(CheckpointError, match="later version of Penstock") as caught:
        opened(name, tmp_path)
    assert "update Penstock" in (caught.value.hint or "")


HASHED: dict[str, pa.Array] = {
    "BIGINT": pa.array([0, 1, -1, 2**62], pa.int64()),
    "DOUBLE": pa.array([0.0, -0.0, 1.5, float("nan")]),
    "BOOLEAN": pa.array([True, False]),
    "STRING": pa.array(["", "a", "é", "a longer text"], pa.large_string()),
    "BINARY": pa.array([b"", b"\x00\xff"], pa.large_binary()),
    "TIMESTAMP": pa.array([0, 1_700_000_000_000_000], pa.timestamp("us", "UTC")),
    "DECIMAL(9, 2)": pa.array([Decimal("1.50"), Decimal("-1.50")], pa.decimal128(9, 2)),
    "DECIMAL(30, 2)": pa.array([Decimal("1.50"), Decimal("-1.50")], pa.decimal128(30, 2)),
}
ARRIVALS = np.arange(12, dtype=np.int64)


def hashes() -> dict[str, list[int]]:
    """All that decides where tuples are kept, and which are."""
    found = {name: hash_column(column) for name, column in HASHED.items()}
    found["a key of two"] = combine([found["BIGINT"], found["STRING"]])
    found["partition of 7"] = partition_of(found["a key of two"], 7)
    found["kept by a drop box"] = keeps(5, "bid", ARRIVALS, 0.4).astype(np.int64)
    found["lots"] = lots(5, "bid", ARRIVALS[:3])
    found["lots of samples"] = sample_lots("bid", ARRIVALS[:3]).view(np.int64)
    return {name: values.tolist() for name, values in found.items()}


def test_hashes_are_what_they_were() -> None:
    path = TESTS / "golden" / "hashes.json"
    if "PENSTOCK_GOLDEN" in os.environ and not path.exists():
        lines = [f" {json.dumps(name)}: {json.dumps(of)}" for name, of in hashes().items()]
        path.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    assert hashes() == json.loads(path.read_text())

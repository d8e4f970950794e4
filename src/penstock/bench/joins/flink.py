"""The rival on another engine: Flink SQL, where some interpreter has `apache-flink`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv

from penstock.bench.data import read_stream
from penstock.bench.joins import flink_job
from penstock.bench.measurement import Measurement
from penstock.bench.workload import ALIASES, Workload
from penstock.engine.spark.java import ensure_java

INTERPRETER = "PENSTOCK_FLINK_PYTHON"
_SET_UP = Path(".venv-flink/bin/python")
ABSENT = f"no interpreter has apache-flink; `make flink` sets one up, or name one in {INTERPRETER}"


class FlinkError(Exception):
    """Flink is there and did not run; the message says why."""


def find_flink() -> str | None:
    """One that can import Flink: the one named, that of `make flink`, ours, or PATH's."""
    return next((python for python in _interpreters() if _has_flink(python)), None)


def run_flink(python: str, workload: Workload, folder: Path) -> Measurement:
    """Run Flink SQL over the same tuples. It has no batches, and so no steady rate."""
    ensure_java()
    with tempfile.TemporaryDirectory(prefix="penstock-flink-") as scratch:
        _write_csv(workload, folder, Path(scratch))
        task = {
            "folder": scratch,
            "keys": workload.keys,
            "equalities": workload.equalities,
            "window": workload.window,
        }
        # Isolated: the script's folder must not offer its modules to Flink.
        command = [python, "-I", str(flink_job.__file__), json.dumps(task)]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    lines = done.stdout.splitlines()
    if done.returncode or not lines:
        raise FlinkError((done.stderr.splitlines() or ["it printed nothing"])[-1])
    return Measurement(seconds=float(lines[-1]), tuples=workload.tuples)


def _interpreters() -> Iterator[str]:
    named = os.environ.get(INTERPRETER)
    if named:
        yield named
    if _SET_UP.exists():
        yield str(_SET_UP)
    yield sys.executable
    on_path = shutil.which("python3")
    if on_path:
        yield on_path


def _has_flink(python: str) -> bool:
    try:
        done = subprocess.run([python, "-c", "import pyflink.table"], capture_output=True)
    except OSError:
        return False
    return done.returncode == 0


def _write_csv(workload: Workload, folder: Path, target: Path) -> None:
    """One CSV file a stream: Flink's wheel reads no parquet, and one file keeps the order."""
    options = csv.WriteOptions(include_header=False)
    for alias in ALIASES:
        (target / alias).mkdir()
        schema = _csv_columns(next(read_stream(folder, alias))).schema
        with csv.CSVWriter(target / alias / "all.csv", schema, write_options=options) as writer:
            for tuples in read_stream(folder, alias):
                writer.write_table(_csv_columns(tuples))


def _csv_columns(tuples: pa.Table) -> pa.Table:
    micros = tuples["ts"].to_numpy().astype("datetime64[us]").astype(np.int64)
    rest = {name: tuples[name] for name in tuples.column_names if name != "ts"}
    return pa.table({"ms": micros // 1000, "us": micros, **rest})

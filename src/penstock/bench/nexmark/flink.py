"""Flink SQL in the contest: a script for its own interpreter, and what it prints."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
from datetime import datetime
from pathlib import Path
from typing import Any

from penstock.bench.joins.flink import FlinkError
from penstock.bench.nexmark import flink_job
from penstock.bench.nexmark.queries import NexmarkQuery, flink_type
from penstock.bench.nexmark.rival import Data, Finish, Task
from penstock.bench.nexmark.rows import fingerprint, told_by
from penstock.engine.spark.java import ensure_java
from penstock.query.made.nexmark import STREAMS, StreamKind

HEAP = "4g"
"""As much as Spark's driver has."""


def run_flink(python: str, task: Task) -> list[Finish]:
    """Run all queries that Flink can express in a process with a Java machine of its own."""
    ensure_java()
    with tempfile.TemporaryDirectory(prefix="penstock-flink-") as scratch:
        given = Path(scratch, "task.json")
        given.write_text(json.dumps([_asked(each, task, scratch) for each in task.queries]))
        # Isolated: the script's folder must not offer its modules to Flink.
        command = [python, "-I", str(flink_job.__file__), str(given)]
        env = {**os.environ, "JVM_ARGS": f"-Xmx{HEAP}"}
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", env=env)
        lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
        if done.returncode or len(lines) != len(task.queries):
            raise FlinkError(_fault(done.stderr))
        pairs = zip(task.queries, map(json.loads, lines), strict=True)
        return [_finish(query, told, task, Path(scratch)) for query, told in pairs]


def _fault(stderr: str) -> str:
    """The innermost cause of what Flink complains of at length."""
    lines = [line for line in stderr.splitlines() if line.strip()]
    causes = [line for line in lines if line.startswith("Caused by:")]
    return next(iter([*causes[-1:], *lines[-1:]]), "it printed nothing").strip()


def _asked(query: NexmarkQuery, task: Task, scratch: str) -> dict[str, Any]:
    return {
        "name": query.name,
        "select": re.sub(r"\bdateTime\b", "`dateTime`", query.flink),  # a word of its own there
        "columns": ", ".join(f"`{name}` {type_}" for name, type_ in query.columns.items()),
        "little": [_table(query, kind, task.little) for kind in query.streams],
        "whole": [_table(query, kind, task.whole) for kind in query.streams],
        "rows": f"{scratch}/{query.name}.jsonl",
    }


def _table(query: NexmarkQuery, kind: StreamKind, data: Data) -> str:
    """A stream over its CSV files; event time only where the query has blocks of it."""
    fields = STREAMS[kind].fields
    columns = ", ".join(f"`{field.name}` {flink_type(str(field.type))}" for field in fields)
    mark = ", WATERMARK FOR `dateTime` AS `dateTime`" if query.is_of_blocks else ""
    return (
        f"CREATE TEMPORARY TABLE {kind} ({columns}{mark}) WITH ('connector' = 'filesystem', "
        f"'path' = '{data.folder.absolute() / 'flink' / kind}', 'format' = 'csv', "
        "'csv.disable-quote-character' = 'true')"
    )


def _finish(query: NexmarkQuery, told: dict[str, float], task: Task, scratch: Path) -> Finish:
    lines = (scratch / f"{query.name}.jsonl").read_text().splitlines()
    times = [n for n, type_ in enumerate(query.columns.values()) if type_.startswith("TIMESTAMP")]
    rows = [_row(json.loads(line), times) for line in lines]
    if query.is_of_blocks:
        rows = told_by(rows, task.little.events.last_block_ms)
    return Finish(query.name, told["began"], told["ended"], told["seconds"], fingerprint(rows))


def _row(values: list[Any], times: list[int]) -> tuple[Any, ...]:
    return tuple(
        datetime.fromisoformat(value) if n in times and value is not None else value
        for n, value in enumerate(values)
    )

"""Flink SQL in the contest: a script for its own interpreter, and what it prints."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

from penstock.bench.joins.flink import FlinkError
from penstock.bench.nexmark import flink_job
from penstock.bench.nexmark.query import NexmarkQuery, flink_type
from penstock.bench.nexmark.rival import Data, Ended, Failure, Finish, Task
from penstock.bench.nexmark.rows import Row, compared
from penstock.engine.spark.java import ensure_java
from penstock.query.made.nexmark import STREAMS, StreamKind

HEAP = "4g"
"""As much as Spark's driver has."""


def run_flink(python: str, task: Task, backend: str = "hashmap") -> list[Ended]:
    """Run all queries that Flink can express in a process with a Java machine of its own."""
    ensure_java()
    asked = [query for query in task.queries if query.flink is not None]
    with tempfile.TemporaryDirectory(prefix="penstock-flink-") as scratch:
        given = Path(scratch, "task.json")
        jobs = [_asked(each, task, scratch) for each in asked]
        given.write_text(json.dumps({"backend": backend, "queries": jobs}))
        # Isolated: the script's folder must not offer its modules to Flink.
        command = [python, "-I", str(flink_job.__file__), str(given)]
        env = {**os.environ, "JVM_ARGS": f"-Xmx{HEAP}"}
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", env=env)
        lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
        if done.returncode or len(lines) != len(asked):
            raise FlinkError(_fault(done.stderr))
        pairs = zip(asked, map(json.loads, lines), strict=True)
        return [_ended(query, told, task, Path(scratch)) for query, told in pairs]


def _fault(text: str) -> str:
    """The innermost cause of what Flink complains of at length."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    causes = [line for line in lines if line.startswith("Caused by:")]
    return next(iter([*causes[-1:], *lines[-1:]]), "it printed nothing")


def _asked(query: NexmarkQuery, task: Task, scratch: str) -> dict[str, Any]:
    assert query.flink is not None
    columns = [f"`{name}` {type_}" for name, type_ in query.columns.items()]
    if query.compared == "end":
        # With a key, Flink need not tell what a row was before it changed.
        columns.append(f"PRIMARY KEY ({', '.join(query.key)}) NOT ENFORCED")
    return {
        "name": query.name,
        "select": re.sub(r"\bdateTime\b", "`dateTime`", query.flink),  # a word of its own there
        "columns": ", ".join(columns),
        "little": [_table(query, kind, task.little) for kind in query.streams],
        "whole": [_table(query, kind, task.whole) for kind in query.streams],
        "is_changing": query.compared == "end",
        "rows": f"{scratch}/{query.name}",
    }


def _table(query: NexmarkQuery, kind: StreamKind, data: Data) -> str:
    """A stream over its CSV files; event time only where the query has windows of it.

    Several events have the same time, so that it is over with the next millisecond only.
    """
    fields = STREAMS[kind].fields
    columns = ", ".join(f"`{field.name}` {flink_type(str(field.type))}" for field in fields)
    mark = ", WATERMARK FOR `dateTime` AS `dateTime` - INTERVAL '0.001' SECOND"
    return (
        f"CREATE TEMPORARY TABLE {kind} ({columns}{mark if 'flink' in query.marked else ''}) WITH "
        f"('connector' = 'filesystem', 'path' = '{data.folder.absolute() / 'flink' / kind}', "
        "'format' = 'csv', 'csv.disable-quote-character' = 'true')"
    )


def _ended(query: NexmarkQuery, told: dict[str, Any], task: Task, scratch: Path) -> Ended:
    if "error" in told:
        return Failure(query.name, _fault(told["error"]))
    files = [path for path in (scratch / query.name).rglob("*") if path.is_file()]
    lines = [line for path in files for line in path.read_text().splitlines()]
    rows = compared(query, rows_of(query, lines), task.little.events.last_block_ms)
    return Finish(query.name, told["began"], told["ended"], told["seconds"], rows)


def rows_of(query: NexmarkQuery, lines: list[str]) -> list[Row]:
    """The rows of lines, in JSON: a row by its columns, or a change, which is a list of `+` or `-`
    and the values of a row."""
    times = [n for n, type_ in enumerate(query.columns.values()) if type_.startswith("TIMESTAMP")]
    left: Counter[Row] = Counter()
    for line in map(json.loads, lines):
        sign, *values = line if isinstance(line, list) else ("+", *line.values())
        left[_row(values, times)] += 1 if sign == "+" else -1
    return list(left.elements())


def _row(values: list[Any], times: list[int]) -> Row:
    return tuple(
        datetime.fromisoformat(value) if n in times and value is not None else value
        for n, value in enumerate(values)
    )

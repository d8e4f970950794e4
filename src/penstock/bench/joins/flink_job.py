"""A script for an interpreter that has Flink: three streams joined in Flink SQL, and the time.

It runs where Penstock may not be installed, so it imports nothing of it. Its one argument is JSON:
`folder`, `keys`, `equalities` and `window` (seconds); its last line on stdout is the wall seconds.
"""

from __future__ import annotations

import json
import sys
import time
from importlib import import_module
from typing import Any

SETTINGS = {
    "parallelism.default": "2",
    "execution.runtime-mode": "STREAMING",
}


def main() -> None:
    """Run the join into Flink's blackhole."""
    task = json.loads(sys.argv[1])
    table = import_module("pyflink.table")
    environment = table.TableEnvironment.create(table.EnvironmentSettings.in_streaming_mode())
    for key, value in SETTINGS.items():
        environment.get_config().set(key, value)
    for alias in "ABC":
        environment.execute_sql(create_stream(alias, task))
    environment.execute_sql(create_sink(task["keys"]))
    started = time.perf_counter()
    environment.execute_sql(insert(task)).wait()
    print(time.perf_counter() - started)


def create_stream(alias: str, task: dict[str, Any]) -> str:
    """A stream over one CSV file. Flink's event time is in milliseconds."""
    keys = "".join(f"{key} BIGINT, " for key in task["keys"])
    return (
        f"CREATE TABLE {alias} (ms BIGINT, us BIGINT, {keys}x DOUBLE, "
        "ts AS TO_TIMESTAMP_LTZ(ms, 3), WATERMARK FOR ts AS ts) WITH "
        f"('connector' = 'filesystem', 'path' = '{task['folder']}/{alias}', 'format' = 'csv')"
    )


def create_sink(keys: list[str]) -> str:
    """A table that takes all columns of all streams and keeps nothing."""
    types = {"us": "BIGINT", "x": "DOUBLE", **dict.fromkeys(keys, "BIGINT")}
    columns = ", ".join(f"{a}_{name} {kind}" for a in "ABC" for name, kind in types.items())
    return f"CREATE TABLE results ({columns}) WITH ('connector' = 'blackhole')"


def insert(task: dict[str, Any]) -> str:
    """The query: two interval joins."""
    columns = ", ".join(f"{a}.{name}" for a in "ABC" for name in ("us", "x", *task["keys"]))
    span = f"INTERVAL '{task['window']}' SECOND({len(str(task['window']))})"
    near = [
        f"{left}.ts BETWEEN {right}.ts - {span} AND {right}.ts + {span}"
        for left, right in ("AB", "AC", "BC")
    ]
    equal = [f"{left} = {right}" for left, right in task["equalities"]]
    return f"INSERT INTO results SELECT {columns} FROM A, B, C WHERE {' AND '.join(equal + near)}"


if __name__ == "__main__":
    main()

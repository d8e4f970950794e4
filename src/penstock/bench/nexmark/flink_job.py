"""A script for an interpreter that has Flink: queries in Flink SQL over CSV files, and their times.

It runs where Penstock may not be installed, so it imports nothing of it. Its one argument is a file
with a JSON list of queries: `select`, the `columns` of its results, the tables it reads (`little`
and `whole`, as statements), and the file that the rows over the little go to. For each query it
prints a line of JSON: when the run over all began and ended, and how long Flink says it took.
"""

from __future__ import annotations

import json
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

# Tuned: rows are not copied between operators, regular joins take rows in bundles, state is on the
# heap.
SETTINGS = {
    "parallelism.default": "2",
    "execution.runtime-mode": "STREAMING",
    "pipeline.object-reuse": "true",
    "table.exec.mini-batch.enabled": "true",
    "table.exec.mini-batch.allow-latency": "1 s",
    "table.exec.mini-batch.size": "20000",
    "state.backend.type": "hashmap",
    "table.exec.state.ttl": "0",
    "taskmanager.memory.network.min": "128m",
}


def main() -> None:
    """Run the queries one after another."""
    for query in json.loads(Path(sys.argv[1]).read_text()):
        print(json.dumps(run(query)), flush=True)


def run(query: dict[str, Any]) -> dict[str, float]:
    """Keep the rows over a little, then run over all into Flink's blackhole."""
    _keep_rows(query)
    environment = _environment(query["whole"])
    sink = f"CREATE TEMPORARY TABLE results ({query['columns']}) WITH ('connector' = 'blackhole')"
    environment.execute_sql(sink)
    began = time.time()
    job = environment.execute_sql(f"INSERT INTO results {query['select']}").get_job_client()
    took = job.get_job_execution_result().result().get_net_runtime() / 1000
    return {"began": began, "ended": time.time(), "seconds": took}


def _keep_rows(query: dict[str, Any]) -> None:
    environment = _environment(query["little"])
    with (
        open(query["rows"], "w") as file,
        environment.execute_sql(query["select"]).collect() as rows,
    ):
        for row in rows:
            file.write(json.dumps(list(row), default=str) + "\n")


def _environment(tables: list[str]) -> Any:
    table = import_module("pyflink.table")
    environment = table.TableEnvironment.create(table.EnvironmentSettings.in_streaming_mode())
    for key, value in SETTINGS.items():
        environment.get_config().set(key, value)
    for each in tables:
        environment.execute_sql(each)
    return environment


if __name__ == "__main__":
    main()

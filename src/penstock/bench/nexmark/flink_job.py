"""A script for an interpreter that has Flink: queries in Flink SQL over CSV files, and their times.

It runs where Penstock may not be installed, so it imports nothing of it. Its one argument is a file
of JSON: the state `backend`, and `queries`, a list of them: `select`, the `columns` of its results,
whether these change, the tables it reads (`little` and `whole`, as statements), and the folder that
the rows over the little go to. For each query it prints a line of JSON: when the run over all began
and ended, and how long Flink says it took; or its error.
"""

from __future__ import annotations

import json
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

# Tuned: rows are not copied between operators; joins and aggregates take rows in bundles.
SETTINGS = {
    "parallelism.default": "2",
    "execution.runtime-mode": "STREAMING",
    "pipeline.object-reuse": "true",
    "table.exec.mini-batch.enabled": "true",
    "table.exec.mini-batch.allow-latency": "1 s",
    "table.exec.mini-batch.size": "20000",
    "table.exec.state.ttl": "0",
    "taskmanager.memory.network.min": "128m",
}
# Files are shown with a checkpoint, the last ones with the one at the end.
KEEPING = {"execution.checkpointing.interval": "1 s"}
_ADDED = ("INSERT", "UPDATE_AFTER")
_LONGEST = 300
"""Seconds after which a query is given up."""


def main() -> None:
    """Run the queries one after another; one that fails does not end the others."""
    task = json.loads(Path(sys.argv[1]).read_text())
    settings = {**SETTINGS, "state.backend.type": task["backend"]}
    for query in task["queries"]:
        try:
            told: dict[str, Any] = run(query, settings)
        except Exception as error:
            told = {"error": str(error)}
        print(json.dumps(told), flush=True)


def run(query: dict[str, Any], settings: dict[str, str]) -> dict[str, float]:
    """Keep the rows over a little, then run over all into Flink's blackhole."""
    if query["is_changing"]:
        _keep_changes(query, _environment(query["little"], settings))
    else:
        path = f"'connector' = 'filesystem', 'path' = '{query['rows']}', 'format' = 'json'"
        _insert(query, path, _environment(query["little"], {**settings, **KEEPING}))
    environment = _environment(query["whole"], settings)
    began = time.time()
    took = _insert(query, "'connector' = 'blackhole'", environment)
    return {"began": began, "ended": time.time(), "seconds": took}


def _insert(query: dict[str, Any], sink: str, environment: Any) -> float:
    """Run a query into a sink; the seconds that it took by Flink's own clock."""
    environment.execute_sql(f"CREATE TEMPORARY TABLE results ({query['columns']}) WITH ({sink})")
    job = environment.execute_sql(f"INSERT INTO results {query['select']}").get_job_client()
    ended = job.get_job_execution_result()
    begun = time.monotonic()
    while not ended.done():
        if time.monotonic() - begun > _LONGEST:
            job.cancel().result()
            raise TimeoutError(f"it did not end within {_LONGEST} s")
        time.sleep(0.02)
    millis: float = ended.result().get_net_runtime()
    return millis / 1000


def _keep_changes(query: dict[str, Any], environment: Any) -> None:
    """Write the changes of a result that changes: no file of Flink's takes these."""
    folder = Path(query["rows"])
    folder.mkdir()
    with (
        open(folder / "changes", "w") as file,
        environment.execute_sql(query["select"]).collect() as rows,
    ):
        for row in rows:
            sign = "+" if row.get_row_kind().name in _ADDED else "-"
            file.write(json.dumps([sign, *row], default=str) + "\n")


def _environment(tables: list[str], settings: dict[str, str]) -> Any:
    table = import_module("pyflink.table")
    environment = table.TableEnvironment.create(table.EnvironmentSettings.in_streaming_mode())
    for key, value in settings.items():
        environment.get_config().set(key, value)
    for each in tables:
        environment.execute_sql(each)
    return environment


if __name__ == "__main__":
    main()

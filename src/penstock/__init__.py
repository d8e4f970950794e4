"""Penstock: continuous queries over data streams, planned by rate and run on Spark."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from penstock.api import ContinuousQuery, script, sql
    from penstock.continuous_script import ContinuousScript
    from penstock.cql.declare.registration import function
    from penstock.engine.local import LocalRun
    from penstock.engine.reports.report import Report
    from penstock.engine.run.handle import Run
    from penstock.engine.sinks.sink import Sink, console, foreach_batch, jsonl, kafka, noop, parquet
    from penstock.engine.spark.connect.client import ConnectRun
    from penstock.engine.spark.data_source import PenstockDataSource, register
    from penstock.engine.spark.handle import SparkRun
    from penstock.errors import PenstockError
    from penstock.plan.decision import Decision
    from penstock.plan.mesh_search import MeshSearch
    from penstock.plan.plan import Plan
    from penstock.query import Function

_ROOMS = {
    "ConnectRun": "engine.spark.connect.client",
    "ContinuousQuery": "api",
    "ContinuousScript": "continuous_script",
    "Decision": "plan.decision",
    "Function": "query",
    "LocalRun": "engine.local",
    "MeshSearch": "plan.mesh_search",
    "PenstockDataSource": "engine.spark.data_source",
    "PenstockError": "errors",
    "Plan": "plan.plan",
    "Report": "engine.reports.report",
    "Run": "engine.run.handle",
    "Sink": "engine.sinks.sink",
    "SparkRun": "engine.spark.handle",
    "console": "engine.sinks.sink",
    "foreach_batch": "engine.sinks.sink",
    "function": "cql.declare.registration",
    "jsonl": "engine.sinks.sink",
    "kafka": "engine.sinks.sink",
    "noop": "engine.sinks.sink",
    "parquet": "engine.sinks.sink",
    "register": "engine.spark.data_source",
    "script": "api",
    "sql": "api",
}

__all__ = [
    "ConnectRun",
    "ContinuousQuery",
    "ContinuousScript",
    "Decision",
    "Function",
    "LocalRun",
    "MeshSearch",
    "PenstockDataSource",
    "PenstockError",
    "Plan",
    "Report",
    "Run",
    "Sink",
    "SparkRun",
    "console",
    "foreach_batch",
    "function",
    "jsonl",
    "kafka",
    "noop",
    "parquet",
    "register",
    "script",
    "sql",
]


def __getattr__(name: str) -> Any:
    """Load a face when it is first used: Spark's workers need none of them, and start sooner."""
    if name not in _ROOMS:
        raise AttributeError(f"module 'penstock' has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f"penstock.{_ROOMS[name]}"), name)
    return found


def __dir__() -> list[str]:
    return sorted([*__all__, *(name for name in globals() if name.startswith("__"))])

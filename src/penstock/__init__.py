"""Penstock: continuous queries over data streams, planned by rate and run on Spark."""

from penstock.api import ContinuousQuery, sql
from penstock.engine.sinks import Sink, console, foreach_batch, jsonl, noop, parquet
from penstock.errors import PenstockError

__all__ = [
    "ContinuousQuery",
    "PenstockError",
    "Sink",
    "console",
    "foreach_batch",
    "jsonl",
    "noop",
    "parquet",
    "sql",
]

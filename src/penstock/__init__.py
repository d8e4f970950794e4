"""Penstock: continuous queries over data streams, planned by rate and run on Spark."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from penstock.api import ContinuousQuery
    from penstock.cql.declare.registration import function
    from penstock.engine.sinks.sink import Sink, console, foreach_batch, jsonl, noop, parquet
    from penstock.errors import PenstockError
    from penstock.query import Function

__all__ = [
    "ContinuousQuery",
    "Function",
    "PenstockError",
    "Sink",
    "console",
    "foreach_batch",
    "function",
    "jsonl",
    "noop",
    "parquet",
    "sql",
]

_ROOMS = {
    "ContinuousQuery": "api",
    "Function": "query",
    "PenstockError": "errors",
    "function": "cql.declare.registration",
}


def sql(text: str, **options: Any) -> ContinuousQuery:
    """The query of a script, planned; see `penstock.api.sql` for the options. Needs no Java."""
    from penstock import api

    return api.sql(text, **options)


def __getattr__(name: str) -> Any:
    """Load a face when it is first used: Spark's workers need none of them, and start sooner."""
    if name not in __all__:
        raise AttributeError(f"module 'penstock' has no attribute {name!r}")
    return getattr(import_module(f"penstock.{_ROOMS.get(name, 'engine.sinks.sink')}"), name)

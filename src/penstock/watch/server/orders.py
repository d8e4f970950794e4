"""Orders from a page to a running query, where the dashboard may give some."""

from __future__ import annotations

import time
from typing import cast

from penstock.engine.control.order import OrderKind, fault_of, give
from penstock.engine.reports.run_head import is_running, read_head
from penstock.engine.state.store import Store
from penstock.errors import CheckpointError, UsageError

_MOST = 10_000
"""Characters of a value: plans are short."""


def give_order(store: Store, asked: object) -> str:
    """Give an order, an object with its kind and value, to what runs on a checkpoint; it is
    answered in the log. A PenstockError if it is none, or if nothing runs there."""
    kind, value = None, ""
    if isinstance(asked, dict):
        kind, value = asked.get("kind"), asked.get("value", "")
    if isinstance(value, str) and len(value) > _MOST:
        raise UsageError(f"the value of an order has at most {_MOST:,} characters")
    fault = fault_of(kind, value)
    if fault is not None:
        raise UsageError(f"this is no order: {fault}")
    if not is_running(store, read_head(store), time.time()):
        raise CheckpointError(f"no query runs on {store.root}", hint="start it with penstock run")
    return str(give(store, cast(OrderKind, kind), value))

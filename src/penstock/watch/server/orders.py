"""Orders from a page to a running query, where the dashboard may give some."""

from __future__ import annotations

import time
from typing import cast, get_args

from penstock.engine.control.order import OrderKind, give
from penstock.engine.reports.run_head import is_running, read_head
from penstock.engine.state.store import Store
from penstock.errors import CheckpointError, UsageError

_MOST = 10_000
"""Characters of a value: plans are short."""


def give_order(store: Store, asked: object) -> str:
    """Give an order, an object with its kind and value, to what runs on a checkpoint; it is
    answered in the log. A PenstockError if it is none, or if nothing runs there."""
    match asked:
        case {"kind": str(kind), **more} if kind in get_args(OrderKind):
            value = more.get("value", "")
        case _:
            kinds = ", ".join(get_args(OrderKind))
            raise UsageError("this is no order", hint=f'{{"kind": …, "value": …}}, of {kinds}')
    if not isinstance(value, str) or len(value) > _MOST:
        raise UsageError("the value of an order is a text", hint='such as "on"')
    if not is_running(store, read_head(store), time.time()):
        raise CheckpointError(f"no query runs on {store.root}", hint="start it with penstock run")
    return str(give(store, cast(OrderKind, kind), value))

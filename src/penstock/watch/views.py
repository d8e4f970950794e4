"""The views there are: what each shows of a log, in the order in which a page offers them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from penstock.engine.state.store import Store
from penstock.errors import without_passwords
from penstock.watch.batches import batches_view
from penstock.watch.log_view import LogView
from penstock.watch.now import now_view
from penstock.watch.plan_graph import PlanGraph
from penstock.watch.plan_live import plan_view


@dataclass(frozen=True)
class Seen:
    """What views are made of: the log of a checkpoint, and its files."""

    log: LogView
    store: Store


def _plan(seen: Seen) -> PlanGraph:
    head = seen.log.head
    return plan_view(seen.log, "" if head is None else without_passwords(head.query))


VIEWS: Mapping[str, Callable[[Seen], object]] = {
    "now": lambda seen: now_view(seen.log),
    "plan": _plan,
    "batches": lambda seen: batches_view(seen.log),
}

"""The views there are: what each shows of a log, in the order in which a page offers them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from penstock.errors import without_passwords
from penstock.watch.batches import batches_view
from penstock.watch.decisions import decisions_view
from penstock.watch.log_view import LogView
from penstock.watch.now import now_view
from penstock.watch.plan_graph import PlanGraph
from penstock.watch.plan_live import plan_view
from penstock.watch.results import results_view
from penstock.watch.shedding import shedding_view
from penstock.watch.state import state_view


def _plan(log: LogView) -> PlanGraph:
    return plan_view(log, "" if log.head is None else without_passwords(log.head.query))


VIEWS: Mapping[str, Callable[[LogView], object]] = {
    "now": now_view,
    "plan": _plan,
    "batches": batches_view,
    "decisions": decisions_view,
    "state": state_view,
    "shedding": shedding_view,
    "results": results_view,
}

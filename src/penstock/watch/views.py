"""The views there are: what each shows of a log, in the order in which a page offers them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from penstock.errors import without_passwords
from penstock.watch.batches import batches_view
from penstock.watch.decisions import decisions_view
from penstock.watch.hot_keys import hot_keys
from penstock.watch.log_view import LogView
from penstock.watch.now import now_view
from penstock.watch.plan_live import plan_view
from penstock.watch.plan_places import with_places
from penstock.watch.planning.alternatives import alternatives_view
from penstock.watch.planning.plan_costs import with_costs
from penstock.watch.planning.plan_map import plan_map
from penstock.watch.planning.supposed import Supposed
from penstock.watch.planning.what_if import what_if
from penstock.watch.results import results_view
from penstock.watch.shedding import shedding_view
from penstock.watch.state import state_view


@dataclass(frozen=True)
class Asking:
    """A log, what somebody wants to know of it by name, and the file of its query's functions."""

    log: LogView
    given: Mapping[str, str] = field(default_factory=dict)
    functions: str | None = None


View = Callable[[Asking], object]


def _plan(asking: Asking) -> object:
    log = asking.log
    text = "" if log.head is None else without_passwords(log.head.query)
    drawn = with_places(plan_view(log, text), log.query, asking.functions)
    return with_costs(drawn, log, asking.functions)


def _what_if(asking: Asking) -> object:
    return what_if(asking.log, Supposed.of(asking.given), asking.functions)


def _plan_map(asking: Asking) -> object:
    x, y = (asking.given.get(name, "") for name in ("x", "y"))
    return plan_map(asking.log, x, y, asking.functions)


VIEWS: Mapping[str, View] = {
    "now": lambda asking: now_view(asking.log),
    "plan": _plan,
    "alternatives": lambda asking: alternatives_view(asking.log, asking.functions),
    "what-if": _what_if,
    "batches": lambda asking: batches_view(asking.log),
    "decisions": lambda asking: decisions_view(asking.log),
    "state": lambda asking: state_view(asking.log),
    "shedding": lambda asking: shedding_view(asking.log),
    "results": lambda asking: results_view(asking.log),
}
PARTS: Mapping[str, View] = {
    "plan-map": _plan_map,
    "hot-keys": lambda asking: hot_keys(asking.log, asking.functions),
}
"""What views ask for besides: the map of the best plan over the rates of `x` and `y`, and the keys
of which there is most in the state, which takes a look into it."""

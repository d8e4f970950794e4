"""The view What if: the planner's answer for other rates, windows and cores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from penstock.duration import MICROS
from penstock.errors import PenstockError, PlanError, UsageError
from penstock.optimize.planner import decide
from penstock.plan.decision import Decision
from penstock.plan.text.parse import render_plan
from penstock.plan.text.shape import kind_of
from penstock.query import Input, RowsWindow, TimeWindow
from penstock.query.window import is_tumble
from penstock.watch.log_view import LogView
from penstock.watch.planning.asked import Asked, asked_of
from penstock.watch.planning.supposed import Supposed, assumed


@dataclass(frozen=True)
class Setting:
    """An input as it is assumed: tuples/s, and its window in seconds, or rows if `is_rows`."""

    alias: str
    rate: float | None
    window: float | None
    """None where it has none, or one without an end."""

    is_rows: bool = False


@dataclass(frozen=True)
class WhatIf:
    """What the planner says. Work is CPU-seconds a second."""

    settings: tuple[Setting, ...] = ()
    cores: float = 1.0
    is_feasible: bool = False
    plan: str = ""
    kind: str = ""
    needed: float | None = None
    """Work without drop boxes."""

    work: float | None = None
    """Work behind them."""

    state: float | None = None
    output_rate: float | None = None
    full_rate: float | None = None
    """Results/s without drop boxes."""

    keep: Mapping[str, float] = field(default_factory=dict)
    """What is kept of each stream where no plan keeps up."""

    delay: float | None = None
    """Seconds from data to results in the mean; None where it grows, or shedding leads it."""

    running: str = ""
    """The plan that runs now."""

    missing: str | None = None
    """Why there is no answer."""


def what_if(log: LogView, supposed: Supposed, functions: str | None = None) -> WhatIf:
    """The answer for figures that are supposed, all others as they were measured."""
    running = "" if log.last is None else log.last.plan
    try:
        asked = assumed(asked_of(log, functions), supposed)
        decision = shedding_decision(asked)
    except UsageError:
        raise
    except PenstockError as error:
        return WhatIf(running=running, missing=error.message)
    found = decision.chosen.estimate
    return WhatIf(
        settings=tuple(_setting(item, asked) for item in asked.query.inputs),
        cores=asked.known.capacity.value,
        is_feasible=decision.is_feasible,
        plan=render_plan(decision.plan),
        kind=kind_of(decision.plan),
        needed=found.needed,
        work=found.utilization,
        state=found.state,
        output_rate=found.output_rate,
        full_rate=found.full_rate,
        keep={} if decision.is_feasible else found.keep,
        delay=None if decision.delay is None else decision.delay.mean,
        running=running,
    )


def shedding_decision(asked: Asked) -> Decision:
    """The decision, with drop boxes where no plan keeps up and the query can be shed."""
    try:
        return decide(asked.known, replace(asked.options, sheds=True))
    except PlanError:
        return decide(asked.known, asked.options)


def _setting(item: Input, asked: Asked) -> Setting:
    rate = asked.known.rates.get(item.alias)
    value = None if rate is None or item.is_table else rate.value
    match item.window:
        case RowsWindow(count=count):
            return Setting(item.alias, value, float(count), is_rows=True)
        case TimeWindow(extent=int(extent)) as window:
            length = window.slide if is_tumble(window) else extent
            return Setting(item.alias, value, length / MICROS)
    return Setting(item.alias, value, None)

"""The experiment of a view: its changes, tick after tick, and what the work took."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from penstock.duration import MICROS
from penstock.engine.rows.columns import TS
from penstock.errors import PlanError
from penstock.lab.clock import Clock, SimulatedClock, Work, total_cost
from penstock.lab.laboratory import Outcome
from penstock.lab.layout.positions import lifetimes_of
from penstock.lab.schedule import Eager, Mode
from penstock.lab.views.accepted import accepted
from penstock.lab.views.told import ToldView, tell_view
from penstock.plan.plan import Plan
from penstock.query import Query
from penstock.query.view import TIME

Tuples = Mapping[str, pa.Table]


def refuse_view(plan: Plan, mode: Mode, clock: Clock) -> None:
    """Refuse a view, or a way of running it, that the laboratory does not know."""
    accepted(plan)
    if not isinstance(mode, Eager):
        hint = "use --eager; the EVERY of the query says when the view is told"
        raise PlanError("a view runs tuple by tuple in the laboratory, not every τ", hint=hint)
    if isinstance(clock, SimulatedClock) and (clock.servers == "each" or clock.joins):
        hint = "leave out --servers each and the costs of single joins"
        raise PlanError("a view is one operator, which one server serves", hint=hint)


def run_view_experiment(plan: Plan, tuples: Tuples, clock: Clock) -> Outcome:
    """Run a view over all tuples; its changes are there at their ticks, however busy the clock."""
    told, query = tell_view(plan, tuples), plan.query
    work = _work(query, tuples, told)
    costs = clock.costs if isinstance(clock, SimulatedClock) else None
    busy = told.seconds if costs is None else total_cost(work, costs)
    span = _span(query, tuples)
    lives, _ = lifetimes_of(query, tuples)
    return Outcome(
        results=told.changes,
        produced_at=told.changes.column(TIME).cast(pa.int64()).to_numpy(),
        work=work,
        busy=busy,
        elapsed=max(span, busy),
        utilization=busy / span if span else math.inf,
        peaks={alias: life.peak() for alias, life in lives.items()},
        shed={},
        deciding=0.0,
        aggregation=told.work,
    )


def _work(query: Query, tuples: Tuples, told: ToldView) -> Work:
    """The work by the kinds of joins: all that is compared, partners, rows and groups, is one."""
    done = told.work
    return Work(
        tuples=sum(len(tuples[item.alias]) for item in query.streams),
        inserts=done.inserts,
        expired=done.expirations,
        sweeps=0,
        probes=0,
        compares=done.compares + done.fold_compares + done.group_compares,
        results=len(told.changes),
    )


def _span(query: Query, tuples: Tuples) -> float:
    """Seconds from the first arrival to the last."""
    times = np.concatenate([tuples[item.alias].column(TS).to_numpy() for item in query.streams])
    return float(times.max() - times.min()) / MICROS if len(times) else 0.0

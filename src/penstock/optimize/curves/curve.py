"""Results over time of any plan, on one server that takes arrivals in order, or on several.

The inputs are fluids: what has arrived by a time, how full the windows are then, and so what work
and which results the arrivals of each moment bring. Work that the server has not done yet waits, so
that the results of an arrival are there once all work up to it is done. Where each operator has a
server (V&N), those of a tree are a network of queues; a multi-way join or mesh is one operator.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from penstock.optimize.curves.arrivals import Arrivals, arrivals_of, integral, moments
from penstock.optimize.curves.network import network_curve
from penstock.optimize.model.folding import with_early
from penstock.optimize.model.load_of_mesh import Part, mesh_parts
from penstock.optimize.model.problem import Floats, Problem
from penstock.optimize.model.work import Terms, delivery_of, results_of, work_of
from penstock.papers.curve import Curve, served
from penstock.plan.mesh import MeshJoin
from penstock.plan.plan import Plan
from penstock.plan.tree import TreeJoin


@dataclass(frozen=True)
class PlanCurve(Curve):
    """The results of a plan over time; `arrivals` are the times at which came what is done by each
    of `times`, where one server does all."""

    arrivals: Floats = field(default_factory=lambda: np.zeros(1))


NOTHING = PlanCurve(np.zeros(1), np.zeros(1))
"""The curve of streams that are over before they begin."""


def curve_of(problem: Problem, plan: Plan, until: float, kept: Sequence[float] = ()) -> PlanCurve:
    """The curve of a plan for the arrivals of the first `until` seconds."""
    if problem.servers == "each":
        if isinstance(plan, TreeJoin) and not kept:
            found = network_curve(problem, plan, until)
            return PlanCurve(found.times, found.counts, found.until)
        problem = problem if isinstance(plan, MeshJoin) else screened(problem)
    inputs = arrivals_of(problem, kept)
    times = moments(inputs, until)
    work = np.zeros(len(times))
    for part in _parts(problem, plan):
        work += _work(part, kept, times)
    results = _total(results_of(problem), inputs, times)
    busy = integral(times, work) / problem.known.capacity.value
    return PlanCurve(served(times, busy), integral(times, results), arrivals=times)


def results_curve(problem: Problem, until: float) -> Curve:
    """Results by their times of arrival, had all work been done at once."""
    inputs = arrivals_of(problem)
    times = moments(inputs, until)
    return Curve(times, integral(times, _total(results_of(problem), inputs, times)))


def _parts(problem: Problem, plan: Plan) -> tuple[Part, ...]:
    """The work of a plan, each part with the inputs as it has them."""
    folded = with_early(problem, plan.early)
    delivered = Part(folded, delivery_of(folded))
    if isinstance(plan, MeshJoin):
        return (*mesh_parts(folded, plan), delivered)
    received = tuple(flow.filter_cost for flow in folded.inputs)
    return (Part(folded, work_of(folded, plan), received), delivered)


def _work(part: Part, kept: Sequence[float], times: Floats) -> Floats:
    """Seconds of work a second that a part takes, at each time."""
    inputs = arrivals_of(part.problem, kept)
    total = _total(part.terms, inputs, times)
    for arrivals, seconds in zip(inputs, part.received, strict=False):
        total += arrivals.raw_rate(times) * seconds
    return total


def screened(problem: Problem) -> Problem:
    """The problem behind the servers of its filters, which let through what they can."""
    capacity = problem.known.capacity.value
    flows = []
    for flow in problem.inputs:
        load = flow.raw_rate * flow.filter_cost / capacity
        slower = 1.0 / max(1.0, load)
        flows.append(
            replace(flow, rate=flow.rate * slower, raw_rate=flow.raw_rate * slower, filter_cost=0.0)
        )
    return problem.with_flows(tuple(flows))


def _total(terms: Terms, inputs: Sequence[Arrivals], times: Floats) -> Floats:
    rates = [arrivals.rate(times) for arrivals in inputs]
    windows = [arrivals.window(times) for arrivals in inputs]
    total = np.zeros(len(times))
    for term in terms:
        value = term.weight * rates[term.driver]
        for other in term.others:
            value = value * windows[other]
        total += value
    return total

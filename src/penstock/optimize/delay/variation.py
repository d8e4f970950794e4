"""How much the work of a plan varies from second to second, by how much the rates do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import hypot, sqrt

from penstock.optimize.algebra.posynomial import value
from penstock.optimize.model.folding import with_early
from penstock.optimize.model.load import load_of
from penstock.optimize.model.problem import Problem
from penstock.plan.plan import Plan
from penstock.query.query import Input
from penstock.stats.known import Known


def variation_of(known: Known, alias: str) -> float:
    """The standard deviation of the tuples of a second, as a part of their mean: as given, or that
    of tuples which come independently of each other."""
    given = known.variations.get(alias)
    if given is not None:
        return given.value
    rate = known.rates[alias].value
    return 1.0 / sqrt(rate) if rate > 0.0 else 0.0


def deviations(problem: Problem, plan: Plan) -> Mapping[str, float]:
    """By stream, CPU-seconds more that a second brings when the stream has come one standard
    deviation above its rate; windows are as they are, for a second does not fill them."""
    usual = _work(problem, plan)
    found: dict[str, float] = {}
    for item in problem.query.streams:
        more = _work(_busier(problem, item), plan) - usual
        # Inputs that read one stream rise and fall together.
        found[item.source.name] = found.get(item.source.name, 0.0) + more
    return found


def spread_of(problem: Problem, plan: Plan) -> float:
    """The standard deviation of the work of a second, CPU-seconds; streams are independent."""
    return hypot(*deviations(problem, plan).values())


def _busier(problem: Problem, item: Input) -> Problem:
    times = 1.0 + variation_of(problem.known, item.alias)
    flows = tuple(
        replace(flow, rate=flow.rate * times, raw_rate=flow.raw_rate * times)
        if flow.alias == item.alias
        else flow
        for flow in problem.inputs
    )
    return problem.with_flows(flows)


def _work(problem: Problem, plan: Plan) -> float:
    return value(load_of(with_early(problem, plan.early), plan), [1.0] * problem.size)

"""A remark on plans that keep up on average, and not when rates are high."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite

from penstock.optimize.delay.expected import SIGMAS
from penstock.optimize.delay.variation import deviations, variation_of
from penstock.optimize.model.problem import Problem
from penstock.plan.delay import ExpectedDelay
from penstock.plan.explain.quantity import number, percent, seconds
from penstock.plan.plan import Plan


def peak_notes(problem: Problem, plan: Plan, delay: ExpectedDelay | None) -> Iterator[str]:
    """What one batch in twenty needs, if that is more than there is, and what would help.

    Only where a variation is known: that tuples come independently is no more than a guess.
    """
    if delay is None or not problem.known.variations or not delay.trigger:
        return
    capacity = problem.known.capacity.value
    peak = (delay.load + SIGMAS * delay.spread / delay.trigger**0.5) * capacity
    if not isfinite(peak) or peak <= capacity:
        return
    yield (
        f"keeps up on average, with {_cpu(delay.load * capacity)} of {_cpu(capacity)} CPU-seconds "
        f"a second, but not at the 95th percentile: one batch in twenty needs {_cpu(peak)} or "
        f"more, mostly by {_most(problem, plan)}; {_help(delay, peak)} would help"
    )


def _most(problem: Problem, plan: Plan) -> str:
    """The stream whose rate changes the work the most, and how much it varies."""
    found = deviations(problem, plan)
    name = max(found, key=lambda each: found[each])
    alias = problem.query.reading(name)[0].alias
    return f"{name}, whose rate varies by {percent(variation_of(problem.known, alias))}"


def _help(delay: ExpectedDelay, peak: float) -> str:
    longer = (SIGMAS * delay.spread / (1.0 - delay.load)) ** 2
    return f"a capacity of {_cpu(peak)}, batches of {seconds(longer)}, or --shed while it lasts"


def _cpu(work: float) -> str:
    return number(float(f"{work:.3g}"))

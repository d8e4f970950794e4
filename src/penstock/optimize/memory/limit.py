"""Limited memory: the plan that fits into it, and what it is used for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from penstock.errors import PlanError
from penstock.optimize.memory.indexes import Indexed, cheapest
from penstock.optimize.memory.needs import window_bytes
from penstock.optimize.model.problem import Problem
from penstock.optimize.options import PlanOptions
from penstock.plan.decision import Estimate
from penstock.plan.explain.quantity import bytes_text
from penstock.plan.physical import Memory, Physical
from penstock.plan.plan import Plan
from penstock.query.goal import Steady


@dataclass(frozen=True)
class Fitted:
    """A plan that fits into the memory, its indexes, and what is used of the memory."""

    indexed: Indexed
    memory: Memory

    @property
    def plan(self) -> Plan:
        return self.indexed.plan

    def charged(self, found: Estimate) -> Estimate:
        """The estimate with what chains take that are longer than they need be."""
        extra = self.indexed.extra
        return replace(found, utilization=found.utilization + extra, needed=found.needed + extra)

    def obeyed(self, physical: Physical) -> Physical:
        """The physical choices with the buckets that there is room for."""
        return replace(physical, buckets=self.indexed.buckets, memory=self.memory)


def fitted(problem: Problem, options: PlanOptions, plans: Sequence[Plan]) -> Fitted | None:
    """The cheapest of the plans within the memory; None where the memory limits nothing.

    The plans are in the order of their preference: for a goal over time it is the first that fits.
    Only the laboratory chooses between indexes and looking through windows.
    """
    limit = problem.known.memory
    if limit is None or options.engine != "laboratory":
        return None
    windows = window_bytes(problem)
    _refuse_windows(windows, limit)
    is_free = options.plan is None and "methods" not in options.off
    room = limit - sum(windows.values())
    groups = [plans] if isinstance(options.goal, Steady) else [[plan] for plan in plans]
    asked = [plans[:1]] if options.plan is not None else groups
    tried = (cheapest(problem, group, room, is_free) for group in asked)
    found = next((each for each in tried if each is not None), None)
    if found is None:
        raise PlanError(
            f"no plan fits into a memory of {bytes_text(limit)}: the windows take "
            f"{bytes_text(sum(windows.values()))} of it, and what is left is too little for the "
            "indexes or inner results",
            hint="give it more memory, or allow multi-way joins without an index "
            "(no --plan, --off methods or --kinds)",
        )
    scanned = tuple(a for a in problem.query.aliases if a not in found.buckets)
    return Fitted(found, Memory(limit, sum(windows.values()) + found.size, scanned))


def _refuse_windows(windows: dict[str, float], limit: float) -> None:
    """Refuse a memory that does not hold the windows themselves."""
    total = sum(windows.values())
    if total > limit:
        largest = max(windows, key=lambda alias: windows[alias])
        given, taken = bytes_text(limit), bytes_text(total)
        if given == taken:
            given, taken = f"{limit:,.0f} bytes", f"{total:,.0f}"
        raise PlanError(
            f"a memory of {given} does not hold the windows, which take "
            f"{taken}; that of {largest} alone takes {bytes_text(windows[largest])}",
            hint="give it more memory, or shorter windows",
        )

"""The seconds that a plan is expected to take for one batch, with the windows as they were."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from penstock.optimize.estimate import needed_by
from penstock.optimize.model.flow import Flow
from penstock.optimize.model.problem import Problem
from penstock.optimize.model.rounds import batch_seconds
from penstock.plan.plan import Plan
from penstock.stats.known import Known


@dataclass(frozen=True)
class Load:
    """What a batch had to do: tuples that were not shed, by alias, over seconds of event time, and
    rows in the windows, by alias; `held` are the tuples that have come into these, before filters
    and before they were folded."""

    seconds: float
    tuples: Mapping[str, float]
    rows: Mapping[str, float]
    held: Mapping[str, float] = field(default_factory=dict)


class Expectation:
    """The CPU-seconds of plans for batches. Tables of selectivities are made once for what is known
    and a plan, not for every batch."""

    def __init__(self) -> None:
        self._known: Known | None = None
        self._problems: list[Problem] = []

    def seconds(self, known: Known, plan: Plan, load: Load) -> float:
        """CPU-seconds of a plan for a batch.

        After a change of rates it takes the windows their length to follow. With the rows that were
        in them, predictions hold meanwhile too.
        """
        problem = self._problem(known, plan)
        flows = tuple(_flow(flow, plan, load) for flow in problem.inputs)
        needed = needed_by(problem.with_flows(flows), plan)
        return needed * load.seconds + batch_seconds(problem, plan)

    def _problem(self, known: Known, plan: Plan) -> Problem:
        if known is not self._known:
            self._known, self._problems = known, []
        found = next((each for each in self._problems if each.query is plan.query), None)
        if found is None:
            found = Problem(plan.query, replace(known, query=plan.query))
            self._problems.append(found)
        return found


def _flow(flow: Flow, plan: Plan, load: Load) -> Flow:
    passing = flow.rate / flow.raw_rate if flow.raw_rate else 1.0
    raw = 0.0 if flow.is_table else load.tuples.get(flow.alias, 0.0) / load.seconds
    rows = load.rows.get(flow.alias, flow.window)
    if flow.alias in plan.early:
        # Its rows have been folded already, and would be once more.
        held = load.held.get(flow.alias) if flow.extent else None
        rows = flow.window if held is None else held * passing
    return replace(flow, rate=raw * passing, raw_rate=raw, window=rows)

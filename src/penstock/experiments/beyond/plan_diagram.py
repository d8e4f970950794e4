"""A plan diagram: which kind of plan is the best over two rates, as a coloured map."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from penstock.experiments.frame.chart import Axis, HeatMap
from penstock.experiments.frame.claim import Claim
from penstock.experiments.frame.experiment import Experiment, Progress, Size
from penstock.experiments.frame.findings import Findings
from penstock.experiments.frame.judging import checked
from penstock.experiments.frame.paper import BEYOND
from penstock.experiments.setting.problems import query_of
from penstock.figure import Figure
from penstock.optimize.estimate import needed_by
from penstock.optimize.model.problem import Problem
from penstock.optimize.options import PlanOptions
from penstock.optimize.planner import decide
from penstock.plan.plan import Plan, recomputed_by
from penstock.plan.text.parse import render_plan
from penstock.plan.text.shape import kind_of
from penstock.stats.files.load import from_data
from penstock.stats.guess import complete
from penstock.stats.known import Known

_SELECT = (
    "SELECT B.g AS g, COUNT(*) AS n "
    "FROM A [RANGE 20 SECONDS], B [RANGE 20 SECONDS], C [RANGE 20 SECONDS] "
    "WHERE A.a = B.a AND B.b = C.b GROUP BY B.g EVERY 1 SECOND"
)
_COLUMNS = {"A": "a", "B": "a b g", "C": "b"}
_LOW, _HIGH = 1.0, 3_000.0
"""Tuples/s of the streams whose rates are changed."""
_RATE_OF_C = 50.0
_ENOUGH = 1.2
"""A plan is good enough where it takes no more than so many times the least work."""
_FEW = 5

Cell = tuple[int, int]


@dataclass(frozen=True)
class Diagram:
    """The rates of both axes, the plan that is best in each cell, and the least work there."""

    rates: tuple[float, ...]
    plans: Mapping[Cell, Plan]
    work: Mapping[str, Mapping[Cell, float]]
    """By the text of each plan that is best somewhere: what it takes in every cell."""

    @property
    def least(self) -> dict[Cell, float]:
        return {cell: min(each[cell] for each in self.work.values()) for cell in self.plans}

    def excess(self, text: str) -> dict[Cell, float]:
        """How many times the least work a plan takes."""
        least = self.least
        return {cell: work / least[cell] for cell, work in self.work[text].items()}

    def enough(self) -> list[str]:
        """A few plans of which one is good enough in every cell, the most useful ones first."""
        covered: dict[str, set[Cell]] = {
            text: {cell for cell, times in self.excess(text).items() if times <= _ENOUGH}
            for text in self.work
        }
        left, found = set(self.plans), list[str]()
        while left:
            found.append(max(covered, key=lambda text: len(covered[text] & left)))
            left -= covered[found[-1]]
        return found


def kind_text(plan: Plan) -> str:
    """What is told apart on the map: tree or multi-way, folded early or not, kept or recomputed."""
    if recomputed_by(plan):
        return f"{kind_of(plan)}, recomputed in each batch"
    return f"{kind_of(plan)}, folded early" if plan.early else kind_of(plan)


def diagram(steps: int, progress: Progress) -> Diagram:
    """The best plans over a grid of rates of A and B."""
    rates = tuple(float(f"{rate:.4g}") for rate in np.geomspace(_LOW, _HIGH, steps))
    base, plans, problems = _known(), dict[Cell, Plan](), dict[Cell, Problem]()
    for row, b in enumerate(rates):
        progress(row, steps)
        for column, a in enumerate(rates):
            known = _at(base, a, b)
            plans[row, column] = decide(known, PlanOptions(off=frozenset({"mesh"}))).plan
            problems[row, column] = Problem(known.query, known)
    distinct = {render_plan(plan): plan for plan in plans.values()}
    work = {
        text: {cell: needed_by(problem, plan) for cell, problem in problems.items()}
        for text, plan in distinct.items()
    }
    return Diagram(rates, plans, work)


def _known() -> Known:
    query = query_of(_SELECT, _COLUMNS)
    streams = {
        "A": {"rate": 1.0, "distinct": {"a": 200}},
        "B": {"rate": 1.0, "distinct": {"a": 200, "b": 200, "g": 20}},
        "C": {"rate": _RATE_OF_C, "distinct": {"b": 200}},
    }
    return complete(query, from_data({"streams": streams, "capacity": 1e9}, query))


def _at(known: Known, a: float, b: float) -> Known:
    rates = {"A": Figure(a, "declared"), "B": Figure(b, "declared")}
    return replace(known, rates={**known.rates, **rates})


def _run(size: Size, progress: Progress) -> Findings:
    found = diagram(10 if size == "quick" else 32, progress)
    claims = (_many(found), _none_everywhere(found), _few_suffice(found))
    return Findings((_map(found),), claims)


def _map(found: Diagram) -> HeatMap:
    named = {cell: kind_text(plan) for cell, plan in found.plans.items()}
    counts = {kind: list(named.values()).count(kind) for kind in named.values()}
    kinds = sorted(counts, key=lambda kind: -counts[kind])
    size = range(len(found.rates))
    return HeatMap(
        "The kind of plan that takes the least work",
        Axis("rate of A", "tuples/s", is_log=True),
        Axis("rate of B", "tuples/s", is_log=True),
        found.rates,
        found.rates,
        tuple(tuple(float(kinds.index(named[row, column])) for column in size) for row in size),
        tuple(kinds),
    )


def _many(found: Diagram) -> Claim:
    kinds = {kind_text(plan) for plan in found.plans.values()}
    return checked(
        "Which kind of plan is the best depends on the rates",
        paper="three kinds at the least over three decades of two rates",
        ours=f"{len(kinds)} kinds, {len(found.work)} plans",
        checks={"three kinds at the least": len(kinds) >= 3},
    )


def _none_everywhere(found: Diagram) -> Claim:
    worst = {text: max(found.excess(text).values()) for text in found.work}
    return checked(
        "No plan is good over the whole map",
        paper="twice the least work somewhere, whatever plan is kept",
        ours=f"the most even plan takes {min(worst.values()):.3g} × somewhere",
        checks={"twice at the least": min(worst.values()) >= 2.0},
    )


def _few_suffice(found: Diagram) -> Claim:
    return checked(
        "A few plans are good enough everywhere",
        paper=f"{_FEW} plans at the most, each cell within 20 % of the least work",
        ours=f"{len(found.enough())} of {len(found.work)}",
        checks={f"{_FEW} plans at the most": len(found.enough()) <= _FEW},
    )


EXPERIMENT = Experiment(
    name="beyond-plan-diagram",
    paper=BEYOND,
    figure="Plan diagram",
    title="The best plan over two rates",
    question="How does the best plan change with the rates of the streams?",
    about="A view counts the combinations of three streams by a group of B, over windows of 20 "
    "seconds, once a second. The rates of A and B go over three decades, that of C stays. In each "
    "cell of the map the planner chooses, by the costs of a machine of 2025. Then every plan that "
    "is the best in some cell is weighed in all of them. The bounds of the claims were set before "
    "the map was drawn.",
    run=_run,
)

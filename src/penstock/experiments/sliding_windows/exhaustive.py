"""A&N §5.1 and §5.2 beyond Table 2: the heuristic against all trees of random joins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from penstock.experiments.frame.chart import Axis, LineChart
from penstock.experiments.frame.claim import Claim
from penstock.experiments.frame.experiment import Experiment, Progress, Size
from penstock.experiments.frame.findings import Findings
from penstock.experiments.frame.judging import checked
from penstock.experiments.frame.paper import AN
from penstock.experiments.sliding_windows.resources import RESOURCES, ByLevel, level_line
from penstock.experiments.sliding_windows.rows_join import (
    RowsJoin,
    drawn_joins,
    left_deep,
    shed_output,
)
from penstock.optimize.joins.heuristic import heuristic_tree

LEVELS = (0.9, 0.7, 0.5, 0.3, 0.1)
SIZES = {5: 105, 6: 945}
"""Inputs, and how many trees join them."""
ALLOWED = 0.5
"""Percent of the best output that may be missed on average over joins and levels: the paper's 0.2 %
is of one set of windows and selectivities, ours are drawn too."""
_PAPER = 0.2
"""Percent that the paper's heuristic misses at most on average over queries, at any level."""
_JOINS = {"quick": 15, "full": 200}

_KEPT = "A set keeps the one tree that is the best for itself, with its drop boxes"

LEFT_DEEP, ALL, APART = "left-deep trees", "all trees", "best left-deep tree"


def errors(join: RowsJoin, level: float) -> dict[str, float]:
    """Percent of the best output that the heuristic misses among left-deep and among all trees,
    and that the best left-deep tree misses, at a part of what the best of all trees needs."""
    capacity, only = level * join.saturation, left_deep(join)
    problem = join.problem(capacity)
    best = {LEFT_DEEP: only.best(capacity / only.saturation), ALL: join.best(level)}
    found = {
        LEFT_DEEP: shed_output(problem, heuristic_tree(problem)),
        ALL: shed_output(problem, heuristic_tree(problem, is_bushy=True)),
    }
    part = {among: found[among] / best[among] for among in best}
    part[APART] = best[LEFT_DEEP] / best[ALL]
    return {among: max(0.0, 100 * (1.0 - share)) for among, share in part.items()}


def _run(size: Size, progress: Progress) -> Findings:
    count = _JOINS[size]
    mean: dict[int, dict[str, dict[float, float]]] = {}
    for place, inputs in enumerate(SIZES):
        found = []
        for done, join in enumerate(drawn_joins(inputs, count)):
            progress(place * count + done, len(SIZES) * count)
            found.append({level: errors(join, level) for level in LEVELS})
        mean[inputs] = {
            of: {n: float(np.mean([each[n][of] for each in found])) for n in LEVELS}
            for of in (LEFT_DEEP, ALL, APART)
        }
    charts = (
        _chart("What the heuristic’s tree misses of the best", mean, (LEFT_DEEP, ALL)),
        _chart("What left-deep trees miss of the best of all", mean, (APART,)),
    )
    claims = tuple(
        claim(n, of, mean[n][of])
        for n in SIZES
        for of in (LEFT_DEEP, ALL)
        for claim in (_average, _by_level)
    )
    return Findings(charts, claims)


def _chart(title: str, mean: Mapping[int, Mapping[str, ByLevel]], of: Sequence[str]) -> LineChart:
    lines = [
        line
        for inputs, by_kind in mean.items()
        for kind in of
        for line in level_line(f"{inputs} inputs, {kind}", by_kind[kind])
    ]
    return LineChart(title, RESOURCES, Axis("average error", "%", low=0.0), tuple(lines))


def _average(inputs: int, among: str, mean: ByLevel) -> Claim:
    average = float(np.mean(list(mean.values())))
    return checked(
        f"Of random {inputs}-way joins the heuristic misses on average 0.5 % at most of the best "
        f"of {among}",
        paper="none: the bound is our own",
        ours=f"{average:.2g} % on average over joins and levels",
        checks={"0.5 % at most on average": average <= ALLOWED},
        reason=_KEPT,
    )


def _by_level(inputs: int, among: str, mean: ByLevel) -> Claim:
    worst = max(mean, key=lambda level: mean[level])
    return checked(
        f"Of random {inputs}-way joins it misses 0.2 % at most of the best of {among} at every "
        "level",
        paper="0.2 % at most at a level, of left-deep trees with the figures of Table 2",
        ours=f"{mean[worst]:.2g} % at the worst, {100 * worst:.0f} % of the resources",
        checks={f"at {100 * level:.0f} %": missed <= _PAPER for level, missed in mean.items()},
        reason=f"{_KEPT}; windows and selectivities are drawn here, and were one set in the paper",
    )


EXPERIMENT = Experiment(
    name="an-exhaustive",
    paper=AN,
    figure="§5.1 and §5.2",
    title="The heuristic beside all trees",
    question="Does the heuristic miss much where windows and selectivities are drawn as well?",
    about="Random joins of five and six streams over ROWS windows, joined by a random tree of "
    "equalities: rates of 10 to 1000 tuples a second, windows of 100 to 1000 tuples, "
    "selectivities from 0.001 to 0.5. The best is searched among all left-deep trees, and among "
    "all 105 or 945 trees, bushy ones and products included; resources are a part of what the best "
    "of all needs to keep up. The paper’s heuristic grows left-deep trees, which alone miss much; "
    "ours also joins the sets that it has kept with each other. All values are the model’s.",
    run=_run,
    model="paper",
)

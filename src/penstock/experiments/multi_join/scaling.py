"""G&O Fig. 2: naive and eager multi-way nested loops over more and more windows."""

from __future__ import annotations

from penstock.experiments.frame.chart import Axis, LineChart
from penstock.experiments.frame.claim import Claim
from penstock.experiments.frame.experiment import Experiment, Progress, Size
from penstock.experiments.frame.findings import Findings
from penstock.experiments.frame.judging import checked, figure_text
from penstock.experiments.frame.paper import GO
from penstock.experiments.multi_join.compared import Costs, cost_lines
from penstock.experiments.multi_join.windows import counted, first, in_place, setting_of
from penstock.papers.multi_join import multiway_cost, naive_cost

_ALGORITHMS = {"naive": (naive_cost, in_place), "eager": (multiway_cost, first)}
_SECONDS = 200.0
_NEAR = 0.15


def _run(size: Size, progress: Progress) -> Findings:
    counts = range(2, 7 if size == "quick" else 8)
    model: Costs = {name: {} for name in _ALGORITHMS}
    found: Costs = {name: {} for name in _ALGORITHMS}
    for done, count in enumerate(counts):
        progress(done, len(counts))
        setting = setting_of([(1.0, 100.0, 50)] * count)
        for name, (cost, loops) in _ALGORITHMS.items():
            model[name][count] = cost(setting.windows, setting.names, setting.match)
            found[name][count] = counted(setting, loops(setting.names), _SECONDS)
    y = Axis("comparisons", "1/s", is_log=True)
    title = "Comparisons a second, by the number of windows"
    chart = LineChart(title, Axis("windows"), y, cost_lines(model, found))
    return Findings((chart,), (_eager_wins(found), _gap_grows(found), _near(model, found)))


def _eager_wins(found: Costs) -> Claim:
    more = {n: found["naive"][n] / found["eager"][n] for n in found["eager"]}
    return checked(
        "Eager multi-way loops compare less than naive ones for any number of windows",
        paper="considerably better",
        ours=", ".join(f"{n:g}: {ratio:.2f} ×" for n, ratio in more.items()),
        checks={f"with {n:g} windows": ratio > 1.0 for n, ratio in more.items()},
    )


def _gap_grows(found: Costs) -> Claim:
    gaps = [found["naive"][n] - found["eager"][n] for n in sorted(found["eager"])]
    return checked(
        "The naive way scales worse: what it compares in addition grows with every window",
        paper="the curves part",
        ours=", ".join(map(figure_text, gaps)) + " more a second",
        checks={"every gap is greater": gaps == sorted(gaps)},
    )


def _near(model: Costs, found: Costs) -> Claim:
    off = {x: max(abs(found[n][x] / model[n][x] - 1) for n in model) for x in model["eager"]}
    return checked(
        "The model’s costs are what the loops compare when run",
        paper="analysis only",
        ours=", ".join(f"{x:g} windows: off by {100 * by:.0f} %" for x, by in off.items()),
        checks={f"within {100 * _NEAR:.0f} % with {x:g}": by <= _NEAR for x, by in off.items()},
        reason="Our loops also count the rows of the outermost loop, which weighs with two windows",
    )


EXPERIMENT = Experiment(
    name="go-figure-2",
    paper=GO,
    figure="Fig. 2",
    title="New tuples belong outermost",
    question="How do naive and eager multi-way loops scale with the number of windows?",
    about=(
        "Windows of 100 seconds over streams of one tuple a second, with 50 distinct values each, "
        "are joined on a common attribute. Naive loops keep one order, whoever brings the new "
        "tuple; eager multi-way loops start with the new tuple, so that the inner loops run for "
        "its matches alone. Lines are the model, points what the laboratory’s loops compared."
    ),
    run=_run,
    model="paper",
)

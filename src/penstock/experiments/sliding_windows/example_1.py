"""A&N Example 1 and Fig. 6: the best plan to shed from is not the one of least utilization."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from penstock.experiments.frame.chart import Axis, LineChart, Mark, Series
from penstock.experiments.frame.claim import Claim
from penstock.experiments.frame.experiment import Experiment, Progress, Size
from penstock.experiments.frame.findings import Findings
from penstock.experiments.frame.judging import all_near, checked, figure_text, ranked
from penstock.experiments.frame.paper import AN
from penstock.experiments.sliding_windows.example import PLANS, Measured, handled, measure, shed

_A, _B, _C = PLANS
_FEW = (0.5, 2.0, 3.0, 4.0, 4.5, 8.0, 14.0, 17.0, 30.0, 50.0)
_MANY = (1.0, 2.25, 2.5, 2.75, 3.25, 3.5, 3.75, 4.25, 4.75, 5.0, 5.5, 6.0, 10.0, 12.0, 20.0, 40.0)
_CLOSE = 0.03
"""How near a run of minutes comes to the model: windows fill, and random tuples are dropped."""
_SCARCE = 10.0
"""Milliseconds a tuple from which the model sheds some stream to all but nothing."""

Outputs = Mapping[str, Mapping[float, Measured]]


def _run(size: Size, progress: Progress) -> Findings:
    costs = sorted(_FEW if size == "quick" else _FEW + _MANY)
    seconds = 100.0 if size == "quick" else 400.0
    found: dict[str, dict[float, Measured]] = {plan: {} for plan in PLANS}
    for done, cost in enumerate(costs):
        progress(done, len(costs))
        for plan in PLANS:
            found[plan][cost] = measure(plan, cost / 1000, seconds)
    whole = _chart("Most results/s of each plan", found, Axis("cost of a tuple at a join", "ms"))
    magnified = Axis("cost of a tuple at a join", "ms", low=1.5, high=6.0)
    close = _chart("The same, magnified", found, magnified)
    return Findings((whole, close), tuple(_claims(found)))


def _chart(title: str, found: Outputs, x: Axis) -> LineChart:
    low, high = x.low or 0.0, x.high or 100.0
    moments = np.linspace(max(low, 0.1), high, 150)
    lines = []
    for plan, runs in found.items():
        inside = {cost: run for cost, run in runs.items() if low <= cost <= high}
        foreseen = tuple(shed(plan, float(cost) / 1000).output for cost in moments)
        lines.append(Series(plan, "model", tuple(moments.tolist()), foreseen))
        outputs = tuple(run.output for run in inside.values())
        lines.append(Series(plan, "measured", tuple(inside), outputs))
    if high >= 100.0:
        lines.append(Series(_C, "paper", (100.0,), (100.0,)))
    y = Axis("results", "1/s", low=0.0 if high > 50 else 400.0, high=1050.0)
    return LineChart(title, x, y, tuple(lines), (Mark("the paper's switch", 4.0, 4.5),))


def _claims(found: Outputs) -> list[Claim]:
    return [
        all_near(
            "Tuples that the joins of each plan handle in a second",
            paper={_A: 500.0, _B: 280.0, _C: 400.0},
            ours={plan: handled(plan) for plan in PLANS},
            within=1e-6,
            unit="/s",
        ),
        all_near(
            "At 0.5 ms a tuple the plans use 25, 14 and 20 % of the server",
            paper={_A: 25.0, _B: 14.0, _C: 20.0},
            ours={plan: 100 * found[plan][0.5].utilization for plan in PLANS},
            within=_CLOSE,
            unit=" %",
        ),
        all_near(
            "All feasible plans give the same 1000 results a second",
            paper=dict.fromkeys(PLANS, 1000.0),
            ours={plan: found[plan][0.5].output for plan in PLANS},
            within=_CLOSE,
            unit="/s",
        ),
        _feasible(),
        _switch_foreseen(),
        _switch_measured(found),
        _far(found),
        _agreement(f"below {_SCARCE:g} ms a tuple", found, lambda cost: cost < _SCARCE),
        _agreement(f"from {_SCARCE:g} ms on", found, lambda cost: cost >= _SCARCE),
        all_near(
            "At 100 ms a tuple all plans give the same",
            paper=dict.fromkeys(PLANS, 100.0),
            ours={plan: shed(plan, 0.1).output for plan in PLANS},
            within=1e-6,
            unit="/s",
        ),
    ]


def _feasible() -> Claim:
    used = {plan: 0.003 * handled(plan) for plan in PLANS}
    return checked(
        "At 3 ms a tuple only (B⋈C)⋈A is feasible, at 5 ms none is",
        paper="150, 84 and 120 % of the server at 3 ms",
        ours=", ".join(f"{plan} {100 * share:.0f} %" for plan, share in used.items()),
        checks={
            "at 3 ms it is the only one below 100 %": [p for p, u in used.items() if u < 1] == [_B],
            "at 5 ms all need more": min(used.values()) * 5 / 3 > 1,
        },
    )


def _switch_foreseen() -> Claim:
    ahead = {cost: shed(_B, cost / 1000).output > shed(_C, cost / 1000).output for cost in (4, 4.5)}
    least = min(
        float(cost)
        for cost in np.arange(3.6, 6.0, 0.001)
        if shed(_C, cost / 1000).output > shed(_B, cost / 1000).output
    )
    return checked(
        "The best plan changes from (B⋈C)⋈A to (A⋈C)⋈B between 4 and 4.5 ms (model)",
        paper="between 4 and 4.5 ms",
        ours=f"at {least:.2f} ms",
        checks={"at 4 ms the first is ahead": ahead[4], "at 4.5 ms the second is": not ahead[4.5]},
    )


def _switch_measured(found: Outputs) -> Claim:
    before, after = (tuple(found[plan][cost].output for plan in (_B, _C)) for cost in (4.0, 4.5))
    return checked(
        "The best plan changes between 4 and 4.5 ms (measured)",
        paper="between 4 and 4.5 ms",
        ours="; ".join(
            f"at {cost} ms {figure_text(b)} against {figure_text(c)}/s"
            for cost, (b, c) in ((4, before), (4.5, after))
        ),
        checks={
            "at 4 ms the first is ahead": before[0] > before[1],
            "at 4.5 ms the second is": after[0] < after[1],
        },
    )


def _far(found: Outputs) -> Claim:
    return ranked(
        "Where resources are scarce the product is by far the best (measured at 14 ms)",
        paper=(_C, _B, _A),
        ours={plan: found[plan][14.0].output for plan in PLANS},
        unit="/s",
        descending=True,
    )


def _agreement(where: str, found: Outputs, among: Callable[[float], bool]) -> Claim:
    """Every run of some costs, beside the paper's model."""
    off = {
        f"{plan} at {cost:g} ms": run.output / shed(plan, cost / 1000).output - 1
        for plan, runs in found.items()
        for cost, run in runs.items()
        if among(cost)
    }
    worst = max(off, key=lambda name: abs(off[name]))
    near = {name: abs(part) <= _CLOSE for name, part in off.items()}
    return checked(
        f"What the model foresees of shed plans is what they give when run, {where}",
        paper="model values only",
        ours=f"{sum(near.values())} of {len(off)} runs within {100 * _CLOSE:.0f} %; the farthest "
        f"is {worst}, off by {100 * off[worst]:.1f} %",
        checks=near,
        reason="In the model a stream may be shed to nothing while its window of ten rows stays "
        "full. A run has to fill the windows: it keeps what does so in a minute, and this is paid "
        "for with results",
    )


EXPERIMENT = Experiment(
    name="an-example-1",
    paper=AN,
    figure="Example 1, Fig. 3 and 6",
    title="The best plan changes when resources run out",
    question="Is the plan that needs the least work also the best one to shed from?",
    about=(
        "Three streams of 10, 70 and 20 tuples a second are joined over windows of ten rows, with "
        "selectivities 0.5 and 0.2. Every tuple costs the same at each join that it comes to, and "
        "that cost is raised. Below 3.6 ms (B⋈C)⋈A needs no shedding. Above, all plans shed; "
        "drop boxes are set by the knapsack of §4.2.1, and soon a product of A and C, which does "
        "more work, keeps more results. The dashed lines are the model, in which a stream may be "
        "shed to nothing while its window stays full. The points are runs of the laboratory with "
        "these drop boxes, one server and a simulated clock, and a minute for windows to fill; so "
        "from 10 ms on they lie below the lines."
    ),
    run=_run,
    model="paper",
)

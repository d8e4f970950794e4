"""Results over time of V&N's plans, foreseen and measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from penstock.experiments.frame.chart import Axis, LineChart, Series
from penstock.experiments.frame.claim import Claim
from penstock.experiments.frame.experiment import Progress, Size
from penstock.experiments.frame.judging import checked
from penstock.experiments.rate_based.complex_plans import Floats, Streams, foreseen, measured
from penstock.experiments.rate_based.staged import Stage
from penstock.papers.curve import Curve

_POINTS = 40
_SHARES = (0.1, 0.25, 0.5, 0.75, 1.0)

SERVERS = (
    "Every join has a server of its own, as V&N’s operators have a thread each. Handling an "
    "arrival takes 3.5 ms, and 5 ms more where A meets C. The paper does not give the former: it "
    "is set so that the foreseen crossing of the three-way plans lies at the paper’s 2,000 "
    "results. The points are means over runs of the laboratory on Poisson streams, join by join "
    "on a simulated clock; the dashed lines are the fluid model, which knows rates, cardinalities "
    "and costs. "
)


@dataclass(frozen=True)
class PlanCurves:
    """By plan: the model's curve, and the seconds at which there were one, two, three … results,
    on average over runs."""

    model: Mapping[str, Curve]
    found: Mapping[str, Floats]

    def foreseen_times(self, share: float) -> dict[str, float]:
        """By plan, when a share of its results is foreseen."""
        return {name: time_of(curve, share * curve.total) for name, curve in self.model.items()}

    def measured_times(self, share: float) -> dict[str, float]:
        """By plan, when a share of its results was there."""
        return {n: float(times[int(share * len(times)) - 1]) for n, times in self.found.items()}

    def chart(self, title: str, most: float = np.inf) -> LineChart:
        """Results over time, as far as `most` of them."""
        lines = []
        for name, curve in self.model.items():
            counts = np.linspace(1.0, min(most, curve.total, len(self.found[name])), _POINTS)
            times = self.found[name][np.rint(counts).astype(int) - 1]
            ahead = [time_of(curve, float(count)) for count in counts]
            results = tuple(counts.tolist())
            lines.append(Series(name, "measured", tuple(times.tolist()), results))
            lines.append(Series(name, "model", tuple(ahead), results))
        return LineChart(title, Axis("time", "s"), Axis("results"), tuple(lines))


def run_plans(
    plans: Mapping[str, Stage], streams: Streams, size: Size, progress: Progress
) -> PlanCurves:
    """The curves of plans, each run several times on other streams of the same kind."""
    runs = 3 if size == "quick" else 10
    found: dict[str, Floats] = {}
    for done, (name, plan) in enumerate(plans.items()):
        times = []
        for seed in range(runs):
            progress(done * runs + seed, len(plans) * runs)
            times.append(measured(plan, streams, seed))
        count = min(map(len, times))
        found[name] = np.mean([each[:count] for each in times], axis=0)
    return PlanCurves({name: foreseen(plan, streams) for name, plan in plans.items()}, found)


def time_of(curve: Curve, count: float) -> float:
    """When a curve has so many results, which it must."""
    moment = curve.time_of(count)
    assert moment is not None, "asked within the curve"
    return moment


def alike(curves: PlanCurves) -> Claim:
    """The claim that model and measurement agree."""
    off = max(
        abs(found / curves.foreseen_times(share)[name] - 1)
        for share in _SHARES
        for name, found in curves.measured_times(share).items()
    )
    return checked(
        "Predicted and measured curves behave alike",
        paper="similar, the measured one more ragged; times off by seconds",
        ours=f"times of 10 to 100 % of the results off by {100 * off:.1f} % at most",
        checks={"within 10 %": off <= 0.1},
    )

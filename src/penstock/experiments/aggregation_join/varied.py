"""T&L Fig. 6–9: one figure of the streams is varied, all plans are run at each of its values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from penstock.experiments.aggregation_join.setting import Streams, costs_of
from penstock.experiments.frame.chart import Axis, LineChart, Series
from penstock.experiments.frame.experiment import Progress, Size
from penstock.plan.multiway import Method

Curves = dict[str, dict[float, float]]
"""Seconds a second by plan, and by the value of what is varied."""
Varied = Literal["window", "groups", "rate", "selectivity"]


@dataclass(frozen=True)
class Sweep:
    """The streams of one panel, and the values of the first one's figure that is varied.

    At quick size only `quick` of them are run. Selectivities are varied of all streams alike.
    """

    streams: Streams
    values: tuple[float, ...]
    quick: tuple[float, ...]

    def asked(self, size: Size) -> tuple[float, ...]:
        """The values that are run."""
        return self.quick if size == "quick" else self.values


@dataclass(frozen=True)
class Found:
    """The curves of one panel, by the model and counted."""

    model: Curves
    counted: Curves


Sweeps = Mapping[Varied, Sweep]
Panels = dict[Varied, Found]

_CHANGES: Mapping[Varied, Callable[[Streams, float], Streams]] = {
    "window": lambda streams, value: (replace(streams[0], window=value), *streams[1:]),
    "groups": lambda streams, value: (replace(streams[0], groups=value), *streams[1:]),
    "rate": lambda streams, value: (replace(streams[0], rate=value), *streams[1:]),
    "selectivity": lambda streams, value: tuple(replace(s, selectivity=value) for s in streams),
}
_AXES: Mapping[Varied, Axis] = {
    "window": Axis("window of the first stream", "tuples"),
    "groups": Axis("groups of the first stream", is_log=True),
    "rate": Axis("rate of the first stream", "tuples/s"),
    "selectivity": Axis("selectivity", is_log=True),
}


def run_sweeps(sweeps: Sweeps, method: Method, size: Size, progress: Progress) -> Panels:
    """All panels of a figure."""
    steps = sum(len(sweep.asked(size)) for sweep in sweeps.values())
    panels: Panels = {}
    done = 0
    for varied, sweep in sweeps.items():
        found = panels[varied] = Found({}, {})
        for value in sweep.asked(size):
            progress(done, steps)
            costs = costs_of(_CHANGES[varied](sweep.streams, value), method)
            for curves, seconds in ((found.model, costs.model), (found.counted, costs.counted)):
                for plan, cost in seconds.items():
                    curves.setdefault(plan, {})[value] = cost
            done += 1
    return panels


def chart_of(varied: Varied, found: Found, shown: tuple[str, ...]) -> LineChart:
    """A panel with a line of the model's and one of what was counted for each plan shown."""
    lines = []
    for plan in shown:
        model, counted = found.model[plan], found.counted[plan]
        lines.append(Series(plan, "model", tuple(model), tuple(model.values())))
        lines.append(Series(plan, "measured", tuple(counted), tuple(counted.values())))
    y = Axis("work at 1 µs a comparison", "s/s", low=0.0)
    return LineChart(f"Varying the {varied}", _AXES[varied], y, tuple(lines))

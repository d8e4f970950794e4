"""Costs of several algorithms over one thing that is varied, as lines of a chart."""

from __future__ import annotations

from penstock.experiments.frame.chart import Series

Costs = dict[str, dict[float, float]]
"""Comparisons/s by algorithm, and by what is varied."""


def cost_lines(model: Costs, found: Costs) -> tuple[Series, ...]:
    """A line of the model's and one of what was counted for each algorithm."""
    lines = []
    for name, foreseen in model.items():
        counted = found[name]
        lines.append(Series(name, "model", tuple(foreseen), tuple(foreseen.values())))
        lines.append(Series(name, "measured", tuple(counted), tuple(counted.values())))
    return tuple(lines)

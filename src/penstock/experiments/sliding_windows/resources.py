"""What A&N's experiments over random queries share: gains by level of resources, and their axis."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.experiments.frame.chart import Axis, Series
from penstock.experiments.frame.experiment import Progress, Size
from penstock.experiments.sliding_windows.table_2 import LEVELS, drawn

RESOURCES = Axis("resources", "% of saturation", low=0.0, high=103.0)
SAME = 1e-9
"""A gain up to this is rounding."""
SETTING = (
    "Random five-way joins with the windows and selectivities of Table 2 and rates of 10 to 1000 "
    "tuples a second; every tuple costs the same at each join. Resources are given as a part of "
    "what the best plan needs to keep up. As in the paper, all values are the model’s: the joins "
    "would give up to 10⁹ results a second. "
)
_QUERIES = {"quick": 300, "full": 1000}

ByLevel = Mapping[float, float]
"""Values by the part of the saturation resources that there is."""


def gains_by_level(size: Size, progress: Progress) -> dict[float, list[float]]:
    """What the best plan gains over that of least utilization, for every query."""
    gains: dict[float, list[float]] = {level: [] for level in LEVELS}
    for done, query in enumerate(drawn(_QUERIES[size])):
        progress(done, _QUERIES[size])
        for level in LEVELS:
            gains[level].append(query.gain(level))
    return gains


def level_line(name: str, values: ByLevel, paper: ByLevel | None = None) -> tuple[Series, ...]:
    """A line over levels, with the points that the paper gives."""
    line = Series(name, "model", tuple(100 * n for n in values), tuple(values.values()))
    if paper is None:
        return (line,)
    return line, Series(name, "paper", tuple(100 * n for n in paper), tuple(paper.values()))

"""The order of conditions: cheap ones that leave little come first."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from penstock.query import Condition
from penstock.stats.known import ConditionFigures


def by_rank(
    conditions: Iterable[Condition], figures: Mapping[str, ConditionFigures]
) -> tuple[Condition, ...]:
    """The conditions by rank, so that evaluating them one after the other costs the least.

    The rank is (1 − selectivity) / cost, highest first (A&N §4.1); equals keep their order. The
    figures are by the text of the condition.
    """
    return tuple(sorted(conditions, key=lambda each: _cost_per_drop(figures[str(each)])))


def _cost_per_drop(figures: ConditionFigures) -> float:
    """Seconds to drop one tuple, which is one over the rank: a free condition has no rank."""
    cost, dropped = figures.cost.value, 1 - figures.selectivity.value
    if cost == 0:
        return 0.0
    return cost / dropped if dropped > 0 else math.inf

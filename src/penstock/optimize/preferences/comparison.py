"""Two plans side by side, in the figure that decides between them."""

from __future__ import annotations

from penstock.optimize.preferences.ranking import Ranking
from penstock.plan.decision import Alternative
from penstock.query.goal import First

_MOST_DIGITS = 9
_THOUSAND, _LONG = 1e3, 1e7
"""Between these, figures are written out."""


def compared(one: Alternative, other: Alternative, ranking: Ranking) -> str:
    """Two plans in the figure that decides between them."""
    left, right = one.estimate, other.estimate
    unit = work_unit(one, other)
    match ranking.deciding(one, other):
        case "measure":
            unit = " s" if isinstance(ranking.goal, First) else ""
            return _measures(left.measure, right.measure, unit)
        case "cardinality":
            return _measures(left.by_cardinality, right.by_cardinality, " s")
        case "lost" if ranking.keeps_up(one) and ranking.keeps_up(other):
            mine, its = told_apart(left.output_rate, right.output_rate)
            return f"{mine} results/s against {its}"
        case "lost":
            mine, its = told_apart(left.utilization, right.utilization)
            return f"{mine} s/s of work against {its}, which is more than there is"
        case "work":
            mine, its = told_apart(left.work, right.work)
            return f"{mine} {unit} against {its}"
        case "state":
            return f"{left.work:.3g} {unit}, the next as much with more state"
    return f"{left.work:.3g} {unit}, the next as much"


def work_unit(*plans: Alternative) -> str:
    """Starting batches is no work on the data, but counts where plans are compared."""
    starts = any(plan.estimate.starting for plan in plans)
    return "s/s of work and starting batches" if starts else "s/s of work"


def told_apart(one: float, other: float) -> tuple[str, str]:
    """Two figures with as many digits, from three on, as it takes to tell them apart."""
    for digits in range(3, _MOST_DIGITS + 1):
        mine, its = (_figure(each, digits) for each in (one, other))
        if mine != its:
            break
    return mine, its


def _figure(value: float, digits: int) -> str:
    rounded = float(f"{value:.{digits}g}")
    return f"{rounded:,.0f}" if _THOUSAND <= rounded < _LONG else f"{rounded:.{digits}g}"


def _measures(one: float | None, other: float | None, unit: str) -> str:
    if one is None or other is None:
        return " against ".join("never" if m is None else f"{m:.3g}{unit}" for m in (one, other))
    mine, its = told_apart(one, other)
    return f"{mine}{unit} against {its}{unit}"

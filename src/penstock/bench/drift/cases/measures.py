"""Measures: when a change was noticed, when the plan had settled, and how often it changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeVar

from penstock.engine.reports.report import Report

T = TypeVar("T")

NOTICED = ("drift", "switch", "advise")
"""Changes that tell of streams that are not what they were."""


def batches_to_notice(reports: Sequence[Report], edge: int) -> int | None:
    """Batches of the new regime that were seen when something was said of it; None if never."""
    for report in reports:
        if report.batch >= edge and any(each.kind in NOTICED for each in report.changes):
            return report.batch - edge + 1
    return None


def batches_to_settle(
    plans: Sequence[T], edge: int, end: int, is_good: Callable[[T], bool]
) -> int | None:
    """Batches from an edge until all plans up to the next one are good; None if the last is not."""
    good = [is_good(plan) for plan in plans[edge:end]]
    if not good or not good[-1]:
        return None
    return max((number for number, each in enumerate(good, 1) if not each), default=0)


def switches(plans: Sequence[str]) -> int:
    """How often a batch followed another plan than the one before it."""
    return sum(old != new for old, new in pairwise(plans))


def most_switches_an_edge(plans: Sequence[str], edges: Sequence[int]) -> int:
    """The most switches between two edges; those before the first one count as its own too."""
    ends = [0, *edges[1:], len(plans)]
    parts = [plans[max(a - 1, 0) : b] for a, b in pairwise(ends)]
    return max(switches(part) for part in parts)


def worst(found: Sequence[float | None], *, is_less_better: bool = True) -> float | None:
    """The worst of some figures; None, which stands for never, is worse than any."""
    known = [each for each in found if each is not None]
    if len(known) < len(found) or not known:
        return None
    return max(known) if is_less_better else min(known)

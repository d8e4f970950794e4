"""The plans that were weighed as a table, the chosen one first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from penstock.plan.decision import Alternative, Decision, Estimate
from penstock.plan.explain.quantity import kept_text, number, seconds
from penstock.plan.text.parse import render_plan
from penstock.plan.text.shape import kind_of
from penstock.query.goal import By, First


@dataclass(frozen=True)
class Column:
    """A column of the table; numbers are set to the right."""

    name: str
    cells: tuple[str, ...]
    is_number: bool = False


def ranking(decision: Decision) -> tuple[Column, ...]:
    """The columns, a cell for each plan; `needs` and the goal's measure only where they differ.

    A plan that was forced has no rank among the others.
    """
    plans = (decision.chosen, *decision.others)
    found = [plan.estimate for plan in plans]
    first = 0 if decision.is_forced else 1
    ranks = ("–" if rank == 0 else str(rank) for rank in range(first, first + len(plans)))
    columns = [
        Column("rank", tuple(ranks), is_number=True),
        Column("kind", tuple(kind_of(plan.plan) for plan in plans)),
        Column("plan", tuple(render_plan(plan.plan) for plan in plans)),
        *_cost(found),
        *_measure(decision, plans),
        _out(found),
        *_needs(plans),
        Column("util", tuple(number(each.utilization) for each in found), is_number=True),
        *_starting(plans),
        Column("state", tuple(number(each.state) for each in found), is_number=True),
        Column("keep", tuple(kept_text(each) for each in found)),
        Column("found by", tuple("; ".join(plan.found_by) for plan in plans)),
    ]
    return tuple(columns)


def _cost(found: Sequence[Estimate]) -> list[Column]:
    """The traditional cost, where plans are compared by it."""
    costs = [each.by_cardinality for each in found]
    if all(cost is None for cost in costs):
        return []
    cells = ("–" if cost is None else seconds(cost) for cost in costs)
    return [Column("by cardinality", tuple(cells), is_number=True)]


def _out(found: Sequence[Estimate]) -> Column:
    """The output of each plan: results/s, or the changes/s of a view."""
    is_view = found[0].changes is not None
    rates = (each.changes if is_view else each.output_rate for each in found)
    return Column("changes/s" if is_view else "out/s", tuple(map(number, rates)), is_number=True)


def _needs(plans: tuple[Alternative, ...]) -> list[Column]:
    """The work without drop boxes, if any of the plans has them."""
    found = [plan.estimate for plan in plans]
    if all(each.needed == each.utilization for each in found):
        return []
    return [Column("needs", tuple(number(each.needed) for each in found), is_number=True)]


def _starting(plans: tuple[Alternative, ...]) -> list[Column]:
    """The column that plans are ranked by, if starting batches counts beside the work."""
    found = [plan.estimate for plan in plans]
    if not any(each.starting for each in found):
        return []
    return [Column("+ starts", tuple(number(each.work) for each in found), is_number=True)]


def _measure(decision: Decision, plans: tuple[Alternative, ...]) -> list[Column]:
    measures = [plan.estimate.measure for plan in plans]
    match decision.goal:
        case First():
            cells = ("never" if m is None else seconds(m) for m in measures)
        case By():
            cells = (number(m) for m in measures)
        case _:
            return []
    return [Column(str(decision.goal), tuple(cells), is_number=True)]

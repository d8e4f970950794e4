"""The plan diagram: who is best where, and how many plans are enough."""

from __future__ import annotations

from penstock.experiments.beyond.plan_diagram import Diagram, diagram, kind_text
from penstock.plan.text.parse import render_plan

FOUND: list[Diagram] = []


def found() -> Diagram:
    if not FOUND:
        FOUND.append(diagram(3, lambda done, of: None))
    return FOUND[0]


def test_the_plan_of_a_cell_takes_hardly_more_than_the_least_work_there() -> None:
    least, work = found().least, found().work
    for cell, plan in found().plans.items():
        # A view is kept unless recomputing it is clearly better, at nine tenths of the work.
        assert work[render_plan(plan)][cell] <= least[cell] / 0.89


def test_plans_that_are_enough_cover_every_cell() -> None:
    few = [found().excess(text) for text in found().enough()]
    assert all(min(each[cell] for each in few) <= 1.2 for cell in found().plans)
    assert len(few) <= len(found().work)


def test_kinds_tell_apart_how_views_are_made() -> None:
    kinds = {kind_text(plan) for plan in found().plans.values()}
    assert len(kinds) > 1
    assert all(kind.split(",")[0] in ("tree", "multiway") for kind in kinds)

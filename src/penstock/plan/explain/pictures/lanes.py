"""A multi-way join as a picture: a lane for each stream, its window, its visits, the results."""

from __future__ import annotations

from penstock.plan.explain.checks import Visit
from penstock.plan.explain.figures import Figures, InputFigures
from penstock.plan.explain.pictures.strips import Step, Strip, strips_picture
from penstock.plan.explain.pictures.svg import Page


def lanes(figures: Figures, page: Page) -> str:
    """An SVG element with the streams from top to bottom."""
    strips = [
        Strip(item, () if item.is_only_visited else (_steps(figures, item),))
        for item in figures.inputs
    ]
    return strips_picture(figures, strips, page)


def _steps(figures: Figures, item: InputFigures) -> tuple[Step, ...]:
    """The visits to draw: new tuples only where they are not the outer loop."""
    visits = item.visits if item.visits[0].method else item.visits[1:]
    return tuple(_step(figures, item, visit) for visit in visits)


def _step(figures: Figures, item: InputFigures, visit: Visit) -> Step:
    checks = [c.predicate for c in figures.checks if (item.alias, visit.alias) in c.places]
    name = figures.input(visit.alias).name
    name = name if visit.method else f"new {name}"
    how = f"{visit.method} probe" if visit.method else "the new tuples"
    title = "\n".join([f"{how}: {name}", *checks])
    return Step((name, how, " AND ".join(checks)), title, visit.alias)

"""A multi-way join as an SVG: a lane for each stream, its window left, its visits, the results."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.plan.explain.checks import Visit
from penstock.plan.explain.figures import Figures, InputFigures
from penstock.plan.explain.svg import (
    EDGE,
    GAP,
    HEIGHT,
    LANE,
    RESULTS,
    STEP,
    Box,
    arrow,
    box,
    canvas,
    hue,
    results,
    source,
    source_lines,
    width_for,
)


def lanes(figures: Figures) -> str:
    """An SVG element with the streams from top to bottom."""
    driving = [item for item in figures.inputs if not item.is_only_visited]
    steps = max(max(len(_chips(item)) for item in driving), 1)
    width = width_for(map(source_lines, figures.inputs))
    right = EDGE + width + steps * (GAP + STEP) + GAP
    height = 2 * EDGE + len(figures.inputs) * LANE - (LANE - HEIGHT)
    end = Box(right, EDGE, RESULTS, len(driving) * LANE - (LANE - HEIGHT))
    parts = [*_lanes(figures, width, right), *results(figures, end)]
    return canvas(end.right + EDGE, height, figures.plan, parts)


def _lanes(figures: Figures, width: int, right: int) -> Iterator[str]:
    """What drives first, because the box of results stands beside it and not beside the rest."""
    for row, item in enumerate(sorted(figures.inputs, key=lambda item: item.is_only_visited)):
        at = Box(EDGE, EDGE + row * LANE, width)
        yield from source(figures, item, at)
        if not item.is_only_visited:
            yield from _path(figures, item, at, right)


def _path(figures: Figures, item: InputFigures, at: Box, right: int) -> Iterator[str]:
    for visit in _chips(item):
        target = Box(at.right + GAP, at.y, STEP)
        yield arrow((at.right, at.middle), (target.x, at.middle))
        yield from _visit(figures, item, visit, target)
        at = target
    yield arrow((at.right, at.middle), (right, at.middle))


def _chips(item: InputFigures) -> tuple[Visit, ...]:
    """The visits to draw: new tuples only where they are not the outer loop."""
    return item.visits if item.visits[0].method else item.visits[1:]


def _visit(figures: Figures, item: InputFigures, visit: Visit, at: Box) -> Iterator[str]:
    checks = [c.predicate for c in figures.checks if (item.alias, visit.alias) in c.places]
    name = visit.alias if visit.method else f"new {visit.alias}"
    how = f"{visit.method} probe" if visit.method else "the new tuples"
    title = "\n".join([f"{how}: {name}", *checks])
    lines = (name, how, " AND ".join(checks))
    yield from box(at, "box visit", hue(figures, visit.alias), lines, title)

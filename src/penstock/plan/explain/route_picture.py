"""A mesh or an eddy as an SVG: a lane for every route, the stream left, its steps, the results."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from penstock.plan.explain.figures import Figures, InputFigures
from penstock.plan.explain.mesh import route_rows
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
from penstock.plan.mesh import Eddy, MeshJoin, Operator
from penstock.plan.mesh_text import operator_text
from penstock.plan.multiway import Probe


@dataclass(frozen=True)
class _Step:
    """A box of a lane: its lines, and the input whose colour it has."""

    lines: tuple[str, ...]
    alias: str | None = None


Lane = tuple[_Step, ...]


def route_picture(figures: Figures, plan: MeshJoin | Eddy) -> str:
    """An SVG element with the streams and their routes from top to bottom."""
    inputs = sorted(figures.inputs, key=lambda item: item.is_table)
    lanes = {item.alias: _lanes(plan, item) for item in inputs}
    rows = sum(max(1, len(each)) for each in lanes.values())
    steps = max(len(lane) for each in lanes.values() for lane in each)
    width = width_for(map(source_lines, figures.inputs))
    right = EDGE + width + max(steps, 1) * (GAP + STEP) + GAP
    height = rows * LANE - (LANE - HEIGHT)
    end = Box(right, EDGE, RESULTS, height)
    row = 0
    parts: list[str] = []
    for item in inputs:
        parts += _stream(figures, item, lanes[item.alias], Box(EDGE, EDGE + row * LANE, width), end)
        row += max(1, len(lanes[item.alias]))
    return canvas(
        end.right + EDGE, height + 2 * EDGE, figures.plan, [*parts, *results(figures, end)]
    )


def _stream(
    figures: Figures, item: InputFigures, lanes: tuple[Lane, ...], at: Box, end: Box
) -> Iterator[str]:
    yield from source(figures, item, at)
    for index, lane in enumerate(lanes):
        start, level = (at.right, at.middle), at.middle + index * LANE
        x = at.right
        for step in lane:
            target = Box(x + GAP, at.y + index * LANE, STEP)
            yield arrow(start, (target.x, level))
            colour = None if step.alias is None else hue(figures, step.alias)
            kind = "box join" if step.alias is None else "box visit"
            yield from box(target, kind, colour, step.lines, "\n".join(step.lines))
            x, start = target.right, (target.right, level)
        yield arrow(start, (end.x, level))


def _lanes(plan: MeshJoin | Eddy, item: InputFigures) -> tuple[Lane, ...]:
    if item.is_table:
        return ()
    if isinstance(plan, Eddy):
        return ((_Step(("eddy", "decides after each", f"for {plan.batch} at a time")),),)
    mesh = plan.mesh(item.alias)
    heads = [f"{name} · {share}" if item.way else "" for name, share, _, _ in route_rows(mesh)]
    return tuple(
        tuple(_step(stage, head) for stage in route.stages)
        for route, head in zip(mesh.routes, heads, strict=True)
    )


def _step(stage: tuple[Operator, ...], head: str) -> _Step:
    name = "|".join(map(operator_text, stage))
    probes = [o for o in stage if isinstance(o, Probe)]
    how = f"{probes[0].method} probe" if probes else "filter"
    return _Step((name, how, head), probes[0].target if len(stage) == 1 and probes else None)

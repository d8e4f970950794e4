"""The plan of a run as SVG: measured | estimated on every box and edge."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from penstock.plan.explain.quantity import figure, percent, shortened
from penstock.watch.plan_graph import PlanEdge, PlanGraph, PlanNode
from penstock.watch.report.markup import Markup, tag

_BOX, _TALL, _GAP, _BETWEEN = 168, 58, 104, 22
_MOST = 18
"""Characters that a box has room for."""
UNITS: Mapping[str, str] = {
    "input": "tuples/s",
    "filter": "out for one in",
    "probe": "out for one in",
    "join": "tuples kept",
    "results": "results/s",
}
"""What the figures of each kind of node are."""


@dataclass(frozen=True)
class _Place:
    x: float
    y: float


def plan_picture(graph: PlanGraph) -> Markup | None:
    """The picture as a figure; None before the first batch."""
    if not graph.nodes:
        return None
    places, width, height = _placed(graph)
    most = max((edge.measured or 0.0 for edge in graph.edges), default=0.0)
    flows = (part for edge in graph.edges for part in _flow(edge, places, most))
    boxes = (_box(node, places[node.id]) for node in graph.nodes)
    view = f"0 0 {width:.0f} {height:.0f}"
    label = f"The plan {graph.plan}"
    style = f"max-width: {width:.0f}px"
    svg = tag("svg", *flows, *boxes, viewBox=view, role="img", aria_label=label, style=style)
    caption = (
        "Measured | estimated, in the last batch. Widths are rates, colours shares of the time; "
        "a ring is where they differ by more than a factor of two."
    )
    return tag("figure", tag("div", svg, class_="scroll"), tag("figcaption", caption))


def both(measured: float | None, estimated: float | None) -> str:
    """`12 | 10`; what is not known is a dash."""
    return f"{figure(measured)} | {figure(estimated)}"


def _placed(graph: PlanGraph) -> tuple[dict[str, _Place], float, float]:
    """Columns by level, boxes of a column spread over the height."""
    columns: dict[int, list[PlanNode]] = {}
    for node in graph.nodes:
        columns.setdefault(node.level, []).append(node)
    height = max(map(len, columns.values())) * (_TALL + _BETWEEN)
    places = {}
    for column, level in enumerate(sorted(columns)):
        free = height / len(columns[level])
        for row, node in enumerate(columns[level]):
            y = 6 + row * free + (free - _TALL) / 2
            places[node.id] = _Place(6 + column * (_BOX + _GAP), y)
    return places, 12 + len(columns) * (_BOX + _GAP) - _GAP, height + 12


def _box(node: PlanNode, at: _Place) -> Markup:
    title = f"probe {node.name}" if node.kind == "probe" else node.name
    figures = both(node.measured, node.estimated)
    below = f"{percent(node.load)} of the time" if node.seconds else UNITS[node.kind]
    hue = f"--hue: {150 - 145 * min(node.load, 1.0):.0f}"
    ring = tag(
        "rect", x=at.x - 4, y=at.y - 4, width=_BOX + 8, height=_TALL + 8, rx=11, class_="ring"
    )
    return tag(
        "g",
        tag("title", f"{title}: {figures} {UNITS[node.kind]}. {node.formula}"),
        tag("rect", x=at.x, y=at.y, width=_BOX, height=_TALL, rx=8),
        ring if node.is_off else None,
        tag("text", shortened(title, _MOST), x=at.x + 10, y=at.y + 19, class_="name"),
        tag("text", figures, x=at.x + 10, y=at.y + 35),
        tag("text", below, x=at.x + 10, y=at.y + 50),
        class_="box source" if node.kind == "input" else f"box {node.kind}",
        style=hue,
    )


def _flow(edge: PlanEdge, places: Mapping[str, _Place], most: float) -> Iterator[Markup]:
    start, end = places.get(edge.start), places.get(edge.end)
    if start is None or end is None:
        return
    x, y, to, level = start.x + _BOX, start.y + _TALL / 2, end.x, end.y + _TALL / 2
    middle = (x + to) / 2
    part = math.sqrt((edge.measured or 0.0) / most) if most > 0 else 0.0
    path = f"M{x:.1f} {y:.1f}C{middle:.1f} {y:.1f} {middle:.1f} {level:.1f} {to:.1f} {level:.1f}"
    title = tag("title", f"{both(edge.measured, edge.estimated)} tuples/s")
    kind = "flow off" if edge.is_off else "flow"
    yield tag("path", title, d=path, class_=kind, style=f"stroke-width: {1.2 + 8 * part:.1f}px")
    above, below = f"{y - 8 - 4 * part:.1f}", f"{y + 15 + 4 * part:.1f}"
    yield tag("text", figure(edge.measured), x=f"{x + 4:.1f}", y=above, class_="rate")
    yield tag("text", f"| {figure(edge.estimated)}", x=f"{x + 4:.1f}", y=below, class_="rate")

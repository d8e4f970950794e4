"""The lines of the plan: each driver, its operators and where they lead, measured | estimated."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.plan.explain.quantity import figure, percent, shortened
from penstock.table import table
from penstock.watch.plan_graph import PlanEdge, PlanGraph, PlanNode
from penstock.watch.terminal.glyphs import printable

_WIDEST = 44
"""Characters of an operator that are shown."""
_ENDS = ("join", "results")
_UNITS = {"input": "tuples/s", "join": "tuples kept", "results": "results/s"}


def plan_lines(graph: PlanGraph) -> list[str]:
    """The plan and its operators; `!` is where the two differ by more than a factor of two."""
    if not graph.plan:
        return []
    rows = [row for node in graph.nodes for row in _from(graph, node)]
    heading = ["operator", "measured", "| estimated", "", "is", "of the time"]
    filling = [f"fills itself: {printable(', '.join(graph.filling))}"] if graph.filling else []
    standing = [f"      {printable(graph.standing)}"] if graph.standing else []
    plan = f"plan  {printable(graph.plan)}"
    return [plan, *standing, *filling, *(table(heading, rows) if rows else [])]


def _from(graph: PlanGraph, start: PlanNode) -> Iterator[list[str]]:
    """A driver, or the results, and the routes that begin there."""
    if start.kind not in ("input", *_ENDS):
        return
    yield _row(start, "", _UNITS[start.kind])
    nodes = {node.id: node for node in graph.nodes}
    for edge in graph.edges:
        if edge.start == start.id:
            yield from _route(graph, nodes, edge)


def _route(graph: PlanGraph, nodes: dict[str, PlanNode], edge: PlanEdge) -> Iterator[list[str]]:
    """The operators after an edge, up to a join that is kept, or the results."""
    for _ in nodes:
        node = nodes[edge.end]
        if node.kind in _ENDS:
            rates = [figure(edge.measured), f"| {figure(edge.estimated)}"]
            name = shortened(f"  → {printable(node.name)}", _WIDEST)
            yield [name, *rates, "!" if edge.is_off else "", "tuples/s", ""]
            return
        yield _row(node, "  probe " if node.kind == "probe" else "  ", "out for one in")
        after = next((each for each in graph.edges if each.start == node.id), None)
        if after is None:
            return
        edge = after


def _row(node: PlanNode, before: str, unit: str) -> list[str]:
    return [
        shortened(before + printable(node.name), _WIDEST),
        figure(node.measured),
        f"| {figure(node.estimated)}",
        "!" if node.is_off else "",
        unit,
        percent(node.load) if node.seconds else "",
    ]

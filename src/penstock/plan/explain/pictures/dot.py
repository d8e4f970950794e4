"""Explain as a Graphviz digraph."""

from __future__ import annotations

from penstock.plan.explain.figures import Figures
from penstock.plan.explain.pictures.graph import Edge, Node, alternatives_remark, graph_of

_SHAPES = {"stream": "box", "table": "cylinder", "probe": "box", "join": "box", "results": "oval"}
_STYLES = {
    "stream": "rounded,bold",
    "table": "dashed",
    "probe": "solid",
    "join": "solid",
    "results": "bold",
}


def as_dot(figures: Figures) -> str:
    """A digraph from left to right, for `dot -Tsvg`."""
    graph = graph_of(figures)
    lines = [
        *(f"// {remark}" for remark in alternatives_remark(figures)),
        "rankdir=LR;",
        'node [fontname="Helvetica", fontsize=11];',
        *map(dot_node, graph.nodes),
        *map(dot_edge, graph.edges),
    ]
    return "\n".join(["digraph plan {", *(f"  {line}" for line in lines), "}"]) + "\n"


def dot_node(node: Node) -> str:
    """A box."""
    label = r"\n".join(_escape(line) for line in node.lines)
    shape, style = _SHAPES[node.kind], _STYLES[node.kind]
    return f'{node.id} [label="{label}", shape={shape}, style="{style}"];'


def dot_edge(edge: Edge) -> str:
    """An arrow."""
    return f"{edge.start} -> {edge.end}{' [style=dashed]' if edge.is_dotted else ''};"


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")

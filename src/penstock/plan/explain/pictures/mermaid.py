"""Explain as a Mermaid flowchart, which GitHub and most wikis draw."""

from __future__ import annotations

from penstock.plan.explain.figures import Figures
from penstock.plan.explain.pictures.graph import Edge, Node, alternatives_remark, graph_of

_BRACKETS = {
    "stream": ("(", ")"),
    "table": ("[(", ")]"),
    "probe": ("[", "]"),
    "join": ("[", "]"),
    "results": ("([", "])"),
}

# Inside a quoted label Mermaid reads `#59;` as the character of that number.
_ENTITIES = {ord(sign): f"#{ord(sign)};" for sign in '#"<>&`;\\'} | {ord("\n"): " "}


def as_mermaid(figures: Figures) -> str:
    """A flowchart from left to right."""
    graph = graph_of(figures)
    remarks = (f"%% {remark}" for remark in alternatives_remark(figures))
    lines = [*remarks, *map(mermaid_node, graph.nodes), *map(mermaid_edge, graph.edges)]
    return "\n".join(["flowchart LR", *(f"  {line}" for line in lines)]) + "\n"


def mermaid_node(node: Node) -> str:
    """A box."""
    opening, closing = _BRACKETS[node.kind]
    label = "<br/>".join(map(label_of, node.lines))
    return f'{node.id}{opening}"{label}"{closing}'


def mermaid_edge(edge: Edge) -> str:
    """An arrow."""
    return f"{edge.start} {'-.->' if edge.is_dotted else '-->'} {edge.end}"


def label_of(text: str) -> str:
    """A text as it stands in a quoted label."""
    return text.translate(_ENTITIES)

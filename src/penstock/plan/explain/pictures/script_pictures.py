"""A script as one picture: its queries as boxes around their plans, with arrows between them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from penstock.plan.explain.figures import Figures
from penstock.plan.explain.pictures.dot import dot_edge, dot_node
from penstock.plan.explain.pictures.graph import Edge, Graph, graph_of
from penstock.plan.explain.pictures.html import page_body, page_head
from penstock.plan.explain.pictures.mermaid import label_of, mermaid_edge, mermaid_node
from penstock.plan.explain.script import title, total_lines
from penstock.plan.script import PlannedScript
from penstock.query.script import Member

_AFTER = ("view", "out")
"""The boxes of a query that come after its joins."""


def script_mermaid(planned: PlannedScript, figures: dict[str, Figures]) -> str:
    """A flowchart from left to right, with a subgraph for each query."""
    lines = ["flowchart LR"]
    for index, member in enumerate(planned.script.members):
        graph = _own(index, member, figures[member.name])
        lines.append(f'  subgraph q{index}["{label_of(title(member))}"]')
        lines += [f"    {mermaid_node(node)}" for node in graph.nodes]
        lines += [f"    {mermaid_edge(edge)}" for edge in graph.edges]
        lines.append("  end")
    lines += [f"  {mermaid_edge(edge)}" for edge in _between(planned)]
    return "\n".join(lines) + "\n"


def script_dot(planned: PlannedScript, figures: dict[str, Figures]) -> str:
    """A digraph from left to right, with a cluster for each query."""
    lines = ["digraph script {", "  rankdir=LR;", '  node [fontname="Helvetica", fontsize=11];']
    for index, member in enumerate(planned.script.members):
        graph = _own(index, member, figures[member.name])
        named = title(member).replace("\\", "\\\\").replace('"', '\\"')
        lines.append(f'  subgraph cluster_{index} {{ label="{named}"; fontname="Helvetica";')
        lines += [f"    {dot_node(node)}" for node in graph.nodes]
        lines += [f"    {dot_edge(edge)}" for edge in graph.edges]
        lines.append("  }")
    lines += [f"  {dot_edge(edge)}" for edge in _between(planned)]
    return "\n".join([*lines, "}"]) + "\n"


def script_html(planned: PlannedScript, figures: dict[str, Figures]) -> str:
    """One page: the script and its total, then every query as on a page of its own."""
    names = ", ".join(member.name for member in planned.script.members)
    first, *rest = total_lines(planned)
    parts = list(page_head("script", names, [first, *rest], planned.script.text))
    for member in planned.script.members:
        own = figures[member.name]
        parts += page_body(own, title(member))
    return "\n".join([*parts, "</main></body></html>"]) + "\n"


def _own(index: int, member: Member, figures: Figures) -> Graph:
    """The picture of a query, with names that no other query's has; of one that takes combinations,
    what comes after these."""
    graph = graph_of(figures)
    if member.takes is not None:
        edges = tuple(edge for edge in graph.edges if edge.start in _AFTER)
        graph = Graph(tuple(node for node in graph.nodes if node.id in _AFTER), edges)
    return Graph(
        tuple(replace(node, id=_id(index, node.id)) for node in graph.nodes),
        tuple(
            Edge(_id(index, edge.start), _id(index, edge.end), edge.is_dotted)
            for edge in graph.edges
        ),
    )


def _id(index: int, node: str) -> str:
    return f"q{index}_{node}"


def _between(planned: PlannedScript) -> Iterator[Edge]:
    """The arrows from the results of queries to the inputs that are these results."""
    members = planned.script.members
    places = {member.name: index for index, member in enumerate(members)}
    for index, member in enumerate(members):
        for maker, place in _made_inputs(member):
            yield Edge(_id(places[maker], "out"), _id(index, f"in{place}"))
        if member.takes is not None:
            first = "out" if member.query.view is None else "view"
            yield Edge(_id(places[member.takes.maker], "out"), _id(index, first))


def _made_inputs(member: Member) -> Iterator[tuple[str, int]]:
    if member.takes is not None:
        return
    for place, item in enumerate(member.query.inputs):
        for maker in item.source.makers:
            yield maker, place

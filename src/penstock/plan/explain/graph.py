"""The picture of a plan as nodes and edges: one lane a stream, from its window to the results."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from penstock.plan.explain.figures import Figures, InputFigures
from penstock.plan.explain.text import rate_text


@dataclass(frozen=True)
class Node:
    """A box with lines of text in it."""

    id: str
    kind: Literal["stream", "table", "probe", "results"]
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Edge:
    """An arrow that tuples take, or, if dotted, a table being looked at."""

    start: str
    end: str
    is_dotted: bool = False


@dataclass(frozen=True)
class Graph:
    """What Mermaid and DOT draw."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]


def graph_of(figures: Figures) -> Graph:
    """The inputs on the left, the visits of each stream's new tuples, the results on the right."""
    inputs = tuple(_input(index, item) for index, item in enumerate(figures.inputs))
    probes = tuple(node for index in range(len(inputs)) for node in _probes(figures, index))
    results = Node("out", "results", ("results", f"columns: {len(figures.outputs)}"))
    edges = tuple(edge for index in range(len(inputs)) for edge in _edges(figures, index))
    return Graph((*inputs, *probes, results), edges)


def _input(index: int, item: InputFigures) -> Node:
    if item.is_table:
        return Node(f"in{index}", "table", (item.alias, "table", *item.filters))
    rate = f"in {rate_text(item)}"
    return Node(f"in{index}", "stream", (item.alias, item.window, *item.filters, rate))


def _probes(figures: Figures, index: int) -> Iterator[Node]:
    for step, visit in enumerate(figures.inputs[index].visits):
        if visit.method is not None:
            yield Node(f"p{index}_{step}", "probe", (f"probe {visit.alias}", visit.method))


def _edges(figures: Figures, index: int) -> Iterator[Edge]:
    item = figures.inputs[index]
    if item.is_table:
        return
    path = [
        f"in{index}" if visit.method is None else f"p{index}_{step}"
        for step, visit in enumerate(item.visits)
    ]
    for start, end in zip(path, [*path[1:], "out"], strict=True):
        yield Edge(start, end)
    tables = {other.alias: f"in{i}" for i, other in enumerate(figures.inputs) if other.is_table}
    for node, visit in zip(path, item.visits, strict=True):
        if visit.alias in tables:
            yield Edge(tables[visit.alias], node, is_dotted=True)

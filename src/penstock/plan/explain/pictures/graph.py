"""The picture of a plan as nodes and edges, from the inputs' windows to the results."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Literal, assert_never

from penstock.plan.explain.figures import Figures, InputFigures
from penstock.plan.explain.mesh import route_rows
from penstock.plan.explain.quantity import is_shed, percent
from penstock.plan.explain.rows import early_text, head_rate, out_text, rate_text
from penstock.plan.mesh import Eddy, MeshJoin
from penstock.plan.multiway import MultiwayJoin
from penstock.plan.text.shape import render_shape
from penstock.plan.tree import Leaf, TreeJoin, branches
from penstock.plan.tree import Node as Part


@dataclass(frozen=True)
class Node:
    """A box with lines of text in it."""

    id: str
    kind: Literal["stream", "table", "probe", "join", "results"]
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Edge:
    """An arrow that tuples take, or, if dotted, an input being looked at."""

    start: str
    end: str
    is_dotted: bool = False


@dataclass(frozen=True)
class Graph:
    """The nodes and edges that Mermaid and DOT draw."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]


_TOLD = (Edge("view", "out"),)


def graph_of(figures: Figures) -> Graph:
    """The inputs on the left, what is done with their tuples, the results on the right."""
    plan = figures.decision.plan
    inputs = tuple(_input(index, item) for index, item in enumerate(figures.inputs))
    word, rate = head_rate(figures)
    columns = f"columns: {len(figures.outputs)}"
    results = Node("out", "results", (word, f"out {rate}", columns))
    match plan:
        case TreeJoin():
            steps, edges = _joins(figures), _join_edges(figures, plan)
        case MultiwayJoin() | MeshJoin() | Eddy():
            steps = chain(_probes(figures), _ways(figures))
            edges = chain(_probe_edges(figures), _way_edges(figures))
        case _:
            assert_never(plan)
    view = tuple(_view(figures))
    if view:
        edges = chain((replace(e, end="view") if e.end == "out" else e for e in edges), _TOLD)
    return Graph((*inputs, *steps, *view, results), tuple(edges))


def _view(figures: Figures) -> Iterator[Node]:
    """The box in which a view aggregates what the joins find."""
    view = figures.view
    if view is not None:
        by = f"by {', '.join(view.groups)}" if view.groups else "in total"
        how = "kept from batch to batch" if figures.recompute is None else "recomputed"
        having = [f"having {view.having}"] if view.having else []
        top = view.top or ""
        lines = ("view", by, ", ".join(view.aggregates), *having, top, view.when, how)
        yield Node("view", "join", tuple(line for line in lines if line))


def alternatives_remark(figures: Figures) -> list[str]:
    """Where alternatives are asked for and a picture has no place for them: who has."""
    count = len(figures.decision.others)
    return [f"alternatives: {count}, listed by text, json and html"] if figures.alternatives else []


def _input(index: int, item: InputFigures) -> Node:
    early = () if item.early_by is None else (f"early {early_text(item)}",)
    if item.is_table:
        return Node(f"in{index}", "table", (item.name, "table", *item.filters, *early))
    rate = f"in {rate_text(item)}" + (f", keep {percent(item.keep)}" if is_shed(item.keep) else "")
    return Node(f"in{index}", "stream", (item.name, item.window, *item.filters, rate, *early))


def _ways(figures: Figures) -> Iterator[Node]:
    """A box for each route of a mesh of several, and one for the eddy of a stream."""
    for name, item, lines in _boxes(figures):
        kind: Literal["probe", "join"] = "join" if len(lines) == 1 else "probe"
        yield Node(name, kind, (f"{item.alias}: {lines[0]}", *lines[1:]))


def _way_edges(figures: Figures) -> Iterator[Edge]:
    aliases = [item.alias for item in figures.inputs]
    for name, item, _ in _boxes(figures):
        yield Edge(f"in{aliases.index(item.alias)}", name)
        yield Edge(name, "out")


def _boxes(figures: Figures) -> Iterator[tuple[str, InputFigures, tuple[str, ...]]]:
    plan = figures.decision.plan
    for index, item in enumerate(figures.inputs):
        if isinstance(plan, MeshJoin) and item.way:
            for step, (route, share, _, stages) in enumerate(route_rows(plan.mesh(item.alias))):
                yield f"r{index}_{step}", item, (f"{route}, {share}", stages)
        elif item.way:
            yield f"e{index}", item, (item.way,)


def _probes(figures: Figures) -> Iterator[Node]:
    for index, item in enumerate(figures.inputs):
        if item.way:
            continue
        for step, visit in enumerate(item.visits):
            if visit.method is not None:
                yield Node(f"p{index}_{step}", "probe", (f"probe {visit.alias}", visit.method))


def _probe_edges(figures: Figures) -> Iterator[Edge]:
    """The way of each stream's new tuples, and the inputs that go nowhere but are looked at."""
    visited = {
        item.alias: f"in{i}" for i, item in enumerate(figures.inputs) if item.is_only_visited
    }
    for index, item in enumerate(figures.inputs):
        if item.way:
            continue
        path = [
            f"in{index}" if visit.method is None else f"p{index}_{step}"
            for step, visit in enumerate(item.visits)
        ]
        for start, end in zip(path, [*path[1:], "out"], strict=True) if path else ():
            yield Edge(start, end)
        for node, visit in zip(path, item.visits, strict=True):
            if visit.alias in visited:
                yield Edge(visited[visit.alias], node, is_dotted=True)


def _joins(figures: Figures) -> Iterator[Node]:
    for index, join in enumerate(figures.joins):
        rate = f"out {out_text(figures, join.rate)}"
        yield Node(f"j{index}", "join", (f"join {join.shape}", join.how, rate))


def _join_edges(figures: Figures, plan: TreeJoin) -> Iterator[Edge]:
    shapes = [join.shape for join in figures.joins]

    def name(part: Part) -> str:
        if isinstance(part, Leaf):
            return f"in{figures.query.aliases.index(part.alias)}"
        return f"j{shapes.index(render_shape(part))}"

    for branch in branches(plan.root):
        for side in (branch.left, branch.right):
            is_table = isinstance(side, Leaf) and figures.input(side.alias).is_table
            yield Edge(name(side), name(branch), is_dotted=is_table)
    yield Edge(name(plan.root), "out")

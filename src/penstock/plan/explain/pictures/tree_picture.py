"""A join tree as an SVG: the inputs left, from top to bottom, joined two by two to the results."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from penstock.plan.explain.figures import Figures
from penstock.plan.explain.joins import JoinFigures
from penstock.plan.explain.pictures.svg import (
    BETWEEN,
    EDGE,
    GAP,
    Box,
    Lines,
    Page,
    arrow,
    box,
    canvas,
    down,
    ends_below,
    ends_beside,
    height_for,
    source,
    source_lines,
    through,
    width_for,
)
from penstock.plan.explain.quantity import number, roughly
from penstock.plan.explain.rows import out_text
from penstock.plan.text.shape import render_shape
from penstock.plan.tree import Leaf, Node, TreeJoin, leaves

# Arrows from the two sides of a join end so far above and below its middle.
_APART = 14
# In an outline each join stands so far left of its sides.
_INDENT = 26


@dataclass(frozen=True)
class _Grid:
    """Inputs in the first column, each in a row of its own; a join right of both its sides."""

    figures: Figures
    order: tuple[str, ...]
    source: int
    join: int
    height: int

    def place(self, node: Node) -> Box:
        """The box of a node; that of a join is midway between its sides."""
        if isinstance(node, Leaf):
            y = EDGE + self.order.index(node.alias) * (self.height + BETWEEN)
            return Box(EDGE, y, self.source, self.height)
        sides = (self.place(node.left), self.place(node.right))
        x = EDGE + self.source + GAP + (_depth(node) - 1) * (self.join + GAP)
        return Box(x, sum(side.y for side in sides) // 2, self.join, self.height)


def tree_picture(figures: Figures, plan: TreeJoin, page: Page) -> str:
    """An SVG element with the tree lying on its side, or as an outline where that is too wide."""
    grid = _grid(figures, plan)
    lying = _lying(grid, plan)
    return lying[0] if lying[1] <= page.width else _outline(figures, plan, page)


def _grid(figures: Figures, plan: TreeJoin) -> _Grid:
    sources, joins = map(source_lines, figures.inputs), [_lines(figures, j) for j in figures.joins]
    width, other = width_for(map(source_lines, figures.inputs)), width_for(joins or [("",)])
    heights = [height_for(lines, width) for lines in sources]
    heights += [height_for(lines, other) for lines in joins]
    return _Grid(figures, leaves(plan.root), width, other, max(heights))


def _lying(grid: _Grid, plan: TreeJoin) -> tuple[str, int]:
    """The tree lying on its side, and how wide it is.

    No line crosses a box: the inputs of a sub-tree are neighbours, a join lies between the rows of
    its own inputs, and lines change height only in the gap before the join that they lead to.
    """
    last = grid.place(plan.root)
    height = len(grid.order) * (grid.height + BETWEEN) - BETWEEN
    ends, end = ends_beside(grid.figures, Box(last.right + GAP, EDGE, 0, height))
    parts = [
        *_node(grid, plan.root),
        arrow((last.right, last.middle), (last.right + GAP, last.middle)),
        ends,
    ]
    width = end.right + EDGE
    bottom = max(EDGE + height, end.bottom) + EDGE
    return canvas(width, bottom, grid.figures.plan, parts), width


def _node(grid: _Grid, node: Node) -> Iterator[str]:
    at = grid.place(node)
    if isinstance(node, Leaf):
        yield from source(grid.figures, grid.figures.input(node.alias), at)
        return
    for side, apart in ((node.left, -_APART), (node.right, _APART)):
        yield from _node(grid, side)
        start = grid.place(side)
        yield arrow((start.right, start.middle), (at.x, at.middle + apart))
    yield from _join_box(grid.figures, grid.figures.join(render_shape(node)), at)


def _outline(figures: Figures, plan: TreeJoin, page: Page) -> str:
    """The tree as a list, each join below its two sides and further to the left."""
    deepest = _depth(plan.root)
    texts = [*map(source_lines, figures.inputs), *(_lines(figures, join) for join in figures.joins)]
    width = min(width_for(texts), page.width - 2 * EDGE - deepest * _INDENT)
    width = max(width, 160)
    parts: list[str] = []

    def put(node: Node, level: int, top: int) -> Box:
        x = EDGE + level * _INDENT
        if isinstance(node, Leaf):
            item = figures.input(node.alias)
            at = Box(x, top, width, height_for(source_lines(item), width))
            parts.extend(source(figures, item, at))
            return at
        join = figures.join(render_shape(node))
        left = put(node.left, level + 1, top)
        right = put(node.right, level + 1, left.bottom + BETWEEN)
        at = Box(x, right.bottom + BETWEEN, width, height_for(_lines(figures, join), width))
        parts.extend(_join_box(figures, join, at))
        for side, turn in ((left, 8), (right, 16)):
            start = (side.x - 3, side.middle)
            parts.append(through(start, f"H{x + turn}V{at.y - 3}"))
        return at

    last = put(plan.root, 0, EDGE)
    below, end = ends_below(figures, Box(EDGE, last.bottom + BETWEEN, width))
    parts += [down((EDGE + EDGE, last.bottom), last.bottom + BETWEEN), below]
    right = EDGE + deepest * _INDENT + width + EDGE
    return canvas(right, end.bottom + EDGE, figures.plan, parts)


def _join_box(figures: Figures, join: JoinFigures, at: Box) -> Iterator[str]:
    checks = [c.predicate for c in figures.checks if (None, join.shape) in c.places]
    title = "\n".join([f"join {join.shape} {join.phrase}", *checks])
    yield from box(at, "box join", None, _lines(figures, join), title)


def _lines(figures: Figures, join: JoinFigures) -> Lines:
    sign = "×" if join.is_product else "⋈"
    state = roughly(number(join.state), figures.are_results_guessed)
    kept = f"state {state}" if join.state else ""
    return (f"{sign} {join.how}", f"out {out_text(figures, join.rate)}", kept)


def _depth(node: Node) -> int:
    return 0 if isinstance(node, Leaf) else 1 + max(_depth(node.left), _depth(node.right))

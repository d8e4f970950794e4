"""A join tree as an SVG: the inputs left, from top to bottom, joined two by two to the results."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from penstock.plan.explain.figures import Figures
from penstock.plan.explain.joins import JoinFigures
from penstock.plan.explain.quantity import number, roughly
from penstock.plan.explain.rows import out_text
from penstock.plan.explain.svg import (
    EDGE,
    GAP,
    HEIGHT,
    LANE,
    RESULTS,
    Box,
    arrow,
    box,
    canvas,
    results,
    source,
    source_lines,
    width_for,
)
from penstock.plan.shape import render_shape
from penstock.plan.tree import Leaf, Node, TreeJoin, leaves

# Arrows from the two sides of a join end so far above and below its middle.
_APART = 14


@dataclass(frozen=True)
class _Grid:
    """Inputs in the first column, each in a row of its own; a join right of both its sides."""

    figures: Figures
    order: tuple[str, ...]
    source: int
    join: int

    def place(self, node: Node) -> Box:
        """The box of a node; that of a join is midway between its sides."""
        if isinstance(node, Leaf):
            return Box(EDGE, EDGE + self.order.index(node.alias) * LANE, self.source)
        sides = (self.place(node.left), self.place(node.right))
        x = EDGE + self.source + GAP + (_height(node) - 1) * (self.join + GAP)
        return Box(x, sum(side.y for side in sides) // 2, self.join)


def tree_picture(figures: Figures, plan: TreeJoin) -> str:
    """An SVG element with the tree lying on its side.

    No line crosses a box: the inputs of a sub-tree are neighbours, a join lies between the rows of
    its own inputs, and lines change height only in the gap before the join that they lead to.
    """
    grid = _Grid(
        figures,
        leaves(plan.root),
        width_for(map(source_lines, figures.inputs)),
        width_for(_lines(figures, join) for join in figures.joins),
    )
    last = grid.place(plan.root)
    height = len(grid.order) * LANE - (LANE - HEIGHT)
    end = Box(last.right + GAP, EDGE, RESULTS, height)
    parts = [
        *_node(grid, plan.root),
        arrow((last.right, last.middle), (end.x, last.middle)),
        *results(figures, end),
    ]
    return canvas(end.right + EDGE, height + 2 * EDGE, figures.plan, parts)


def _node(grid: _Grid, node: Node) -> Iterator[str]:
    at = grid.place(node)
    if isinstance(node, Leaf):
        yield from source(grid.figures, grid.figures.input(node.alias), at)
        return
    for side, apart in ((node.left, -_APART), (node.right, _APART)):
        yield from _node(grid, side)
        start = grid.place(side)
        yield arrow((start.right, start.middle), (at.x, at.middle + apart))
    join = grid.figures.join(render_shape(node))
    checks = [c.predicate for c in grid.figures.checks if (None, join.shape) in c.places]
    title = "\n".join([f"join {join.shape} {join.phrase}", *checks])
    yield from box(at, "box join", None, _lines(grid.figures, join), title)


def _lines(figures: Figures, join: JoinFigures) -> tuple[str, ...]:
    sign = "×" if join.is_product else "⋈"
    state = roughly(number(join.state), figures.are_results_guessed)
    kept = f"state {state}" if join.state else ""
    return (f"{sign} {join.how}", f"out {out_text(figures, join.rate)}", kept)


def _height(node: Node) -> int:
    return 0 if isinstance(node, Leaf) else 1 + max(_height(node.left), _height(node.right))

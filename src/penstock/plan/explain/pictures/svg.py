"""Boxes and arrows of the pictures, whose colours come from the page's style."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from html import escape

from penstock.plan.explain.figures import Figures, InputFigures
from penstock.plan.explain.quantity import is_shed, percent
from penstock.plan.explain.rows import early_text, head_rate, out_text, rate_text, state_text

GAP, BETWEEN, EDGE = 44, 28, 12
STEP, VIEW, RESULTS = 172, 232, 172
_LEAST, _HEAD, _LINE = 76, 38, 19
_NARROW, _WIDE = 190, 320
_PADDING, _CHARACTER, _NAME = 28, 7.4, 8.7

# Neighbours on this ring of hues differ for the colour-blind too; it starts again after eight.
_HUES = (212, 28, 160, 330, 265, 48, 190, 5)

Lines = tuple[str, ...]
"""What a box says: its name first; lines that are too long are wrapped, empty ones left out."""


@dataclass(frozen=True)
class Page:
    """How wide a picture may be; on a narrow page what would stand on the right stands below."""

    width: int
    is_narrow: bool


WIDE, NARROW = Page(1200, is_narrow=False), Page(600, is_narrow=True)


@dataclass(frozen=True)
class Box:
    """A rectangle, by its upper left corner."""

    x: int
    y: int
    width: int
    height: int = _LEAST

    @property
    def right(self) -> int:
        return self.x + self.width

    @property
    def bottom(self) -> int:
        return self.y + self.height

    @property
    def middle(self) -> int:
        return self.y + self.height // 2


def canvas(width: int, height: int, label: str, parts: Iterable[str]) -> str:
    """An SVG element of that size."""
    head = (
        f'<svg viewBox="0 0 {width} {height}" style="max-width:{width}px" role="img" '
        f'aria-label="The plan: {escape(label)}">',
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z"/></marker></defs>',
    )
    return "\n".join([*head, *parts, "</svg>"])


def hue(figures: Figures, alias: str) -> int:
    """The colour of an input, the same wherever it is shown."""
    aliases = [item.alias for item in figures.inputs]
    return _HUES[aliases.index(alias) % len(_HUES)]


def width_for(boxes: Iterable[Lines]) -> int:
    """A width for boxes with these lines; longer ones are wrapped."""
    longest = max(
        len(line) * (_CHARACTER if index else _NAME)
        for lines in boxes
        for index, line in enumerate(lines)
    )
    return min(max(round(longest) + _PADDING + 4, _NARROW), _WIDE)


def height_for(lines: Lines, width: int) -> int:
    """The height of a box of that width in which these lines fit."""
    return max(_LEAST, _HEAD + _LINE * (len(_wrapped(lines, width)) - 1))


def source_lines(item: InputFigures) -> Lines:
    """The lines in the box of an input."""
    last = [f"{state_text(item)} rows" if item.is_table else f"in {rate_text(item)}"]
    if is_shed(item.keep):
        last.append(f"keep {percent(item.keep)}")
    if item.filters:
        last.append(f"{len(item.filters)} filter{'s'[: len(item.filters) > 1]}")
    early = "" if item.early_by is None else f"folded {early_text(item)}"
    return (item.name, item.window, " · ".join(last), early)


def source(figures: Figures, item: InputFigures, at: Box) -> Iterator[str]:
    """The box of an input."""
    kind = "box table" if item.is_table else "box source"
    title = "\n".join([f"{item.alias}: {item.source}", item.window, *item.filters])
    yield from box(at, kind, hue(figures, item.alias), source_lines(item), title)


def ends_width(figures: Figures) -> int:
    """The width of the boxes behind the joins on a wide page, with the gaps between them."""
    return RESULTS + (0 if figures.view is None else VIEW + GAP)


def ends_beside(figures: Figures, at: Box) -> tuple[str, Box]:
    """The view, if there is one, and the results, from `at` to the right, each as high as that."""
    texts = _ends(figures)
    height = max(at.height, *(height_for(lines, width) for _, lines, _, width in texts))
    parts: list[str] = []
    here = replace(at, width=0, height=height)
    for kind, lines, title, width in texts:
        if parts:
            parts.append(arrow((here.right, here.middle), (here.right + GAP, here.middle)))
            here = replace(here, x=here.right + GAP)
        here = replace(here, width=width)
        parts += box(here, kind, None, lines, title)
    return "\n".join(parts), here


def ends_below(figures: Figures, at: Box) -> tuple[str, Box]:
    """The same below one another, the first of them at `at`."""
    parts: list[str] = []
    here = at
    for kind, lines, title, _ in _ends(figures):
        if parts:
            start = (here.x + EDGE, here.bottom)
            here = replace(here, y=here.bottom + BETWEEN)
            parts.append(down(start, here.y))
        here = replace(here, height=height_for(lines, here.width))
        parts += box(here, kind, None, lines, title)
    return "\n".join(parts), here


def _ends(figures: Figures) -> list[tuple[str, Lines, str, int]]:
    """Kind, lines, title and width of the boxes behind the joins."""
    view, names = figures.view, ", ".join(name for name, _ in figures.outputs)
    title = "\n".join(f"{name} = {expression}" for name, expression in figures.outputs)
    word, rate = head_rate(figures)
    results = ("box results", (word, f"out {rate}", names), title, RESULTS)
    if view is None:
        return [results]
    lines = (
        "view",
        f"by {', '.join(view.groups)}" if view.groups else "in total",
        ", ".join(view.aggregates),
        f"having {view.having}" if view.having else "",
        view.top or "",
        view.when,
        "kept from batch to batch" if figures.recompute is None else "recomputed in each batch",
        f"join results {out_text(figures, figures.estimate.output_rate)}",
    )
    return [("box view", lines, str(view), VIEW), results]


def box(at: Box, kind: str, hue: int | None, lines: Lines, title: str) -> Iterator[str]:
    """A box with lines of text, the first of them its name; the title shows on hovering."""
    style = "" if hue is None else f' style="--hue:{hue}"'
    yield f'<g class="{kind}"{style}><title>{escape(title)}</title>'
    yield f'<rect x="{at.x}" y="{at.y}" width="{at.width}" height="{at.height}" rx="9"/>'
    for index, (line, is_name) in enumerate(_wrapped(lines, at.width)):
        name = ' class="name"' if is_name else ""
        yield f'<text x="{at.x + 14}" y="{at.y + 26 + _LINE * index}"{name}>{escape(line)}</text>'
    yield "</g>"


def _wrapped(lines: Lines, width: int) -> list[tuple[str, bool]]:
    """The lines as they stand in a box of that width, and whether they are of its name."""
    found = []
    for index, line in enumerate(line for line in lines if line):
        room = int((width - _PADDING) / (_CHARACTER if index else _NAME))
        found += [(part, not index) for part in textwrap.wrap(line, room, break_on_hyphens=False)]
    return found


def arrow(start: tuple[int, int], end: tuple[int, int]) -> str:
    """An arrow to the right; where it changes height it does so just before its end."""
    (x, y), (to, level) = start, end
    bend = "" if y == level else f"H{to - GAP // 2}V{level}"
    return _flow(f"M{x + 3} {y}{bend}H{to - 3}")


def down(start: tuple[int, int], end: int) -> str:
    """An arrow straight down to that height."""
    return _flow(f"M{start[0]} {start[1] + 3}V{end - 3}")


def through(start: tuple[int, int], *turns: str) -> str:
    """An arrow along `H` and `V` moves."""
    return _flow(f"M{start[0]} {start[1]}{''.join(turns)}")


def _flow(path: str) -> str:
    return f'<path class="flow" d="{path}" marker-end="url(#tip)"/>'

"""Boxes and arrows of the pictures, whose colours come from the page's style."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape

from penstock.plan.explain.figures import Figures, InputFigures
from penstock.plan.explain.quantity import is_shed, percent, shortened
from penstock.plan.explain.rows import out_text, rate_text, state_text

GAP, LANE, HEIGHT, EDGE = 44, 104, 76, 12
STEP, RESULTS = 172, 172
_NARROW, _WIDE = 190, 320
_PADDING, _CHARACTER, _NAME = 28, 7.4, 8.7

# Neighbours on this ring of hues differ for the colour-blind too; it starts again after eight.
_HUES = (212, 28, 160, 330, 265, 48, 190, 5)


@dataclass(frozen=True)
class Box:
    """A rectangle, by its upper left corner."""

    x: int
    y: int
    width: int
    height: int = HEIGHT

    @property
    def right(self) -> int:
        return self.x + self.width

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


def width_for(boxes: Iterable[tuple[str, ...]]) -> int:
    """A width for boxes with these lines, the first of each its name; longer ones are cut."""
    longest = max(
        len(line) * (_CHARACTER if index else _NAME)
        for lines in boxes
        for index, line in enumerate(lines)
    )
    return min(max(round(longest) + _PADDING + 4, _NARROW), _WIDE)


def source_lines(item: InputFigures) -> tuple[str, ...]:
    """What the box of an input says."""
    last = [f"{state_text(item)} rows" if item.is_table else f"in {rate_text(item)}"]
    if is_shed(item.keep):
        last.append(f"keep {percent(item.keep)}")
    if item.filters:
        last.append(f"{len(item.filters)} filter{'s'[: len(item.filters) > 1]}")
    return (item.alias, item.window, " · ".join(last))


def source(figures: Figures, item: InputFigures, at: Box) -> Iterator[str]:
    """The box of an input."""
    kind = "box table" if item.is_table else "box source"
    title = "\n".join([f"{item.alias}: {item.source}", item.window, *item.filters])
    yield from box(at, kind, hue(figures, item.alias), source_lines(item), title)


def results(figures: Figures, at: Box) -> Iterator[str]:
    """The box of the results: how many, and their columns, as many as fit."""
    room = (at.height - 53) // 19
    names = [name for name, _ in figures.outputs]
    shown = names if len(names) <= room else [*names[: room - 1], f"… {len(names) - room + 1} more"]
    rate = f"out {out_text(figures, figures.estimate.output_rate)}"
    title = "\n".join(f"{name} = {expression}" for name, expression in figures.outputs)
    yield from box(at, "box results", None, ("results", rate, *shown), title)


def box(at: Box, kind: str, hue: int | None, lines: tuple[str, ...], title: str) -> Iterator[str]:
    """A box with lines of text, the first of them its name; the title shows on hovering."""
    style = "" if hue is None else f' style="--hue:{hue}"'
    yield f'<g class="{kind}"{style}><title>{escape(title)}</title>'
    yield f'<rect x="{at.x}" y="{at.y}" width="{at.width}" height="{at.height}" rx="9"/>'
    for index, line in enumerate(line for line in lines if line):
        name = "" if index else ' class="name"'
        room = int((at.width - _PADDING) / (_CHARACTER if index else _NAME))
        text = shortened(line, room)
        yield f'<text x="{at.x + 14}" y="{at.y + 26 + 19 * index}"{name}>{escape(text)}</text>'
    yield "</g>"


def arrow(start: tuple[int, int], end: tuple[int, int]) -> str:
    """An arrow to the right; where it changes height it does so just before its end."""
    (x, y), (to, level) = start, end
    bend = "" if y == level else f"H{to - GAP // 2}V{level}"
    return f'<path class="flow" d="M{x + 3} {y}{bend}H{to - 3}" marker-end="url(#tip)"/>'

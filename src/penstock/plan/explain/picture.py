"""The plan as an SVG: a lane for each stream, its window left, its visits, the results right."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from penstock.plan.explain.figures import Figures, InputFigures, Visit
from penstock.plan.explain.text import rate_text

_STEP, _RESULTS, _GAP = 172, 172, 44
_LANE, _BOX, _EDGE = 104, 76, 12
_NARROW, _WIDE = 190, 320
_CHARACTER = 7.4

# Neighbours on this ring of hues differ for the colour-blind too; it starts again after eight.
_HUES = (212, 28, 160, 330, 265, 48, 190, 5)


@dataclass(frozen=True)
class _Box:
    x: int
    y: int
    width: int
    height: int = _BOX

    @property
    def middle(self) -> int:
        return self.y + self.height // 2


def picture(figures: Figures) -> str:
    """An SVG element whose colours come from the page's style."""
    streams = [item for item in figures.inputs if not item.is_table]
    steps = max(max(len(_chips(item)) for item in streams), 1)
    source = _source_width(figures)
    right = _EDGE + source + steps * (_GAP + _STEP) + _GAP
    height = 2 * _EDGE + len(figures.inputs) * _LANE - (_LANE - _BOX)
    results = _Box(right, _EDGE, _RESULTS, len(streams) * _LANE - (_LANE - _BOX))
    width = right + _RESULTS + _EDGE
    parts = [
        f'<svg viewBox="0 0 {width} {height}" style="max-width:{width}px" role="img" '
        f'aria-label="The plan: {escape(figures.plan)}">',
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z"/></marker></defs>',
        *_lanes(figures, source, results.x),
        *_results(figures, results),
        "</svg>",
    ]
    return "\n".join(parts)


def hue(figures: Figures, alias: str) -> int:
    """The colour of an input, the same wherever it is shown."""
    aliases = [item.alias for item in figures.inputs]
    return _HUES[aliases.index(alias) % len(_HUES)]


def _source_width(figures: Figures) -> int:
    longest = max(len(text) for item in figures.inputs for text in (item.alias, item.window))
    return min(max(round(longest * _CHARACTER) + 32, _NARROW), _WIDE)


def _lanes(figures: Figures, width: int, right: int) -> Iterator[str]:
    """Streams first, because the box of results stands beside them and not beside the tables."""
    for row, item in enumerate(sorted(figures.inputs, key=lambda item: item.is_table)):
        box = _Box(_EDGE, _EDGE + row * _LANE, width)
        yield from _source(figures, item, box)
        if not item.is_table:
            yield from _path(figures, item, box, right)


def _source(figures: Figures, item: InputFigures, box: _Box) -> Iterator[str]:
    last = "probed only" if item.is_table else f"in {rate_text(item)}"
    filters = f" · {len(item.filters)} filter{'s'[: len(item.filters) > 1]}" if item.filters else ""
    lines = (item.alias, item.window, last + filters)
    kind = "box table" if item.is_table else "box source"
    title = "\n".join([f"{item.alias}: {item.source}", item.window, *item.filters])
    yield from _box(box, kind, hue(figures, item.alias), lines, title)


def _path(figures: Figures, item: InputFigures, box: _Box, right: int) -> Iterator[str]:
    for visit in _chips(item):
        target = _Box(box.x + box.width + _GAP, box.y, _STEP)
        yield _arrow(box.x + box.width, target.x, box.middle)
        yield from _visit(figures, item, visit, target)
        box = target
    yield _arrow(box.x + box.width, right, box.middle)


def _chips(item: InputFigures) -> tuple[Visit, ...]:
    """The visits to draw: new tuples only where they are not the outer loop."""
    return item.visits if item.visits[0].method else item.visits[1:]


def _visit(figures: Figures, item: InputFigures, visit: Visit, box: _Box) -> Iterator[str]:
    checks = [c.predicate for c in figures.checks if (item.alias, visit.alias) in c.places]
    name = visit.alias if visit.method else f"new {visit.alias}"
    how = f"{visit.method} probe" if visit.method else "the new tuples"
    title = "\n".join([f"{how}: {name}", *checks])
    lines = (name, how, " AND ".join(checks))
    yield from _box(box, "box visit", hue(figures, visit.alias), lines, title)


def _results(figures: Figures, box: _Box) -> Iterator[str]:
    """The result's columns, as many as fit."""
    room = (box.height - 34) // 18
    names = [name for name, _ in figures.outputs]
    shown = names if len(names) <= room else [*names[: room - 1], f"… {len(names) - room + 1} more"]
    title = "\n".join(f"{name} = {expression}" for name, expression in figures.outputs)
    yield from _box(box, "box results", None, ("results", *shown), title)


def _box(
    box: _Box, kind: str, hue: int | None, lines: tuple[str, ...], title: str
) -> Iterator[str]:
    style = "" if hue is None else f' style="--hue:{hue}"'
    yield f'<g class="{kind}"{style}><title>{escape(title)}</title>'
    yield f'<rect x="{box.x}" y="{box.y}" width="{box.width}" height="{box.height}" rx="9"/>'
    room = int((box.width - 28) / _CHARACTER)
    for index, line in enumerate(line for line in lines if line):
        name = ' class="name"' if index == 0 else ""
        text = line if len(line) <= room else line[: room - 1] + "…"
        yield f'<text x="{box.x + 14}" y="{box.y + 26 + 19 * index}"{name}>{escape(text)}</text>'
    yield "</g>"


def _arrow(start: int, end: int, y: int) -> str:
    return f'<path class="flow" d="M{start + 3} {y}H{end - 3}" marker-end="url(#tip)"/>'

"""Streams and what is done with their tuples as an SVG: lanes of boxes that lead to the results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from penstock.plan.explain.figures import Figures, InputFigures
from penstock.plan.explain.pictures.svg import (
    BETWEEN,
    EDGE,
    GAP,
    STEP,
    Box,
    Lines,
    Page,
    arrow,
    box,
    canvas,
    ends_below,
    ends_beside,
    ends_width,
    height_for,
    hue,
    source,
    source_lines,
    through,
    width_for,
)

# Lines that go back to the left or down turn so far from boxes that they do not touch one another.
_NEAR, _RAIL = 12, 26


@dataclass(frozen=True)
class Step:
    """A box of a lane: its lines, what hovering shows, and the input whose colour it has."""

    lines: Lines
    title: str
    alias: str | None = None


Lane = tuple[Step, ...]


@dataclass(frozen=True)
class Strip:
    """An input with its lanes; one that is only visited has none."""

    item: InputFigures
    lanes: tuple[Lane, ...]


@dataclass(frozen=True)
class _Sheet:
    """Where things stand: the first box of every lane at `x`, so many in a row."""

    figures: Figures
    page: Page
    source: int
    x: int
    most: int

    @property
    def right(self) -> int:
        """Behind the last box of a full row, with a gap."""
        return self.x + self.most * (STEP + GAP)


def strips_picture(figures: Figures, strips: Sequence[Strip], page: Page) -> str:
    """An SVG element with the inputs from top to bottom, those that are only visited last.

    A lane that is longer than the page is wide goes on in the next row.
    """
    ordered = sorted(strips, key=lambda strip: not strip.lanes)
    sheet = _sheet(figures, ordered, page)
    parts: list[str] = []
    bottom, driven = EDGE - BETWEEN, EDGE
    exits: list[tuple[int, int]] = []
    for strip in ordered:
        drawn, bottom, ways = _strip(sheet, strip, bottom + BETWEEN)
        parts += drawn
        exits += ways
        driven = bottom if strip.lanes else driven
    if page.is_narrow:
        rail = page.width - EDGE
        end = Box(EDGE, bottom + BETWEEN + _NEAR, page.width - 2 * EDGE - _RAIL)
        below, last = ends_below(figures, end)
        first = through((exits[0][0] + 3, exits[0][1]), f"H{rail}V{end.y + 20}H{end.right + 3}")
        others = [f'<path class="flow" d="M{x + 3} {y}H{rail}"/>' for x, y in exits[1:]]
        drawn = [*parts, first, *others, below]
        return canvas(page.width, last.bottom + EDGE, figures.plan, drawn)
    beside, last = ends_beside(figures, Box(sheet.right, EDGE, 0, driven - EDGE))
    parts += [arrow(way, (sheet.right, way[1])) for way in exits]
    height = max(bottom, last.bottom) + EDGE
    return canvas(last.right + EDGE, height, figures.plan, [*parts, beside])


def _sheet(figures: Figures, strips: Sequence[Strip], page: Page) -> _Sheet:
    widest = width_for(source_lines(strip.item) for strip in strips)
    longest = max((len(lane) for strip in strips for lane in strip.lanes), default=0)
    if page.is_narrow:
        x = EDGE + GAP
        room = page.width - EDGE - _RAIL - x
    else:
        x = EDGE + widest + GAP
        room = page.width - EDGE - ends_width(figures) - x
    most = min(longest, max(1, (room + (GAP if page.is_narrow else 0)) // (STEP + GAP)))
    return _Sheet(figures, page, widest, x, most)


def _strip(sheet: _Sheet, strip: Strip, top: int) -> tuple[list[str], int, list[tuple[int, int]]]:
    """The picture of an input from a height on, its lower end, and where its lanes end."""
    lines = source_lines(strip.item)
    at = Box(EDGE, top, sheet.source, height_for(lines, sheet.source))
    parts = [*source(sheet.figures, strip.item, at)]
    exits: list[tuple[int, int]] = []
    bottom = at.bottom
    next_top = at.bottom + BETWEEN if sheet.page.is_narrow else top
    for lane in strip.lanes:
        if not lane:
            exits.append((at.right, at.middle))
            continue
        drawn, bottom, way = _lane(sheet, lane, at, next_top)
        parts += drawn
        exits.append(way)
        next_top = bottom + BETWEEN
    return parts, max(bottom, at.bottom), exits


def _lane(
    sheet: _Sheet, lane: Lane, start: Box, top: int
) -> tuple[list[str], int, tuple[int, int]]:
    parts: list[str] = []
    before: Box | None = None
    bottom = top
    for row in (lane[i : i + sheet.most] for i in range(0, len(lane), sheet.most)):
        height = max(height_for(step.lines, STEP) for step in row)
        if top == start.y:
            height = max(height, start.height)
        for index, step in enumerate(row):
            at = Box(sheet.x + index * (STEP + GAP), top, STEP, height)
            parts.append(_to(sheet, start, before, at, is_first=index == 0))
            parts += _box(sheet.figures, step, at)
            before = at
        bottom = top + height
        top = bottom + BETWEEN
    assert before is not None, "a lane that is drawn has a step"
    return parts, bottom, (before.right, before.middle)


def _to(sheet: _Sheet, start: Box, before: Box | None, at: Box, is_first: bool) -> str:
    """The arrow to a box: from the source, from its left neighbour, or from the row above."""
    if before is None:
        if sheet.page.is_narrow:
            return through((EDGE + _NEAR, start.bottom + 3), f"V{at.middle}H{at.x - 3}")
        return arrow((start.right, start.middle), (at.x, at.middle))
    if not is_first:
        return arrow((before.right, before.middle), (at.x, at.middle))
    between = at.y - BETWEEN // 2
    back = f"H{before.right + _NEAR}V{between}H{at.x - _NEAR}V{at.middle}H{at.x - 3}"
    return through((before.right + 3, before.middle), back)


def _box(figures: Figures, step: Step, at: Box) -> Iterator[str]:
    colour = None if step.alias is None else hue(figures, step.alias)
    kind = "box join" if step.alias is None else "box visit"
    yield from box(at, kind, colour, step.lines, step.title)

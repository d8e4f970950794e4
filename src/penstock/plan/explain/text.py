"""Explain as text: the inputs as a tree on the left, their figures on the right."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from penstock.plan.explain.figures import Figures, InputFigures, Visit

WIDTH = 100
_LABEL = 8


def as_text(figures: Figures) -> str:
    """The plan for a terminal, without colours."""
    tree = list(_tree(figures.inputs))
    width = max(len(line) for line in tree)
    return "\n".join([*_head(figures, width), *tree, *_foot(figures)]) + "\n"


def _head(figures: Figures, width: int) -> Iterator[str]:
    """The operator with what it joins on; the total state ends where the tree's lines end."""
    keys = "; ".join(figures.keys) or "no key"
    title = f"MultiwayJoin on {keys}" if len(figures.inputs) > 1 else "MultiwayJoin of one input"
    total = f"state {number(figures.state)} tuples"
    first, *more = textwrap.wrap(title, WIDTH - len(total) - 3, subsequent_indent=" " * 16)
    yield first + total.rjust(max(width - len(first), len(total) + 3))
    yield from more


def _tree(inputs: tuple[InputFigures, ...]) -> Iterator[str]:
    aliases = _left([item.alias for item in inputs])
    windows = _left([item.window for item in inputs])
    probes = _left([probe_text(item) for item in inputs])
    rates = _right([rate_text(item) for item in inputs])
    states = _right([number(item.state) for item in inputs])
    for index, item in enumerate(inputs):
        branch = "└─" if index == len(inputs) - 1 else "├─"
        line = f"{branch} {aliases[index]}  {windows[index]}   {probes[index]}"
        if not item.is_table:
            line += f"   in {rates[index]}   state {states[index]}   keep {percent(item.keep)}"
        yield line.rstrip()


def probe_text(item: InputFigures) -> str:
    """`probe B, C/nested`; the new tuples are named only where they are not the outer loop."""
    if item.is_table:
        return "probed only"
    visits = item.visits if item.visits[0].method else item.visits[1:]
    return f"probe {', '.join(visit_text(visit) for visit in visits)}" if visits else "no probes"


def visit_text(visit: Visit) -> str:
    """The visit as in a plan's notation, the usual method left out."""
    if visit.method is None:
        return f"new {visit.alias}"
    return visit.alias if visit.method == "sorted" else f"{visit.alias}/{visit.method}"


def number(value: float | None) -> str:
    """A figure with thousands marked, `?` where it is unknown."""
    if value is None:
        return "?"
    return f"{value:,.0f}" if value == int(value) or value >= 100 else f"{value:,.3g}"


def percent(fraction: float) -> str:
    """A fraction as `100 %`."""
    return f"{100 * fraction:.3g} %"


def rate_text(item: InputFigures) -> str:
    """The declared rate as `50/s`, `?` where there is none."""
    return "?" if item.rate is None else f"{number(item.rate)}/s"


def _foot(figures: Figures) -> Iterator[str]:
    for predicate in figures.filters:
        yield from _line("filter", predicate)
    for check in figures.checks:
        yield from _line(check.kind, f"{check.predicate}   {check.where}")
    yield from _line("output", ", ".join(name for name, _ in figures.outputs))
    yield from _line("plan", figures.plan)
    for note in figures.notes:
        yield from _line("note", note)


def _line(label: str, text: str) -> list[str]:
    return textwrap.wrap(
        f"{label:<{_LABEL}}{text}", WIDTH, subsequent_indent=" " * _LABEL, break_on_hyphens=False
    )


def _left(texts: list[str]) -> list[str]:
    width = max(map(len, texts))
    return [text.ljust(width) for text in texts]


def _right(texts: list[str]) -> list[str]:
    width = max(map(len, texts))
    return [text.rjust(width) for text in texts]

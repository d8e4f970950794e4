"""Explain as text: the plan as a tree on the left, its figures on the right, the rest below."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from penstock.plan.decision import Statistic
from penstock.plan.explain.figures import Figures
from penstock.plan.explain.mesh import meshes_of, route_rows, summary, tree_lines
from penstock.plan.explain.quantity import shortened, statistic_text
from penstock.plan.explain.ranking import Column, ranking
from penstock.plan.explain.rows import Row, early_text, out_text, recompute_text, rows_of
from penstock.plan.explain.verdict import delay_text, goal_text, physical_text, shortfall
from penstock.query.goal import Steady

WIDTH = 100
_LABEL = 8
# Cut cells keep at least so many signs, and wrapped labels, however deep they are in a tree.
_CELL, _WRAPPED = 24, 14
# So many statistics that differ in nothing but what they are of are told one by one.
_TOLD = 3


def as_text(figures: Figures) -> str:
    """The decision for a terminal, without colours."""
    parts = [*_plan(rows_of(figures)), *_foot(figures), *_statistics(figures)]
    if figures.alternatives:
        parts += _alternatives(figures)
    return "\n".join(parts) + "\n"


def _plan(rows: tuple[Row, ...]) -> list[str]:
    """The rows with their figures in columns. Where labels are too long for that, the figures of
    all stand apart; or keys do, below; or labels are wrapped."""
    lines = list(_wrapping(rows))
    if len(lines) == len(rows):
        return lines
    if apart := _apart(rows, [row.label for row in rows]):
        return apart
    bare = _apart(rows, [row.bare or row.label for row in rows])
    keys = [line for row in rows if row.keys for line in _line("keys", row.keys)]
    return [*bare, *keys] if bare else lines


def _wrapping(rows: tuple[Row, ...]) -> Iterator[str]:
    """The rows; labels that are too long are wrapped."""
    figures = _columns(rows)
    deepest = max(len(row.hang) for row in rows)
    room = max(WIDTH - max(map(len, figures)) - 3, deepest + _WRAPPED)
    labels = [_wrapped(row.label, room, row.stem, row.hang) for row in rows]
    width = max(len(line) for label in labels for line in label)
    for (first, *more), figure in zip(labels, figures, strict=True):
        yield f"{first:<{width}}   {figure}".rstrip()
        yield from more


def _apart(rows: tuple[Row, ...], labels: list[str]) -> list[str]:
    """The rows with other labels, one line each; none if these are too long.

    The figures of all are longer than those of inputs: where they must, they begin before them.
    """
    drawn = [row.stem + label for row, label in zip(rows, labels, strict=True)]
    width, figures = max(map(len, drawn)), _columns(rows)
    if width + 3 + max(map(len, figures)) > WIDTH:
        figures = [*_columns(rows[:1]), *_columns(rows[1:], tail="")]
    starts = [min(width, WIDTH - 3 - len(figure)) for figure in figures]
    if any(len(label) > start for label, start in zip(drawn, starts, strict=True)):
        return []
    return [
        f"{label:<{start}}   {figure}".rstrip()
        for label, start, figure in zip(drawn, starts, figures, strict=True)
    ]


def _columns(rows: tuple[Row, ...], tail: str = " tuples") -> list[str]:
    """The figures of rows, of which the first says what is counted."""
    rate, fraction, size = (
        max(len(text) for text in texts)
        for texts in zip(*((row.rate[1], row.fraction, row.size[1]) for row in rows), strict=True)
    )
    tails = [tail if index == 0 else "" for index in range(len(rows))]
    return [
        f"{row.rate[0]:>3} {row.rate[1]:>{rate}}   {row.fraction:<{fraction}}   "
        f"{row.size[0]:<5} {row.size[1]:>{size}}{tail}"
        for row, tail in zip(rows, tails, strict=True)
    ]


def _foot(figures: Figures) -> Iterator[str]:
    decision = figures.decision
    for label, text in shortfall(decision):
        yield from _line(label, text)
    for item in figures.inputs:
        if item.filters:
            yield from _line("filter", ", then ".join(item.filters))
    for check in figures.checks:
        yield from _line(check.kind, f"{check.predicate}   {check.where}")
    for item in figures.inputs:
        if item.early_by is not None:
            yield from _line("early", f"{item.alias} {early_text(item)}")
    if figures.recompute is not None:
        yield from _line("batch", recompute_text(figures.recompute))
    yield from _meshes(figures)
    if figures.view is not None:
        joined = out_text(figures, figures.estimate.output_rate)
        yield from _line("joined", f"{joined} results, which the view aggregates")
        yield from _line("view", str(figures.view))
    yield from _line("output", ", ".join(name for name, _ in figures.outputs))
    yield from _whole("plan", figures)
    if not isinstance(decision.goal, Steady):
        yield from _line("goal", goal_text(decision.goal, figures.estimate.measure))
    yield from _line("why", decision.reason)
    if delay := delay_text(decision):
        yield from _line("delay", delay)
    if physical := physical_text(decision.physical):
        yield from _line("tuning", physical)
    for note in figures.notes:
        yield from _line("note", note)


def _meshes(figures: Figures) -> Iterator[str]:
    """The decision trees, and the routes that they lead to."""
    for mesh in meshes_of(figures.decision.plan):
        yield from _line("mesh", summary(mesh))
        yield from (shortened(f"  {line}", WIDTH) for line in tree_lines(mesh.classifier))
        names, shares, costs, stages = zip(*route_rows(mesh), strict=True)
        columns = (Column("", names), Column("", shares, True), Column("", costs, True))
        heads = list(_table(columns, cut=()))
        for head, stage in zip(heads, stages, strict=True):
            yield from _wrapped(stage, WIDTH, f"{head}  ", " " * (len(head) + 2))


def _line(label: str, text: str) -> list[str]:
    return _wrapped(text, WIDTH, f"{label:<{_LABEL}}", " " * _LABEL)


def _whole(label: str, figures: Figures) -> list[str]:
    """The plan in one line however long, to be copied."""
    return [f"{label:<{_LABEL}}{figures.plan}"]


def _wrapped(text: str, width: int, first: str, rest: str) -> list[str]:
    """The lines of a text; a number stays with its sign, and `probe` with what is probed."""
    tied = text.replace(" %", "\u00a0%").replace("probe ", "probe\u00a0")
    lines = textwrap.wrap(
        tied, width, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False
    )
    return [line.replace("\u00a0", " ") for line in lines]


def _statistics(figures: Figures) -> Iterator[str]:
    told = list(_told([each for each in figures.decision.statistics if not each.is_minor]))
    if told:
        yield "figures"
        yield from _table(
            (
                Column("", tuple(each.what for each in told)),
                Column("", tuple(statistic_text(each) for each in told)),
                Column("", tuple(each.figure.origin for each in told)),
                Column("", tuple(each.figure.note for each in told)),
            ),
            cut=(0,),
        )


def _told(statistics: list[Statistic]) -> Iterator[Statistic]:
    """The statistics; of many neighbours that say the same, the first with how many follow."""

    def said(each: Statistic) -> tuple[object, ...]:
        return each.figure.value, each.unit, each.figure.origin, each.figure.note

    for _, group in groupby(statistics, said):
        same = list(group)
        if len(same) <= _TOLD:
            yield from same
        else:
            yield replace(same[0], what=f"{same[0].what} and {len(same) - 1} more")


def _alternatives(figures: Figures) -> Iterator[str]:
    """The ranking; plans are never cut, so where they are too long each has a line of its own."""
    ranks, *others = ranking(figures.decision)
    first, *rest = ranks.cells
    marked = Column(ranks.name, (f"*{first}", *rest), is_number=True)
    columns = [Column("", (c.name, *c.cells), c.is_number) for c in (marked, *others)]
    yield "alternatives, best first; * is the chosen one"
    names = [column.cells[0] for column in columns]
    by, plan = names.index("found by"), names.index("plan")
    if _span(columns) - len(max(columns[by].cells, key=len)) + _CELL <= WIDTH:
        yield from _table(tuple(columns), cut=(by,))
        return
    plans = columns.pop(plan).cells[1:]
    head, *lines = _table(tuple(columns), cut=(by - 1,))
    yield head
    indent = " " * (2 + max(map(len, columns[0].cells)) + 2)
    for line, text in zip(lines, plans, strict=True):
        yield line
        yield f"{indent}{text}"


def _table(columns: tuple[Column, ...], cut: tuple[int, ...]) -> Iterator[str]:
    """The cells in columns two signs apart; where they are too wide those at `cut` give way."""
    widths = [max(map(len, column.cells)) for column in columns]
    for index in cut:
        over = sum(widths) + 2 * len(widths) - WIDTH
        widths[index] -= min(max(over, 0), max(widths[index] - _CELL, 0))
    for cells in zip(*(column.cells for column in columns), strict=True):
        placed = [
            shortened(cell, width).rjust(width) if column.is_number
            else shortened(cell, width).ljust(width)
            for cell, width, column in zip(cells, widths, columns, strict=True)
        ]  # fmt: skip
        yield shortened("  " + "  ".join(placed).rstrip(), WIDTH)


def _span(columns: Sequence[Column]) -> int:
    """How wide a table of them is."""
    return sum(max(map(len, column.cells)) + 2 for column in columns)

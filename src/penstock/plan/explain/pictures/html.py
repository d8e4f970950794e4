"""Explain as one HTML page that needs nothing else: the picture, the figures, the reasons."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from shlex import quote

from penstock.plan.decision import Statistic
from penstock.plan.explain.figures import Figures, InputFigures
from penstock.plan.explain.mesh import meshes_of, route_rows, summary, tree_lines
from penstock.plan.explain.pictures.picture import picture
from penstock.plan.explain.pictures.style import STYLE
from penstock.plan.explain.pictures.svg import hue
from penstock.plan.explain.quantity import percent, statistic_text
from penstock.plan.explain.ranking import Column, ranking
from penstock.plan.explain.rows import (
    head_rate,
    out_text,
    probe_text,
    rate_text,
    recompute_text,
    share_text,
    state_text,
    total_text,
    work_text,
)
from penstock.plan.explain.verdict import goal_text, physical_text, shortfall
from penstock.plan.mesh import MeshJoin
from penstock.plan.text.parse import render_plan
from penstock.plan.text.shape import describe
from penstock.query.goal import Steady

_NUMBERS = ("in", "state, tuples", "keep")


def as_html(figures: Figures) -> str:
    """The whole page."""
    return "\n".join([*_head(figures), *_body(figures), "</main></body></html>"]) + "\n"


def _head(figures: Figures) -> Iterator[str]:
    plan = figures.decision.plan
    names = " ⋈ ".join(item.name for item in figures.inputs)
    kind = f"view over a {describe(plan)}" if figures.view else describe(plan)
    yield from _opening(names)
    yield f'<header><p class="kind">{kind}</p><h1>{escape(names)}</h1>'
    if figures.view is not None:
        yield f"<p><code>{escape(str(figures.view))}</code></p>"
    keys = "; ".join(figures.keys)
    yield f"<p>on <code>{escape(keys)}</code></p></header>" if keys else "<p>no key</p></header>"


def _opening(names: str) -> Iterator[str]:
    yield '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{escape(names)} · plan</title>\n<style>\n{STYLE}</style></head>\n<body><main>"


def page_head(kind: str, names: str, lines: Sequence[str], text: str) -> Iterator[str]:
    """The beginning of a page about several queries, with lines about all of them."""
    yield from _opening(names)
    yield f'<header><p class="kind">{kind}</p><h1>{escape(names)}</h1></header>'
    yield f"<pre>{escape(text.strip())}</pre>"
    yield from (f"<p><code>{escape(line)}</code></p>" for line in lines)


def page_body(figures: Figures, title: str) -> Iterator[str]:
    """One of several queries of a page."""
    yield f"<header><h1>{escape(title)}</h1></header>"
    yield from _told(figures)


def _body(figures: Figures) -> Iterator[str]:
    if figures.query.text:
        yield f"<pre>{escape(figures.query.text.strip())}</pre>"
    yield from _told(figures)


def _told(figures: Figures) -> Iterator[str]:
    plan = figures.decision.plan
    yield from _summary(figures)
    svg, caption = picture(figures)
    yield f"<figure>{svg}\n<figcaption>{caption}</figcaption></figure>"
    yield from _meshes(figures)
    rows = (_row(figures, item) for item in figures.inputs)
    names = ("input", "source", "window", *([] if figures.joins else ["visits"]), *_NUMBERS)
    yield from _table("Inputs", names, rows, numbers=_NUMBERS)
    yield from _table("Predicates", ("kind", "predicate", "checked"), _predicates(figures))
    early = ("input", "by", "rows")
    yield from _table("Aggregated before the join", early, _sets(figures), early[2:])
    outputs = (
        f"<td><b>{escape(name)}</b></td><td><code>{escape(expression)}</code></td>"
        for name, expression in figures.outputs
    )
    yield from _table("Results", ("column", "is"), outputs)
    yield from _notes(figures)
    option = figures.plan if isinstance(plan, MeshJoin) else f"--plan {quote(figures.plan)}"
    yield f"<h2>Plan</h2><pre>{escape(option)}</pre>"
    if figures.alternatives:
        yield from _alternatives(figures)
    statistics = map(_statistic, figures.decision.statistics)
    yield from _table("Figures it rests on", ("figure", "value", "origin", "note"), statistics)


def _summary(figures: Figures) -> Iterator[str]:
    """The figures of the whole plan, and the sentences about it."""
    word, rate = head_rate(figures)
    joined = out_text(figures, figures.estimate.output_rate)
    of = "" if figures.view is None else f"estimated, from {joined} join results"
    tiles = (
        (word, rate, of),
        ("utilization", share_text(figures), f"{work_text(figures)} CPU-seconds a second"),
        ("state", f"{total_text(figures)} tuples", ""),
    )
    cells = "".join(
        f'<div><dt>{name}</dt><dd>{value}</dd><dd class="more">{more}</dd></div>'
        for name, value, more in tiles
    )
    yield f'<dl class="tiles">{cells}</dl>'
    for label, text in shortfall(figures.decision):
        yield f'<p class="short"><b>{label}</b> {escape(text)}</p>'
    decision = figures.decision
    if not isinstance(decision.goal, Steady):
        said = goal_text(decision.goal, figures.estimate.measure)
        yield f'<p class="why"><b>goal</b> {escape(said)}</p>'
    yield f'<p class="why"><b>why</b> {escape(decision.reason)}</p>'
    if figures.recompute is not None:
        yield f'<p class="why"><b>batch</b> {escape(recompute_text(figures.recompute))}</p>'
    if physical := physical_text(decision.physical):
        yield f'<p class="why"><b>tuning</b> {escape(physical)}</p>'


def _meshes(figures: Figures) -> Iterator[str]:
    """The decision trees, and the routes that they lead to."""
    names = ("route", "share", "seconds a tuple", "stages")
    for mesh in meshes_of(figures.decision.plan):
        rows = (
            f'<td>{name}</td><td class="number">{share}</td><td class="number">{cost}</td>'
            f"<td><code>{escape(stages)}</code></td>"
            for name, share, cost, stages in route_rows(mesh)
        )
        yield from _table(f"Routes of {escape(mesh.driver)}", names, rows, names[1:3])
        tree = "\n".join(tree_lines(mesh.classifier))
        yield f'<p class="why">{escape(summary(mesh))}</p><pre>{escape(tree)}</pre>'


def _alternatives(figures: Figures) -> Iterator[str]:
    """The ranking; a plan has a row of its own below its figures, to be copied as a whole."""
    columns = [column for column in ranking(figures.decision) if column.name != "plan"]
    plans = [each.plan for each in (figures.decision.chosen, *figures.decision.others)]
    names = tuple(column.name for column in columns)
    numbers = tuple(column.name for column in columns if column.is_number)
    rows = (
        f'{"".join(cells)}</tr><tr class="plan"><td colspan="{len(names)}">'
        f"<code>{escape(render_plan(plan))}</code></td>"
        for cells, plan in zip(zip(*map(_cells, columns), strict=True), plans, strict=True)
    )
    yield from _table("Alternatives, best first", names, rows, numbers)


def _cells(column: Column) -> Iterator[str]:
    """The cells of a column; those of the chosen plan, which is the first, are bold."""
    kind = ' class="number"' if column.is_number else ""
    for index, cell in enumerate(column.cells):
        text = escape(cell).replace(" %", "&nbsp;%")
        yield f"<td{kind}>{text if index else f'<b>{text}</b>'}</td>"


def _statistic(each: Statistic) -> str:
    cells = (statistic_text(each), each.figure.origin, each.figure.note)
    return f"<td><code>{escape(each.what)}</code></td>" + "".join(
        f"<td>{escape(cell)}</td>" for cell in cells
    )


def _table(
    heading: str, names: tuple[str, ...], rows: Iterable[str], numbers: tuple[str, ...] = ()
) -> Iterator[str]:
    """A table with a heading; nothing at all where it would have no rows.

    Every cell says what column it is of, for narrow pages that show the columns as lines.
    """
    body = "\n".join(f"<tr>{_labelled(row, names)}</tr>" for row in rows)
    if body:
        kinds = [' class="number"' if name in numbers else "" for name in names]
        head = "".join(f"<th{k}>{escape(n)}</th>" for n, k in zip(names, kinds, strict=True))
        yield f'<h2>{heading}</h2>\n<div class="wide"><table><thead><tr>{head}</tr></thead>'
        yield f"<tbody>\n{body}\n</tbody></table></div>"


def _labelled(row: str, names: tuple[str, ...]) -> str:
    first, *cells = row.split("<td")
    labels = [*names, *[""] * (len(cells) - len(names))]
    pairs = zip(cells, labels, strict=True)
    return first + "".join(f'<td data-name="{escape(name)}"{cell}' for cell, name in pairs)


def _row(figures: Figures, item: InputFigures) -> str:
    visits = [] if figures.joins else [probe_text(item)]
    texts = (item.source, item.window, *visits)
    numbers = ("–", state_text(item), "–") if item.is_table else _numbers(item)
    return (
        f'<td><b class="dot" style="--hue:{hue(figures, item.alias)}">{escape(item.alias)}</b></td>'
        + "".join(f'<td class="name">{escape(text)}</td>' for text in texts)
        + "".join(f'<td class="number">{text}</td>' for text in numbers)
    )


def _numbers(item: InputFigures) -> tuple[str, ...]:
    return rate_text(item), state_text(item), percent(item.keep)


def _predicates(figures: Figures) -> Iterator[str]:
    rows = [
        *(
            ("equal", key, "by the joins" if figures.joins else "by the probes")
            for key in figures.keys
        ),
        *(
            ("filter", predicate, f"on tuples of {item.alias}")
            for item in figures.inputs
            for predicate in item.filters
        ),
        *((check.kind, check.predicate, check.where) for check in figures.checks),
    ]
    for kind, predicate, where in rows:
        yield f"<td>{kind}</td><td><code>{escape(predicate)}</code></td><td>{escape(where)}</td>"


def _sets(figures: Figures) -> Iterator[str]:
    for item in figures.inputs:
        if item.early_by is not None:
            by = escape(", ".join(item.early_by))
            size = f'<td class="number">{state_text(item)}</td>'
            yield f"<td>{escape(item.alias)}</td><td><code>{by}</code></td>{size}"


def _notes(figures: Figures) -> Iterator[str]:
    if figures.notes:
        notes = "".join(f"<li>{escape(note)}</li>" for note in figures.notes)
        yield f"<h2>Notes</h2><ul>{notes}</ul>"

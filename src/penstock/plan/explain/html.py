"""Explain as one HTML page that needs nothing else: picture, figures, predicates, query."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from shlex import quote

from penstock.plan.explain.figures import Figures, InputFigures
from penstock.plan.explain.picture import hue, picture
from penstock.plan.explain.style import STYLE
from penstock.plan.explain.text import number, percent, probe_text

_TEXTS = ("input", "source", "window", "visits")
_NUMBERS = ("in, tuples/s", "state, tuples", "keep")


def as_html(figures: Figures) -> str:
    """The whole page."""
    return "\n".join([*_head(figures), *_body(figures), "</main></body></html>"]) + "\n"


def _head(figures: Figures) -> Iterator[str]:
    names = " ⋈ ".join(item.alias for item in figures.inputs)
    yield '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{escape(names)} · plan</title>\n<style>\n{STYLE}</style></head>\n<body><main>"
    yield f'<header><p class="kind">multi-way join</p><h1>{escape(names)}</h1>'
    keys = "; ".join(figures.keys)
    yield f"<p>on <code>{escape(keys)}</code></p></header>" if keys else "<p>no key</p></header>"


def _body(figures: Figures) -> Iterator[str]:
    if figures.query:
        yield f"<pre>{escape(figures.query.strip())}</pre>"
    yield f"<figure>{picture(figures)}"
    yield "<figcaption>New tuples of each stream visit the other windows from left to right;"
    yield "each colour is one input.</figcaption></figure>"
    rows = (_row(figures, item) for item in figures.inputs)
    yield from _table("Figures", _TEXTS, rows, numbers=_NUMBERS)
    yield f'<p class="total">State in all: {number(figures.state)} tuples.</p>'
    yield from _table("Predicates", ("kind", "predicate", "checked"), _predicates(figures))
    outputs = (
        f"<td><b>{escape(name)}</b></td><td><code>{escape(expression)}</code></td>"
        for name, expression in figures.outputs
    )
    yield from _table("Results", ("column", "is"), outputs)
    yield from _notes(figures)
    yield f"<h2>Plan</h2><pre>--plan {escape(quote(figures.plan))}</pre>"


def _table(
    heading: str, texts: tuple[str, ...], rows: Iterable[str], numbers: tuple[str, ...] = ()
) -> Iterator[str]:
    """A table with a heading; nothing at all where it would have no rows."""
    body = "\n".join(f"<tr>{row}</tr>" for row in rows)
    if body:
        head = "".join(f"<th>{column}</th>" for column in texts)
        head += "".join(f'<th class="number">{column}</th>' for column in numbers)
        yield f'<h2>{heading}</h2>\n<div class="wide"><table><thead><tr>{head}</tr></thead>'
        yield f"<tbody>\n{body}\n</tbody></table></div>"


def _row(figures: Figures, item: InputFigures) -> str:
    texts = (item.source, item.window, probe_text(item))
    numbers = ("–",) * 3 if item.is_table else _numbers(item)
    return (
        f'<td><b class="dot" style="--hue:{hue(figures, item.alias)}">{escape(item.alias)}</b></td>'
        + "".join(f"<td>{escape(text)}</td>" for text in texts)
        + "".join(f'<td class="number">{text}</td>' for text in numbers)
    )


def _numbers(item: InputFigures) -> tuple[str, ...]:
    return number(item.rate), number(item.state), percent(item.keep)


def _predicates(figures: Figures) -> Iterator[str]:
    rows = [
        *(("equal", key, "by the probes") for key in figures.keys),
        *(
            ("filter", predicate, f"on tuples of {item.alias}")
            for item in figures.inputs
            for predicate in item.filters
        ),
        *((check.kind, check.predicate, check.where) for check in figures.checks),
    ]
    for kind, predicate, where in rows:
        yield f"<td>{kind}</td><td><code>{escape(predicate)}</code></td><td>{escape(where)}</td>"


def _notes(figures: Figures) -> Iterator[str]:
    if figures.notes:
        notes = "".join(f"<li>{escape(note)}</li>" for note in figures.notes)
        yield f"<h2>Notes</h2><ul>{notes}</ul>"

"""HTML and SVG by elements: whatever comes from data is text, and never markup."""

from __future__ import annotations

import re
from html import escape

_NOT_TEXT = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff￾￿]")
"""Characters that no document may have."""


class Markup(str):
    """A text that is markup already; only this module makes one."""

    __slots__ = ()


def tag(name: str, *children: str | None, **attributes: object) -> Markup:
    """An element: texts in it and in its attributes are escaped, `class_` is `class`.

    Attributes that are None are left out, and so are children.
    """
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{plain(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Markup(f"<{name}{given}>{joined(*children)}</{name}>")


def joined(*children: str | None) -> Markup:
    """Elements and texts, one after another."""
    known = (each for each in children if each is not None)
    return Markup("".join(each if isinstance(each, Markup) else plain(each) for each in known))


def plain(text: str) -> str:
    """A text as markup shows it."""
    return escape(_NOT_TEXT.sub("\N{REPLACEMENT CHARACTER}", text))


WRITTEN_BY = '<meta name="generator" content="penstock report">'
"""What tells pages of runs from those of others."""


def page(title: str, style: str, *body: str) -> str:
    """A whole document. The style is ours: it is not escaped."""
    head = joined(
        Markup('<meta charset="utf-8">'),
        Markup(WRITTEN_BY),
        Markup('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        Markup(
            '<meta http-equiv="Content-Security-Policy" '
            "content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        ),
        tag("title", title),
        Markup(f"<style>\n{style}</style>"),
    )
    main = tag("body", tag("main", *body))
    return f'<!doctype html>\n<html lang="en">{tag("head", head)}\n{main}</html>\n'


def table(headings: list[str], rows: list[list[str]], numbers: int = 0) -> Markup | None:
    """A table of which the last columns, so many, are numbers; None without rows."""
    if not rows:
        return None
    first = len(headings) - numbers

    def cell(kind: str, place: int, text: str) -> Markup:
        name = headings[place] if kind == "td" else None
        return tag(kind, text, class_="number" if place >= first else None, data_name=name)

    def line(kind: str, cells: list[str]) -> Markup:
        return tag("tr", *(cell(kind, place, text) for place, text in enumerate(cells)))

    body = tag("tbody", *(line("td", row) for row in rows))
    return tag("div", tag("table", tag("thead", line("th", headings)), body), class_="wide")

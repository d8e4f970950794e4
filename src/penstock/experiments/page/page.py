"""The page: every experiment with its question, picture and verdict, in one file that needs no
network, for light and dark screens."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files

from penstock.experiments.drawing.palette import style_sheet
from penstock.experiments.frame.paper import PAPERS, Paper
from penstock.experiments.page.section import experiment_section
from penstock.experiments.page.verdicts import counts_text, tally
from penstock.experiments.reports.summary import Detail


def page_of(details: Sequence[Detail], drawings: Mapping[str, str]) -> str:
    """The page of these experiments, with the drawings that there are of them by name."""
    by_paper = {p: [d for d in details if d["paper"] == p.key] for p in PAPERS}
    shown = {paper: found for paper, found in by_paper.items() if found}
    body = [
        _header(details),
        _contents(shown),
        *(_paper(paper, found, drawings) for paper, found in shown.items()),
        _footer(details),
    ]
    return _document("\n".join(body))


def _document(body: str) -> str:
    style = style_sheet(":root") + _style()
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        '<link rel="icon" href="data:,">\n'
        f"<title>Penstock: the laboratory</title>\n<style>\n{style}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _style() -> str:
    return files("penstock.experiments.page").joinpath("style.css").read_text(encoding="utf-8")


def _header(details: Sequence[Detail]) -> str:
    return (
        "<header>\n<p class=kicker>Penstock · the laboratory</p>\n"
        "<h1>Five papers, run again</h1>\n"
        "<p class=lede>Penstock is built on five papers about queries over streams. Here their "
        "figures and tables are run again with Penstock’s own planner and engines, and every "
        "claim is judged by what came out.</p>\n"
        f"<p class=total>{counts_text(details)}</p>\n{_key()}\n</header>"
    )


def _key() -> str:
    """How the lines of the charts are to be read."""
    return (
        "<p class=key><span><svg viewBox='0 0 44 12' aria-hidden=true><path d='M0 6H44' "
        "class=solid /><circle cx=22 cy=6 r=3.4 class=dot /></svg> measured by us</span> "
        "<span><svg viewBox='0 0 44 12' aria-hidden=true><path d='M0 6H44' class=dashed /></svg> "
        "a model, the paper’s or ours</span> <span><svg viewBox='0 0 44 12' aria-hidden=true><path "
        "d='M22 1L27 6L22 11L17 6Z' class=hollow /></svg> given by the paper</span></p>"
    )


def _contents(shown: Mapping[Paper, Sequence[Detail]]) -> str:
    rows = "\n".join(_contents_of(paper, found) for paper, found in shown.items())
    return f"<nav aria-label=Contents>\n{rows}\n</nav>"


def _contents_of(paper: Paper, found: Sequence[Detail]) -> str:
    items = "\n".join(
        f'<li><a href="#{d["name"]}">{escape(d["title"])}</a> {tally(d)}</li>' for d in found
    )
    return (
        f'<section class=toc>\n<h2><a href="#{paper.key}">{escape(paper.short)}</a> '
        f"<small>{counts_text(found)}</small></h2>\n<ol>\n{items}\n</ol>\n</section>"
    )


def _paper(paper: Paper, found: Iterable[Detail], drawings: Mapping[str, str]) -> str:
    by = f"{escape(paper.authors)}. {escape(paper.venue)}" if paper.authors else ""
    sections = "\n".join(experiment_section(d, drawings.get(d["name"])) for d in found)
    return (
        f'<section class=paper id="{paper.key}">\n<p class=kicker>{escape(paper.short)}</p>\n'
        f"<h2>{escape(paper.title)}</h2>\n<p class=by>{by}</p>\n{sections}\n</section>"
    )


def _footer(details: Sequence[Detail]) -> str:
    quick = sum(detail["size"] == "quick" for detail in details)
    of = f"{quick} of {len(details)} experiments at quick size. " if quick else ""
    return (
        f"<footer><p>{of}Made by <code>penstock lab run</code>. The data behind every chart "
        "is beside this page as CSV, the charts as SVG and PNG, all verdicts in "
        "<code>summary.json</code>.</p></footer>"
    )

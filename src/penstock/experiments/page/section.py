"""A section of the page: one experiment."""

from __future__ import annotations

import re
from html import escape

from penstock.experiments.page.verdicts import badge, tally, word
from penstock.experiments.reports.summary import ClaimDocument, Detail

_STYLE = re.compile(r"<style>.*?</style>\s*", re.S)
_METADATA = re.compile(r"<metadata>.*?</metadata>\s*", re.S)
_CODE = re.compile(r"`([^`]+)`")
_SIZE = re.compile(r' (?:width|height)="[\d.]+pt"')

_MODELS = {"paper": "the paper’s model", "ours": "our model"}


def experiment_section(detail: Detail, drawing: str | None) -> str:
    """The question, the picture, what it shows and the claims; or the error that ended it."""
    name, engine = detail["name"], " · on Spark" if detail["on_spark"] else ""
    picture = _picture(detail, drawing) if drawing else ""
    found = _claims(detail) if "error" not in detail else _error(detail)
    return (
        f'<article id="{name}">\n<p class=figure-of>{escape(detail["figure"])}{engine}</p>\n'
        f'<h3><a href="#{name}">{escape(detail["title"])}</a> {tally(detail)}</h3>\n'
        f"<p class=question>{marked(detail['question'])}</p>\n{picture}\n"
        f"<p>{marked(detail['about'])}</p>\n{_notes(detail)}{found}\n"
        f"<p class=again><code>penstock lab run {name}{_size(detail)}</code></p>\n</article>"
    )


def marked(text: str) -> str:
    """A text for the page: what stands between backticks is code."""
    return _CODE.sub(r"<code>\1</code>", escape(text))


def _size(detail: Detail) -> str:
    """The option that gives the figures of this run again."""
    return " --quick" if detail["size"] == "quick" else ""


def inline(svg: str) -> str:
    """A drawing to be put in a page: no prologue, no style sheet of its own, any width."""
    start = svg.index("<svg")
    svg = _METADATA.sub("", _STYLE.sub("", svg[start:]))
    end = svg.index(">")
    return _SIZE.sub("", svg[:end]) + svg[end:]


def _picture(detail: Detail, drawing: str) -> str:
    label = escape(f"{detail['figure']}: {detail['title']}", quote=True)
    svg = f'<figure role=img aria-label="{label}" tabindex=0>\n{inline(drawing)}\n</figure>'
    return f"{svg}\n{_legend(detail)}"


def _legend(detail: Detail) -> str:
    """Whose model a dashed line is, where there is one."""
    if "model" not in detail:
        return ""
    return f"<p class=key>dashed, model: {_MODELS[detail['model']]}</p>"


def _notes(detail: Detail) -> str:
    return "".join(f"<p class=note>{marked(note)}</p>\n" for note in detail.get("notes", ()))


def _claims(detail: Detail) -> str:
    if not detail["claims"]:
        return ""
    rows = "\n".join(map(_row, detail["claims"]))
    return (
        "<table>\n<thead><tr><th>Claim</th><th>Paper</th><th>Ours</th><th>Verdict</th></tr>"
        f"</thead>\n<tbody>\n{rows}\n</tbody>\n</table>"
    )


def _row(claim: ClaimDocument) -> str:
    verdict = word(claim["holds"])
    return (
        f"<tr class={verdict}><td data-of=Claim>{marked(claim['claim'])}</td>"
        f"<td data-of=Paper>{marked(claim['paper'])}</td>"
        f"<td data-of=Ours>{marked(claim['ours'])}</td>"
        f"<td data-of=Verdict>{badge(verdict)}<small>{marked(claim['why'])}</small></td></tr>"
    )


def _error(detail: Detail) -> str:
    return (
        f"<p class=crashed>It did not come to an end: {escape(detail['error'])}</p>\n"
        f"<details><summary>Where</summary><pre>{escape(detail['trace'])}</pre></details>"
    )

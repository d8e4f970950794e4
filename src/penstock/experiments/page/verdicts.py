"""Verdicts on the page: a word, a sign and a colour each, and how many there are of each."""

from __future__ import annotations

from collections.abc import Iterable

from penstock.experiments.reports.summary import Detail, Holds

WORDS = ("holds", "partly", "fails")
_SIGNS = {"holds": "✓", "partly": "◐", "fails": "✗"}


def word(holds: Holds) -> str:
    """The word for a verdict."""
    if holds == "partly":
        return "partly"
    return "holds" if holds is True else "fails"


def badge(verdict: str) -> str:
    """A verdict as a sign and a word."""
    return f'<span class="verdict {verdict}">{_SIGNS[verdict]} {verdict}</span>'


def tally(detail: Detail) -> str:
    """A sign for each claim of an experiment."""
    if "error" in detail:
        return '<span class="tally fails" title="crashed">crashed</span>'
    signs = "".join(
        f'<span class="{(w := word(claim["holds"]))}" title="{w}">{_SIGNS[w]}</span>'
        for claim in detail["claims"]
    )
    return f'<span class=tally aria-label="{_spoken(detail)}">{signs}</span>'


def counts_text(details: Iterable[Detail]) -> str:
    """How many experiments and claims, and how many of these hold."""
    known = list(details)
    verdicts = [word(claim["holds"]) for detail in known for claim in detail["claims"]]
    counted = {each: verdicts.count(each) for each in WORDS}
    parts = [f"{n} {_SIGNS[each]} {_verb(each, n)}" for each, n in counted.items()]
    crashed = sum("error" in detail for detail in known)
    shown = [part for part in parts if not part.startswith("0 ")]
    shown += [f"{crashed} crashed"] if crashed else []
    of = f"{many(len(known), 'experiment')}, {many(len(verdicts), 'claim')}"
    return f"{of}: {', '.join(shown)}" if shown else of


def many(count: int, noun: str) -> str:
    """A number of things."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _verb(verdict: str, count: int) -> str:
    return verdict if count == 1 else {"holds": "hold", "fails": "fail"}.get(verdict, verdict)


def _spoken(detail: Detail) -> str:
    verdicts = [word(claim["holds"]) for claim in detail["claims"]]
    return ", ".join(f"{verdicts.count(each)} {each}" for each in WORDS if each in verdicts)

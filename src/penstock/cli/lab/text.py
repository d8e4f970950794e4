"""Experiments and their verdicts as text for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from penstock.experiments.frame.experiment import Experiment
from penstock.experiments.frame.paper import PAPERS
from penstock.experiments.page.verdicts import many
from penstock.experiments.reports.summary import ClaimDocument, Detail, Summary


def list_text(experiments: Sequence[Experiment]) -> str:
    """The experiments by paper."""
    return "\n".join(line for paper in PAPERS for line in _of_paper(paper.key, experiments)) + "\n"


def _of_paper(key: str, experiments: Sequence[Experiment]) -> Iterator[str]:
    found = [experiment for experiment in experiments if experiment.paper.key == key]
    wide = max((len(experiment.name) for experiment in experiments), default=0)
    if found:
        paper = found[0].paper
        yield f"{key}: {paper.title}" + (f" ({paper.short})" if paper.authors else "")
    for experiment in found:
        yield f"  {experiment.name:<{wide}}  {experiment.figure}: {experiment.question}"


def list_document(experiments: Sequence[Experiment]) -> list[dict[str, object]]:
    """The experiments for programs."""
    return [
        {
            "name": experiment.name,
            "paper": experiment.paper.key,
            "figure": experiment.figure,
            "title": experiment.title,
            "question": experiment.question,
            "on_spark": experiment.on_spark,
        }
        for experiment in experiments
    ]


def summary_text(summary: Summary) -> str:
    """Every claim with its verdict, then the counts."""
    lines = [line for detail in summary["details"] for line in _experiment(detail)]
    return "\n".join([*lines, _counts(summary)]) + "\n"


def _experiment(detail: Detail) -> Iterator[str]:
    yield f"{detail['name']}  {detail['figure']}: {detail['title']}"
    if "error" in detail:
        yield f"  crashed  {detail['error']}"
    for note in detail.get("notes", ()):
        yield f"  note     {note}"
    for claim in detail["claims"]:
        yield from _claim(claim)
    yield ""


def _claim(claim: ClaimDocument) -> Iterator[str]:
    verdict = "holds" if claim["holds"] is True else str(claim["holds"] or "FAILS")
    yield f"  {verdict:<7}  {claim['claim']}"
    yield f"  {'':<7}  paper: {claim['paper']}"
    yield f"  {'':<7}  ours:  {claim['ours']}"
    if verdict != "holds":
        yield f"  {'':<7}  why:   {claim['why']}"


def _counts(summary: Summary) -> str:
    fails, crashed = len(summary["fails"]), len(summary["crashed"])
    ended = f"; {crashed} crashed" if crashed else ""
    of = f"{many(summary['experiments'], 'experiment')}, {many(summary['claims'], 'claim')}"
    return f"{of}: {summary['holds']} hold, {summary['partly']} partly, {fails} fail{ended}"


def stopped_text(done: Sequence[str], asked: int, folder: Path | None) -> str:
    """One line: what is finished of a run that was stopped, and where it is."""
    names = f": {', '.join(done)}" if done else ""
    kept = "nowhere: --output DIR would have kept them" if folder is None else f"in {folder}"
    where = f"; saved {kept}" if done else ""
    return f"stopped: {len(done)} of {many(asked, 'experiment')} finished{names}{where}"

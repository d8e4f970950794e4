"""The summary: every claim with the paper's figure, ours, and whether it holds, as JSON."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NotRequired, TypedDict

from penstock.experiments.frame.claim import Claim, Verdict
from penstock.experiments.frame.findings import Findings
from penstock.experiments.reports.report import Report

VERSION = 1
Holds = bool | str
_HOLDS: dict[Verdict, Holds] = {"holds": True, "partly": "partly", "fails": False}


class ClaimDocument(TypedDict):
    claim: str
    paper: str
    ours: str
    holds: Holds
    why: str
    timed: bool


class Failed(TypedDict):
    experiment: str
    claim: str
    paper: str
    ours: str
    why: str


class CrashDocument(TypedDict):
    experiment: str
    error: str


class Detail(TypedDict):
    name: str
    paper: str
    figure: str
    title: str
    question: str
    about: str
    size: str
    seconds: float
    on_spark: bool
    claims: list[ClaimDocument]
    model: NotRequired[str]
    notes: NotRequired[list[str]]
    error: NotRequired[str]
    trace: NotRequired[str]


class Summary(TypedDict):
    version: int
    experiments: int
    claims: int
    holds: int
    partly: int
    fails: list[Failed]
    crashed: list[CrashDocument]
    details: list[Detail]


def summary_of(details: Iterable[Detail]) -> Summary:
    """The counts over experiments, and the experiments themselves."""
    known = list(details)
    claims = [(detail["name"], claim) for detail in known for claim in detail["claims"]]
    return {
        "version": VERSION,
        "experiments": len(known),
        "claims": len(claims),
        "holds": sum(claim["holds"] is True for _, claim in claims),
        "partly": sum(claim["holds"] == "partly" for _, claim in claims),
        "fails": [_failed(name, claim) for name, claim in claims if claim["holds"] is False],
        "crashed": [{"experiment": d["name"], "error": d["error"]} for d in known if "error" in d],
        "details": known,
    }


def detail_of(report: Report) -> Detail:
    """One experiment with its claims, or the error that ended it."""
    asked = report.experiment
    detail: Detail = {
        "name": asked.name,
        "paper": asked.paper.key,
        "figure": asked.figure,
        "title": asked.title,
        "question": asked.question,
        "about": asked.about,
        "size": report.size,
        "seconds": round(report.seconds, 1),
        "on_spark": asked.on_spark,
        "claims": [_claim(claim) for claim in report.claims],
    }
    if not isinstance(report.outcome, Findings):
        detail["error"], detail["trace"] = report.outcome.error, report.outcome.trace
        return detail
    if report.outcome.has_model:
        detail["model"] = asked.model
    if report.outcome.notes:
        detail["notes"] = list(report.outcome.notes)
    return detail


def _claim(claim: Claim) -> ClaimDocument:
    return {
        "claim": claim.text,
        "paper": claim.paper,
        "ours": claim.ours,
        "holds": _HOLDS[claim.verdict],
        "why": claim.explanation,
        "timed": claim.timed,
    }


def _failed(name: str, claim: ClaimDocument) -> Failed:
    return {
        "experiment": name,
        "claim": claim["claim"],
        "paper": claim["paper"],
        "ours": claim["ours"],
        "why": claim["why"],
    }

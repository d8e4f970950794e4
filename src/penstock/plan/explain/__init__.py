"""A decision for people and programs to read: text, JSON, Mermaid, DOT, or one HTML page."""

from __future__ import annotations

from enum import StrEnum

from penstock.errors import PlanError
from penstock.plan.decision import Decision
from penstock.plan.explain.figures import figures_of
from penstock.plan.explain.json import as_json
from penstock.plan.explain.pictures.dot import as_dot
from penstock.plan.explain.pictures.html import as_html
from penstock.plan.explain.pictures.mermaid import as_mermaid
from penstock.plan.explain.text import as_text


class Format(StrEnum):
    """The formats of `explain`."""

    TEXT = "text"
    JSON = "json"
    MERMAID = "mermaid"
    DOT = "dot"
    HTML = "html"


def explain(decision: Decision, format: str = "text", alternatives: bool = False) -> str:
    """The chosen plan with its figures, and the others if asked for, in one of the formats."""
    if format not in [*Format]:
        raise PlanError(f"no format {format!r}", hint=f"formats are {', '.join(Format)}")
    figures = figures_of(decision, alternatives)
    match Format(format):
        case Format.TEXT:
            return as_text(figures)
        case Format.JSON:
            return as_json(figures)
        case Format.MERMAID:
            return as_mermaid(figures)
        case Format.DOT:
            return as_dot(figures)
        case Format.HTML:
            return as_html(figures)

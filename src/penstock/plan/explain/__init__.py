"""A decision for people and programs to read: text, JSON, Mermaid, DOT, SVG, or one HTML page."""

from __future__ import annotations

from enum import StrEnum

from penstock.errors import PlanError
from penstock.plan.decision import Decision
from penstock.plan.explain.figures import figures_of
from penstock.plan.explain.json import as_json
from penstock.plan.explain.pictures.dot import as_dot
from penstock.plan.explain.pictures.html import as_html
from penstock.plan.explain.pictures.mermaid import as_mermaid
from penstock.plan.explain.pictures.script_pictures import (
    script_dot,
    script_html,
    script_mermaid,
)
from penstock.plan.explain.pictures.svg_file import as_svg, script_svg
from penstock.plan.explain.script import figures_by_name, script_json, script_text
from penstock.plan.explain.text import as_text
from penstock.plan.script import PlannedScript


class Format(StrEnum):
    """The formats of `explain`."""

    TEXT = "text"
    JSON = "json"
    MERMAID = "mermaid"
    DOT = "dot"
    HTML = "html"
    SVG = "svg"


def explain_script(planned: PlannedScript, format: str = "text", alternatives: bool = False) -> str:
    """The plans of a script with their figures, in one of the formats."""
    wanted, figures = _format(format), figures_by_name(planned, alternatives)
    match wanted:
        case Format.TEXT:
            return script_text(planned, figures)
        case Format.JSON:
            return script_json(planned, figures)
        case Format.MERMAID:
            return script_mermaid(planned, figures)
        case Format.DOT:
            return script_dot(planned, figures)
        case Format.HTML:
            return script_html(planned, figures)
        case Format.SVG:
            return script_svg(planned, figures)


def _format(name: str) -> Format:
    if name not in [*Format]:
        raise PlanError(f"no format {name!r}", hint=f"formats are {', '.join(Format)}")
    return Format(name)


def explain(decision: Decision, format: str = "text", alternatives: bool = False) -> str:
    """The chosen plan with its figures, and the others if asked for, in one of the formats."""
    wanted, figures = _format(format), figures_of(decision, alternatives)
    match wanted:
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
        case Format.SVG:
            return as_svg(figures)

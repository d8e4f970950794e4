"""`penstock doctor`: what the machine lacks for Penstock, and how to mend it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from dataclasses import asdict
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from penstock.cli.checkup import Finding

_MARKS = {"ok": "✓", "warning": "!", "error": "✗"}


class DoctorFormat(StrEnum):
    """How the findings are shown."""

    TEXT = "text"
    JSON = "json"


def doctor(
    format: Annotated[DoctorFormat, typer.Option(help="How to show the findings.")] = (
        DoctorFormat.TEXT
    ),
) -> None:
    """Check Python, Java, Spark, workers, disk and memory, and say how to mend what is wrong."""
    from penstock.cli.checkup import checkup

    findings = list(checkup())
    sys.stdout.write(as_json(findings) if format == "json" else as_text(findings))
    if not is_fit(findings):
        raise typer.Exit(1)


def is_fit(findings: Iterable[Finding]) -> bool:
    """Whether nothing essential is missing."""
    return all(finding.status != "error" for finding in findings)


def as_text(findings: list[Finding]) -> str:
    """A line a finding, and how to mend it on the next."""
    width = max(len(finding.name) for finding in findings)
    lines = []
    for finding in findings:
        lines.append(f"{_MARKS[finding.status]} {finding.name:<{width}}  {finding.found}")
        if finding.mend:
            lines.append(f"  {'':<{width}}  → {finding.mend}")
    return "\n".join(lines) + "\n"


def as_json(findings: list[Finding]) -> str:
    """The findings for programs: version 1."""
    checks = [asdict(finding) for finding in findings]
    document = {"version": 1, "ok": is_fit(findings), "checks": checks}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"

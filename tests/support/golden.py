"""Golden cases: what somebody writes, and what it is answered."""

from __future__ import annotations

from pathlib import Path

import yaml


def golden_cases(path: Path) -> list[dict[str, str]]:
    """The cases of a YAML file."""
    cases: list[dict[str, str]] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return cases

"""Texts that people have reviewed: golden files, rewritten with PENSTOCK_GOLDEN=1."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import yaml


def as_reviewed(path: Path, said: str) -> bool:
    """Whether a text is the one in its golden file, which is written first when asked for."""
    if os.environ.get("PENSTOCK_GOLDEN") == "1":
        path.write_text(said, encoding="utf-8")
    return said == path.read_text(encoding="utf-8")


@cache
def golden_cases(path: Path) -> list[dict[str, str]]:
    """The cases of a golden YAML file, read by the compiled reader where there is one."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    cases: list[dict[str, str]] = yaml.load(path.read_text(encoding="utf-8"), Loader=loader)
    return cases

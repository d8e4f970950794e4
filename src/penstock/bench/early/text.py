"""The figures of `bench early` as text for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, get_args

from penstock.bench.early.settings import Join
from penstock.table import table

_PLANS = ("LAP", "EAP10", "EAP01", "EAP11")


def early_text(made: Mapping[str, Any]) -> str:
    """Two rows for each setting, as predicted and as measured, then why its plan should win."""
    heading = ("join, best plan", "", *_PLANS, "winner")
    settings = [(join, *each) for join in get_args(Join) for each in made.get(join, {}).items()]
    rows = [row for each in settings for row in _rows(*each)]
    repeat = made["setting"]["repeat"]
    runs = f"median of {repeat} runs" if repeat > 1 else "one run, which tells no close plans apart"
    return "\n".join(
        [
            f"CPU-seconds of all plans in one process, {runs}; all answers are equal",
            "",
            *table(heading, rows),
            "",
            *(f"{join}, {best}: {found['why']}" for join, best, found in settings),
        ]
    ) + "\n"  # fmt: skip


def _rows(join: str, best: str, found: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    for title, kind in ((f"{join}, {best}", "predicted"), ("", "measured")):
        seconds = found[f"{kind}_s"]
        cells = (f"{seconds[name]:.3f}" for name in _PLANS)
        yield (title, kind, *cells, found[f"{kind}_winner"])

"""The figures of `bench early` as text for people."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.bench.early.run import EarlyDocument, SettingFigures
from penstock.table import table

_PLANS = ("LAP", "EAP10", "EAP01", "EAP11")


def early_text(made: EarlyDocument) -> str:
    """Two rows for each setting, as predicted and as measured, then why its plan should win."""
    heading = ("join, best plan", "", *_PLANS, "winner")
    joins = {"hash": made["hash"], "nested": made["nested"]}
    settings = [(join, *each) for join, found in joins.items() for each in found.items()]
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


def _rows(join: str, best: str, found: SettingFigures) -> Iterator[tuple[str, ...]]:
    yield _row(f"{join}, {best}", "predicted", found["predicted_s"], found["predicted_winner"])
    yield _row("", "measured", found["measured_s"], found["measured_winner"])


def _row(title: str, kind: str, seconds: dict[str, float], winner: str) -> tuple[str, ...]:
    return (title, kind, *(f"{seconds[name]:.3f}" for name in _PLANS), winner)

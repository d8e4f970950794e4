"""The figures of `bench shared`, for programs and for people."""

from __future__ import annotations

import statistics
from typing import TypedDict

from penstock.bench.shared.run import Outcome
from penstock.table import table

ENOUGH = 3.0
"""Times as much processor time that queries should take one by one."""


class SharedDocument(TypedDict):
    """Processor seconds, medians over the rounds, and what the planner made of it."""

    engine: str
    events: int
    repeat: int
    apart: dict[str, float]
    apart_s: float
    together_s: float
    unshared_s: float
    ratio: float
    is_enough: bool
    results: dict[str, int]
    sharing: dict[str, list[str]]
    wrong: list[str]


def document(outcome: Outcome, engine: str) -> SharedDocument:
    """The figures for programs."""
    apart = {name: statistics.median(each) for name, each in outcome.apart.items()}
    return {
        "engine": engine,
        "events": outcome.size.events.count,
        "repeat": outcome.size.repeat,
        "apart": {name: round(seconds, 2) for name, seconds in apart.items()},
        "apart_s": round(sum(apart.values()), 2),
        "together_s": round(statistics.median(outcome.together), 2),
        "unshared_s": round(statistics.median(outcome.unshared), 2),
        "ratio": round(outcome.ratio, 2),
        "is_enough": outcome.ratio >= ENOUGH,
        "results": dict(outcome.results),
        "sharing": {each.maker: list(each.takers) for each in outcome.planned.sharing},
        "wrong": list(outcome.wrong),
    }


def shared_text(made: SharedDocument) -> str:
    """A row for each query, and what they take together."""
    takers = {name: maker for maker, names in made["sharing"].items() for name in names}
    rows = [
        (name, f"{seconds:.2f} s", f"{made['results'][name]:,}", takers.get(name, "-"))
        for name, seconds in made["apart"].items()
    ]
    enough = "enough" if made["is_enough"] else f"less than {ENOUGH:g}"
    wrong = [f"WRONG: the rows of {', '.join(made['wrong'])} differ"] if made["wrong"] else []
    return "\n".join(
        [
            f"{len(rows)} queries over {made['events']:,} events in CSV; processor time, "
            f"engine {made['engine']}",
            "",
            *table(("query", "by itself", "results", "shares"), rows),
            "",
            f"one by one             {made['apart_s']:.2f} s",
            f"together, not sharing  {made['unshared_s']:.2f} s",
            f"together               {made['together_s']:.2f} s",
            "",
            *wrong,
            f"one by one they take {made['ratio']:.2f} times as much: {enough}",
        ]
    ) + "\n"  # fmt: skip

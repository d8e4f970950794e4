"""Explain of a script: its queries one after another, with what they take together."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from penstock.plan.decision import Decision
from penstock.plan.explain.figures import Figures, figures_of
from penstock.plan.explain.json import VERSION, document_of, rounded
from penstock.plan.explain.quantity import number, percent, roughly
from penstock.plan.explain.text import as_text
from penstock.plan.script import PlannedScript
from penstock.query.script import Member


def figures_by_name(planned: PlannedScript, alternatives: bool) -> dict[str, Figures]:
    """The figures of every query."""
    return {
        name: figures_of(decision, alternatives) for name, decision in planned.decisions.items()
    }


def script_text(planned: PlannedScript, figures: dict[str, Figures]) -> str:
    """The queries for a terminal, each under its name, and their total above them."""
    parts = ["\n".join(total_lines(planned)) + "\n"]
    for member in planned.script.members:
        parts.append(f"── {title(member)}\n{as_text(figures[member.name])}")
    return "\n".join(parts)


def total_lines(planned: PlannedScript) -> Iterator[str]:
    """What the script is, and what its queries take together."""
    count = len(planned.script.members)
    work = roughly(number(planned.utilization), planned.rests_on_guesses)
    share = roughly(percent(planned.utilization / planned.capacity), planned.rests_on_guesses)
    state = roughly(number(planned.state), planned.rests_on_guesses)
    yield (
        f"script of {count} queries   util {work} of {number(planned.capacity)} ({share})   "
        f"state {state} tuples"
    )
    for member in planned.script.members:
        found = planned.decisions[member.name].chosen.estimate
        part = roughly(number(found.utilization), planned.rests_on_guesses)
        yield f"  {title(member)}   util {part}{_left(planned.decisions[member.name])}"
    if not planned.is_feasible:
        needed = roughly(f"{planned.needed:,.4g}", planned.rests_on_guesses)
        end = "sheds" if planned.is_shed else "they do not keep up"
        yield f"needs   {needed} of {planned.capacity:g} CPU-seconds a second: {end}"


def _left(decision: Decision) -> str:
    """The part of a query's results that is left where it is shed."""
    found = decision.chosen.estimate
    if not decision.is_shed or not found.full_rate:
        return ""
    return f"   keeps {percent(found.output_rate / found.full_rate)} of its results"


def title(member: Member) -> str:
    """`x, from v and s, to a sink`."""
    from_ = f", from {' and '.join(member.reads)}" if member.reads else ""
    return f"{member.name}{from_}{', to a sink' if member.is_shown else ''}"


def script_json(planned: PlannedScript, figures: dict[str, Figures]) -> str:
    """The script as a JSON object: its total, and for each query what explain gives of one."""
    document: dict[str, Any] = {
        "version": VERSION,
        "feasible": planned.is_feasible,
        "shed": planned.is_shed,
        "capacity": planned.capacity,
        "utilization": planned.utilization,
        "needed": planned.needed,
        "state_tuples": planned.state,
        "rests_on_guesses": planned.rests_on_guesses,
        "queries": [
            {
                "name": member.name,
                "reads": list(member.reads),
                "sink": member.is_shown,
                **document_of(figures[member.name]),
            }
            for member in planned.script.members
        ],
    }
    return json.dumps(rounded(document), indent=2, ensure_ascii=False) + "\n"

"""Explain of a script: its queries one after another, with what they take together."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from penstock.plan.decision import Decision
from penstock.plan.explain.figures import Figures, figures_of
from penstock.plan.explain.json import VERSION, document_of, rounded
from penstock.plan.explain.notes import sample_notes
from penstock.plan.explain.quantity import number, percent, roughly
from penstock.plan.explain.text import as_text
from penstock.plan.multiway import MultiwayJoin
from penstock.plan.script import PlannedScript, Sharing
from penstock.query.script import Member
from penstock.query.window import render_window


def figures_by_name(planned: PlannedScript, alternatives: bool) -> dict[str, Figures]:
    """The figures of every query."""
    return {
        name: figures_of(decision, alternatives) for name, decision in planned.decisions.items()
    }


def script_text(planned: PlannedScript, figures: dict[str, Figures]) -> str:
    """The queries for a terminal, each under its name, and their total above them."""
    parts = ["\n".join(total_lines(planned)) + "\n"]
    for member in planned.script.members:
        own = figures[member.name]
        body = as_text(own) if member.takes is None else "\n".join(taken_lines(member, own)) + "\n"
        parts.append(f"── {title(member)}\n{body}")
    return "\n".join(parts)


def taken_lines(member: Member, figures: Figures) -> Iterator[str]:
    """A query that takes combinations: which of them, and what it makes of them."""
    assert member.takes is not None, "others have plans of their own"
    query, decision = member.query, figures.decision
    yield f"take    of the combinations of {member.takes.maker}"
    for item in query.inputs:
        yield f"        {item.source.name} [{render_window(item.window)}] AS {item.alias}"
    conditions = " AND ".join(str(each) for each in (*query.filters, *query.thetas))
    if conditions:
        yield f"where   {conditions}"
    estimate, guesses = decision.chosen.estimate, decision.rests_on_guesses
    rate = estimate.output_rate if estimate.changes is None else estimate.changes
    what = "results/s" if estimate.changes is None else "changes/s"
    yield f"util {roughly(number(estimate.utilization), guesses)}   out {number(rate)} {what}"
    yield from (f"note    {note}" for note in sample_notes(decision.plan))


def total_lines(planned: PlannedScript) -> Iterator[str]:
    """What the script is, and what its queries take together."""
    # Who finds combinations for others was asked by nobody.
    count = len(planned.script.members) - len(planned.sharing)
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
    for once in planned.reading:
        saved = roughly(number(once.saves), planned.rests_on_guesses)
        yield f"read    {once.source} once, for {', '.join(once.queries)}: saves util {saved}"
    for sharing in planned.sharing:
        yield shared_line(planned, sharing)
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


def shared_line(planned: PlannedScript, sharing: Sharing) -> str:
    """What queries have in common, and what it saves to find that once."""
    join = ", ".join(" ⋈ ".join(each) for each in _joins(planned, sharing))
    both = [
        roughly(number(each), planned.rests_on_guesses)
        for each in (sharing.together, sharing.apart)
    ]
    saved = roughly(percent(abs(sharing.saves)), planned.rests_on_guesses)
    verdict = f"saves {saved}" if sharing.saves >= 0 else f"adds {saved}"
    return (
        f"shared  {join} once, as {sharing.maker}, for {', '.join(sharing.takers)}: "
        f"util {both[0]} instead of {both[1]}, which {verdict} of their work"
    )


def _joins(planned: PlannedScript, sharing: Sharing) -> Iterator[list[str]]:
    """The inputs of the join that is shared, or of each of several."""
    plan = planned.plans[sharing.maker]
    joins = plan.joins if isinstance(plan, MultiwayJoin) else (frozenset(plan.query.aliases),)
    return ([alias for alias in plan.query.aliases if alias in join] for join in joins)


def title(member: Member) -> str:
    """`x, from v and s, to a sink`."""
    from_ = f", from {' and '.join(member.reads)}" if member.reads else ""
    by = f", by {member.takes.maker}" if member.takes is not None else ""
    return f"{member.name}{from_}{by}{', to a sink' if member.is_shown else ''}"


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
        "reading": [
            {"source": once.source, "queries": list(once.queries), "saves": once.saves}
            for once in planned.reading
        ],
        "sharing": [
            {
                "name": sharing.maker,
                "queries": list(sharing.takers),
                "utilization": sharing.together,
                "apart": sharing.apart,
                "saves": sharing.saves,
            }
            for sharing in planned.sharing
        ],
        "queries": [
            {
                "name": member.name,
                "reads": list(member.reads),
                "takes": None if member.takes is None else member.takes.maker,
                "sink": member.is_shown,
                **document_of(figures[member.name]),
            }
            for member in planned.script.members
        ],
    }
    return json.dumps(rounded(document), indent=2, ensure_ascii=False) + "\n"

"""The supervisor of a script's run, made for queries that have been planned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from penstock.adapt.follow import supervisor_for
from penstock.adapt.planning.planner import Planning
from penstock.adapt.replanner import Mode
from penstock.adapt.script.script_shedder import ScriptShedder
from penstock.adapt.script.script_streams import ScriptStreams
from penstock.adapt.settings import DEFAULT_SETTINGS, Settings
from penstock.adapt.shedding.wish import wish_of
from penstock.adapt.supervisor import StreamSupervisor
from penstock.engine.run.options import RunOptions
from penstock.optimize.options import PlanOptions
from penstock.optimize.script_shedding import sheddable, sheddable_makers
from penstock.optimize.sharing.shared_work import SHARED_KINDS
from penstock.plan.script import PlannedScript
from penstock.query.script import Member, Script
from penstock.stats.known import Known


def script_supervisor_for(
    planned: PlannedScript,
    known: Mapping[str, Known],
    options: PlanOptions,
    mode: Mode,
    run: RunOptions,
    *,
    settings: Settings = DEFAULT_SETTINGS,
    planning: Planning = "background",
) -> ScriptStreams:
    """Who follows the streams of a script; `known` is what is known of each query that finds its
    own combinations, by name."""
    script = planned.script
    finding = [member for member in script.members if member.takes is None]

    def supervisor(member: Member) -> StreamSupervisor:
        taken = taken_sets(script, member)
        kinds = options.kinds & SHARED_KINDS or frozenset({"multiway"})
        return supervisor_for(
            planned.plans[member.name],
            known[member.name],
            replace(options, kinds=kinds) if taken else options,
            mode,
            settings=settings,
            planning=planning,
            taken=taken,
        )

    shedder = None
    if not run.available_now:
        shedder = ScriptShedder(
            {member.name: member.query for member in finding},
            sheddable(script) | sheddable_makers(script),
            wish_of(run, exact_of_kept=options.exact_of_kept),
            takers={member.name: script.takers(member.name) for member in finding},
            is_inline=planning == "inline",
            settings=settings,
        )
    return ScriptStreams({member.name: supervisor(member) for member in finding}, shedder)


def taken_sets(script: Script, maker: Member) -> frozenset[frozenset[str]]:
    """The inputs of a member whose combinations others take: sets of its aliases."""
    takings = (each.takes for each in script.takers(maker.name))
    return frozenset(
        frozenset(theirs for _, theirs in taking.aliases) for taking in takings if taking
    )

"""The script with one more member for each join that some of its queries share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import count

from penstock.optimize.options import PlanOptions
from penstock.optimize.sharing.choosing import best_groups
from penstock.optimize.sharing.common_figures import Knowns, common_known
from penstock.optimize.sharing.common_join import Sharer
from penstock.optimize.sharing.reading import receiving_all
from penstock.optimize.sharing.same_joins import named_join
from penstock.optimize.sharing.shared_work import (
    SharedJoin,
    kept_tuples,
    shared_join,
    taken_decision,
)
from penstock.plan.decision import Decision
from penstock.plan.script import PlannedScript, Sharing
from penstock.query.script import Member, Script, Standing, Taking
from penstock.stats.known import Known

Told = Callable[[str, Known], Known]
"""What is known of a member, by its name, with what was measured of it over what is given."""

Groups = Mapping[str, SharedJoin]
"""Shared joins, by the names of the members that find them."""


def shared_script(
    planned: PlannedScript,
    knowns: Knowns,
    options: PlanOptions,
    standing: Standing,
    told: Told | None = None,
) -> PlannedScript:
    """The script as planned, but for the queries that share a join where that takes less work.

    Those of a checkpoint share as they did: their windows lie there, and what is `told` of their
    join was measured. Queries that are new to it share among themselves, for they begin with what
    comes next.
    """
    script = planned.script
    sharers = {each.name: each for each in _sharers(script)}

    def joined(group: Sequence[Sharer]) -> SharedJoin | None:
        return shared_join(group, knowns, options)

    def joined_there(group: Sequence[Sharer], maker: str) -> SharedJoin | None:
        return shared_join(group, knowns, options, None if told is None else partial(told, maker))

    found = dict(_standing(sharers, standing, joined_there))
    if "sharing" not in options.off:
        new = [each for name, each in sharers.items() if name not in standing.known]
        alone = {name: _by_itself(planned, name, knowns) for name in planned.decisions}
        names = _names({*standing.known, *(member.name for member in script.members)})
        kept = {each.name: kept_tuples(knowns[each.name]) for each in new}
        found |= {next(names): group for group in best_groups(new, alone, kept, joined)}
    return _with_groups(planned, found, knowns) if found else planned


def _by_itself(planned: PlannedScript, name: str, knowns: Knowns) -> float:
    """The work of a query that shares nothing, but for receiving what is read for all anyway."""
    return planned.decisions[name].chosen.estimate.utilization - receiving_all(knowns[name])


def known_of_makers(planned: PlannedScript, knowns: Knowns) -> dict[str, Known]:
    """What is known of the members that find combinations for others, from what is known of
    these."""
    sharers = {each.name: each for each in _sharers(planned.script)}
    return {
        sharing.maker: common_known(
            planned.script.member(sharing.maker).query,
            [sharers[name] for name in sharing.takers],
            knowns,
        )
        for sharing in planned.sharing
    }


def _sharers(script: Script) -> Iterator[Sharer]:
    for member in script.members:
        named = named_join(member.query)
        if named is not None:
            yield Sharer(member.name, member.query, named)


def _standing(
    sharers: Mapping[str, Sharer],
    standing: Standing,
    joined: Callable[[Sequence[Sharer], str], SharedJoin | None],
) -> Iterator[tuple[str, SharedJoin]]:
    """The joins that a checkpoint has, for those of their queries that are still asked. A query
    that asks something else now is refused with the checkpoint."""
    for maker, takers in standing.makers.items():
        group = [sharers[name] for name in takers if name in sharers]
        found = joined(group, maker) if group else None
        if found is not None:
            yield maker, found


def _names(taken: set[str]) -> Iterator[str]:
    return (name for n in count(1) if (name := f"shared.{n}") not in taken)


def _with_groups(planned: PlannedScript, groups: Groups, knowns: Knowns) -> PlannedScript:
    takers = {
        each.name: (maker, place)
        for maker, group in groups.items()
        for place, each in enumerate(group.sharers)
    }
    members: list[Member] = []
    decisions: dict[str, Decision] = {}
    for member in planned.script.members:
        maker, place = takers.get(member.name, (None, 0))
        alone = planned.decisions[member.name]
        if maker is None:
            members.append(member)
            decisions[member.name] = alone
            continue
        group = groups[maker]
        if maker not in decisions:
            members.append(Member(maker, group.decision.plan.query))
            decisions[maker] = group.decision
        taking = Taking(maker, group.sharers[place].named.aliases)
        members.append(replace(member, takes=taking))
        decisions[member.name] = taken_decision(alone, member.query, maker, group.taking[place])
    sharing = tuple(_sharing(planned, maker, group, knowns) for maker, group in groups.items())
    script = replace(planned.script, members=tuple(members))
    return PlannedScript(script, decisions, planned.capacity, sharing)


def _sharing(planned: PlannedScript, maker: str, group: SharedJoin, knowns: Knowns) -> Sharing:
    names = tuple(each.name for each in group.sharers)
    alone = (_by_itself(planned, name, knowns) for name in names)
    return Sharing(maker, names, group.work, sum(alone))

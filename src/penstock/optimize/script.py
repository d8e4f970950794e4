"""The plans of a script: each query in its turn, with what those before it are expected to give."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from penstock.errors import PlanError
from penstock.optimize.options import PlanOptions
from penstock.optimize.planner import decide
from penstock.optimize.script_shedding import kept_share, shed_decisions
from penstock.optimize.sharing.reading import read_once
from penstock.optimize.sharing.shared_script import Told, known_of_makers, shared_script
from penstock.plan.decision import Decision
from penstock.plan.script import PlannedScript
from penstock.query.script import NOTHING_STANDS, Member, Script, Standing
from penstock.stats.derived import Expected, expected_of, together
from penstock.stats.known import Known

KnowledgeOf = Callable[[Member, Mapping[str, Expected]], Known]
"""What is known of a member, given what its derived inputs are expected to bring, by alias."""


def decide_script(
    script: Script,
    knowledge: KnowledgeOf,
    options: PlanOptions,
    standing: Standing = NOTHING_STANDS,
) -> PlannedScript:
    """The decisions of all queries of a script, in its order, and who of them shares a join; on a
    checkpoint that has begun, those share who did so far.

    Where they do not keep up together and `options` let them shed, some are shed: with what they
    share, or apart, whichever leaves more of their results.
    """
    return decide_known_script(script, knowledge, options, standing)[0]


def decide_known_script(
    script: Script,
    knowledge: KnowledgeOf,
    options: PlanOptions,
    standing: Standing = NOTHING_STANDS,
    told: Told | None = None,
) -> tuple[PlannedScript, dict[str, Known]]:
    """The same, and what is known of each member, those that find combinations for others too. What
    was measured of these, on a checkpoint that has begun, is `told`."""
    _refuse_options(options)
    planning = _planned_apart(script, knowledge, replace(options, sheds=False))
    planned = _together(script, planning, options, standing, told)
    made = known_of_makers(planned, planning.known)
    if told is not None:
        made = {name: told(name, known) for name, known in made.items()}
    return planned, planning.known | made


def _together(
    script: Script,
    planning: _Planning,
    options: PlanOptions,
    standing: Standing,
    told: Told | None,
) -> PlannedScript:
    """Queries that were planned apart, with what they share, and shed if they must be."""
    unshed = replace(options, sheds=False)
    apart = PlannedScript(script, planning.decisions, planning.capacity)

    def shared(options: PlanOptions) -> PlannedScript:
        found = shared_script(apart, planning.known, options, standing, told)
        known = planning.known | known_of_makers(found, planning.known)
        return replace(found, reading=read_once(found.script, known))

    planned = shared(unshed)
    if planned.is_feasible or not options.sheds:
        return planned
    fewer = shared(replace(unshed, off=unshed.off | {"sharing"}))
    tried = [planned] if fewer.sharing == planned.sharing else [planned, fewer]
    return _best_shed(tried, planning.known, options)


def _best_shed(
    tried: Sequence[PlannedScript], known: Mapping[str, Known], options: PlanOptions
) -> PlannedScript:
    """Of a script that shares more or less, the one whose queries have most of their results left
    when they are shed."""
    found, faults = list[PlannedScript](), list[PlanError]()
    for planned in tried:
        every = {**known, **known_of_makers(planned, known)}
        try:
            decisions = shed_decisions(planned, every, options)
            found.append(replace(planned, decisions=decisions))
        except PlanError as error:
            faults.append(error)
    if not found:
        raise faults[-1]
    return max(found, key=kept_share)


def known_of(script: Script, knowledge: KnowledgeOf, options: PlanOptions) -> Mapping[str, Known]:
    """What is known of each query of a script, if each is planned by itself."""
    return _planned_apart(script, knowledge, replace(options, sheds=False)).known


def _planned_apart(script: Script, knowledge: KnowledgeOf, options: PlanOptions) -> _Planning:
    planning = _Planning(knowledge, options, {}, {}, {})
    for member in script.members:
        planning.plan(member)
    return planning


def refuse_infeasible_script(planned: PlannedScript) -> None:
    """Refuse to run queries that are known not to keep up together; guesses refuse nothing."""
    if planned.is_feasible or planned.is_shed or planned.rests_on_guesses:
        return
    parts = ", ".join(
        f"{name} {decision.chosen.estimate.needed:,.4g}"
        for name, decision in planned.decisions.items()
    )
    raise PlanError(
        f"the queries of the script do not keep up: together they need {planned.needed:,.4g} of "
        f"{planned.capacity:g} CPU-seconds a second\n  {parts}",
        hint="let them shed with --shed (shed=True), give them more with --capacity, or ask less",
    )


def _refuse_options(options: PlanOptions) -> None:
    hint = "ask it in a script of its own"
    if options.plan is not None:
        raise PlanError("--plan is of one query, and the script asks several", hint=hint)
    if options.engine == "laboratory":
        raise PlanError("the laboratory runs one query, and the script asks several", hint=hint)


@dataclass(frozen=True)
class _Planning:
    """Decisions so far, what they rest on, and what each query is expected to give."""

    knowledge: KnowledgeOf
    options: PlanOptions
    decisions: dict[str, Decision]
    known: dict[str, Known]
    expected: dict[str, Expected]

    @property
    def capacity(self) -> float:
        """The CPU-seconds a second that there are for all queries."""
        return next(iter(self.known.values())).capacity.value

    def plan(self, member: Member) -> None:
        """Decide one more query."""
        inputs = {
            item.alias: together([self.expected[name] for name in item.source.makers])
            for item in member.query.inputs
            if item.source.makers
        }
        known = self.knowledge(member, inputs)
        decision = decide(known, self.options)
        estimate = decision.chosen.estimate
        rate = estimate.output_rate if estimate.changes is None else estimate.changes
        is_guess = decision.rests_on_guesses
        self.decisions[member.name], self.known[member.name] = decision, known
        self.expected[member.name] = expected_of(member.name, known, rate, is_guess)

"""Scripts of several queries: planned together, explained as one, and started."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from penstock.arguments import as_text
from penstock.engines import BATCH_ENGINES, BatchEngine, as_engine
from penstock.errors import PenstockError, UsageError
from penstock.optimize.options import PlanOptions
from penstock.optimize.script import (
    decide_known_script,
    decide_script,
    refuse_infeasible_script,
)
from penstock.plan.decision import Decision
from penstock.plan.explain import explain_script
from penstock.plan.script import PlannedScript
from penstock.query.script import NOTHING_STANDS, Member, Script
from penstock.stats.derived import Expected
from penstock.stats.known import Known

if TYPE_CHECKING:
    import penstock
    from penstock.engine.run.options import RunOptions

Sinks: TypeAlias = "Mapping[str, Any] | Any"
"""A sink for each query that has one, by its name, or the sink itself where it is one alone."""


@dataclass(frozen=True)
class ContinuousScript:
    """Several queries with their plans, ready to be explained or started."""

    script: Script
    knowledge: Callable[[Member, Mapping[str, Expected]], Known] = field(repr=False)
    options: PlanOptions
    frames: Mapping[str, Any] = field(default_factory=dict, compare=False)
    """The DataFrames of its streams and tables, by the names that they were given by."""

    @property
    def planned(self) -> PlannedScript:
        """The plans of all queries, and what they take together."""
        return self._decided[0]

    @cached_property
    def _decided(self) -> tuple[PlannedScript, dict[str, Known]]:
        return decide_known_script(self.script, self.knowledge, self.options)

    def planned_on(self, checkpoint: str | Path) -> PlannedScript:
        """The plans for a run on a checkpoint: queries that have begun there share joins as they
        did."""
        from penstock.engine.script.shared_joins import standing_in

        standing = standing_in(checkpoint)
        if standing == NOTHING_STANDS:
            return self.planned
        return decide_script(self.script, self.knowledge, self.options, standing)

    @property
    def decisions(self) -> Mapping[str, Decision]:
        """The decision of each query, by its name."""
        return self.planned.decisions

    def explain(self, format: str = "text", alternatives: bool = False) -> str:
        """The plans as text, json, mermaid, dot, html or svg, with all others that were weighed."""
        planned = self.planned
        if alternatives:
            options = replace(self.options, alternatives=True)
            planned = decide_script(self.script, self.knowledge, options)
        return explain_script(planned, format, alternatives)

    def __repr__(self) -> str:
        """The plans as explain shows them, or why there are none."""
        try:
            return self.explain().rstrip()
        except PenstockError as error:
            return f"<{type(self).__name__} that cannot be planned: {error.message}>"

    def start(
        self, spark: Any, *, sink: Sinks, checkpoint: str | Path, **options: Any
    ) -> penstock.SparkRun | penstock.ConnectRun:
        """Start all queries on a Spark session, as one streaming query.

        `sink` gives each query that is shown its own, by its name: `{"result": ps.parquet("out")}`;
        where one is shown, it may be the sink itself. The other options are those of a query:
        `trigger`, `available_now`, `drain`, `partitions`, `overwrite`, `change`, `report`,
        `replan`, `delay`.
        """
        from penstock.engine.spark.connect.client import is_connect, start_script_connected
        from penstock.engine.spark.session import tell_access
        from penstock.engine.spark.start import start_script

        tell_access(spark)
        sinks, given, replan = self._given(sink, checkpoint, options)
        planned = self.planned_on(checkpoint)
        refuse_infeasible_script(planned)
        if is_connect(spark):
            # Frames are of the client's session; the server has those of its own.
            served = replace(self, frames={})
            followed = partial(_followed, served, replace(given, report=None), replan)
            return start_script_connected(
                spark, planned.script, planned.plans, sinks, given, followed, self.frames
            )
        planned, given = self.followed(given, replan)
        return start_script(planned.script, planned.plans, sinks, spark, given, frames=self.frames)

    def local(self, *, sink: Sinks, checkpoint: str | Path, **options: Any) -> penstock.LocalRun:
        """The same in this process, with the same options."""
        from penstock.engine.local import open_script

        sinks, given, replan = self._given(sink, checkpoint, options)
        refuse_infeasible_script(self.planned_on(checkpoint))
        planned, given = self.followed(given, replan)
        return open_script(planned.script, planned.plans, sinks, given)

    def followed(
        self, options: RunOptions, replan: object = None
    ) -> tuple[PlannedScript, RunOptions]:
        """The plans with which the script goes on from a checkpoint, and its options with who
        follows its streams.

        What an earlier run has measured counts more than what is given.
        """
        from penstock.adapt.follow import as_mode, with_delay
        from penstock.adapt.resume import measured_members, with_measured_member
        from penstock.adapt.script.follow_script import script_supervisor_for
        from penstock.engine.script.shared_joins import standing_in

        mode = as_mode(replan, self.options)
        measured = measured_members(options.checkpoint) if mode == "on" else {}

        def told(name: str, known: Known) -> Known:
            return with_measured_member(known, measured.get(name))

        def knowledge(member: Member, expected: Mapping[str, Expected]) -> Known:
            return told(member.name, self.knowledge(member, expected))

        standing = standing_in(options.checkpoint)
        planned, known = self._decided
        if measured or standing != NOTHING_STANDS:
            planned, known = decide_known_script(
                self.script, knowledge, self.options, standing, told
            )
        options = with_delay(options, self.options)
        supervisor = script_supervisor_for(planned, known, self.options, mode, options)
        return planned, replace(options, followed_by=supervisor)

    def check(
        self,
        *,
        sink: Sinks,
        checkpoint: str | Path,
        engine: BatchEngine = "spark",
        **options: Any,
    ) -> None:
        """Refuse now what a start would refuse: no session is needed for that, and little time."""
        from penstock.engine.script.script_start import check_script_start

        sinks, given, _ = self._given(sink, checkpoint, options)
        planned = self.planned_on(checkpoint)
        refuse_infeasible_script(planned)
        engine = as_engine(engine, BATCH_ENGINES)
        check_script_start(planned.script, sinks, given, engine, self.frames)

    def _given(
        self, sink: Sinks, checkpoint: str | Path, options: Mapping[str, Any]
    ) -> tuple[dict[str, penstock.Sink], RunOptions, object]:
        """The sinks of the queries that are shown, the options of the run, and how it is to be
        planned again."""
        from penstock.engine.run.options import RunOptions

        kept = {name: each for name, each in options.items() if name != "replan"}
        asked = RunOptions.of(sink="noop", checkpoint=checkpoint, **kept)
        each = {
            name: RunOptions.of(sink=given, checkpoint=checkpoint).sink
            for name, given in sinks_by_name(self.script, sink).items()
        }
        return each, asked, options.get("replan")


def _followed(
    script: ContinuousScript, options: RunOptions, replan: object
) -> tuple[PlannedScript, RunOptions]:
    """What a script follows on its checkpoint, worked out where it runs."""
    return script.followed(options, replan)


def sinks_by_name(script: Script, sink: Sinks) -> dict[str, Any]:
    """The sink of each query that is shown, by its name."""
    names = [member.name for member in script.shown]
    if not isinstance(sink, Mapping):
        if len(names) > 1:
            raise UsageError(
                f"the script shows {len(names)} queries, which need a sink each",
                hint=f"give them by name: {', '.join(f'{name}=…' for name in names)}",
            )
        return {names[0]: sink}
    by_lower = {as_text(name, "sink", "has names").lower(): name for name in sink}
    for name in sink:
        if name.lower() not in map(str.lower, names):
            hint = f"the queries that are shown are {', '.join(names)}"
            raise UsageError(f"the script shows no query {name}", hint=hint)
    missing = next((name for name in names if name.lower() not in by_lower), None)
    if missing is not None:
        raise UsageError(f"there is no sink for {missing}", hint=f"give one: {missing}=noop")
    return {name: sink[by_lower[name.lower()]] for name in names}

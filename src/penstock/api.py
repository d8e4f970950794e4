"""The face for Python: a query from text, planned, explained and started."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.errors import PenstockError
from penstock.optimize.feasible import refuse_infeasible
from penstock.optimize.planner import NO_WISHES, Wishes, decide
from penstock.optimize.switches import KINDS, SWITCHES, checked
from penstock.plan.decision import Decision
from penstock.plan.explain import explain
from penstock.plan.plan import Plan
from penstock.query import Function, Query
from penstock.sql import parse
from penstock.sql.goal import parse_goal
from penstock.stats.calibration import Engine, calibration_of
from penstock.stats.figure import Figure
from penstock.stats.file import load
from penstock.stats.guess import complete
from penstock.stats.known import Known

if TYPE_CHECKING:
    from penstock.engine.local.batches import LocalRun
    from penstock.engine.pipeline import Report
    from penstock.engine.sinks import Sink
    from penstock.engine.spark.handle import SparkRun


def sql(
    text: str,
    *,
    stats: str | Path | None = None,
    goal: str = "steady",
    capacity: float | None = None,
    plan: str | None = None,
    kinds: Iterable[str] = tuple(KINDS),
    off: Iterable[str] = (),
    shed: bool = False,
    exact_of_kept: bool = False,
    functions: Sequence[Function] = (),
    engine: Engine = "spark",
    file: str = "query",
) -> ContinuousQuery:
    """The query of a script, planned by what `stats` (a TOML file) says of its streams.

    `goal` is `steady`, `first:N` or `by:T`; `capacity` the CPU-seconds a second that there are;
    `plan` forces a plan by the text that explain prints; `kinds` restricts the search to some of
    `tree`, `multiway` and `mesh`; `off` switches optimisations off by name; `shed` lets tuples be
    dropped where no plan keeps up, and views are then estimates, or with `exact_of_kept` the plain
    values of what is left. Needs no Java.
    """
    query = parse(text, file=file, functions=functions)
    wishes = make_wishes(goal, plan, kinds, off, shed, engine, exact_of_kept)
    return ContinuousQuery(query, know(query, stats, capacity, engine), wishes)


def know(
    query: Query, stats: str | Path | None, capacity: float | None, engine: Engine = "spark"
) -> Known:
    """What is known of a query: from a stats file, this machine's calibration, or guessed."""
    given = None if stats is None else load(stats, query)
    calibration = calibration_of(engine)
    known = complete(query, given, calibration.costs)
    if calibration.note is not None and known.costs.origin == "guessed":
        known = replace(known, notes=(calibration.note,))
    if capacity is None:
        return known
    if not 0 < capacity < float("inf"):
        raise PenstockError(
            f"a capacity of {capacity:g} CPU-seconds a second is not possible",
            hint="give a number above zero, such as 2 for two cores",
        )
    return replace(known, capacity=Figure(capacity, "declared"))


def make_wishes(
    goal: str,
    plan: str | None,
    kinds: Iterable[str],
    off: Iterable[str],
    shed: bool,
    engine: Engine,
    exact_of_kept: bool = False,
) -> Wishes:
    """What is wanted of a plan, from the names that users write."""
    return Wishes(
        goal=parse_goal(goal),
        plan=plan,
        kinds=checked(kinds, KINDS, "kind of plan"),
        off=checked(off, SWITCHES, "optimisation"),
        sheds=shed,
        exact_of_kept=exact_of_kept,
        engine=engine,
    )


@dataclass(frozen=True)
class ContinuousQuery:
    """A query with its plan, ready to be explained or started."""

    query: Query
    known: Known
    wishes: Wishes = NO_WISHES

    @cached_property
    def decision(self) -> Decision:
        """The plan that was chosen, what it is expected to do, and why it was chosen."""
        return decide(self.known, self.wishes)

    @property
    def plan(self) -> Plan:
        return self.decision.plan

    def explain(self, format: str = "text", alternatives: bool = False) -> str:
        """The plan as text, json, mermaid, dot or html, with all others that were weighed."""
        decision = self.decision
        if alternatives:
            decision = decide(self.known, replace(self.wishes, alternatives=True))
        return explain(decision, format, alternatives)

    def start(
        self,
        spark: Any,
        *,
        sink: Sink,
        checkpoint: str,
        trigger: str = "1 second",
        available_now: bool = False,
        drain: bool = False,
        partitions: int | None = None,
        overwrite: bool = False,
        report: Callable[[Report], None] | None = None,
    ) -> SparkRun:
        """Start on a Spark session; the handle's `streaming` is Spark's own StreamingQuery.

        `available_now` reads all there is and ends; `drain` then also answers what waits for the
        frontier and closes the checkpoint. Otherwise the query runs at every `trigger` until it
        is stopped. `report` is called after each batch. A query that is known not to keep up is
        refused unless it may shed.
        """
        from penstock.engine.spark.start import start

        refuse_infeasible(self.decision)
        return start(
            self.plan,
            spark,
            sink=sink,
            checkpoint=str(checkpoint),
            trigger=_seconds(trigger),
            available_now=available_now,
            drain=drain,
            partitions=partitions,
            overwrite=overwrite,
            report=report,
        )

    def local(
        self,
        *,
        sink: Sink,
        checkpoint: str,
        partitions: int | None = None,
        overwrite: bool = False,
        report: Callable[[Report], None] | None = None,
    ) -> LocalRun:
        """The same query in this process; call `available_now()` or `every(seconds)` on it."""
        from penstock.engine.local.batches import open_run

        refuse_infeasible(self.decision)
        return open_run(
            self.plan,
            sink=sink,
            checkpoint=str(checkpoint),
            partitions=partitions,
            overwrite=overwrite,
            report=report,
        )


def _seconds(text: str) -> float:
    from penstock.sql.duration import parse_duration

    try:
        return parse_duration(text) / 1e6
    except ValueError as error:
        raise PenstockError(str(error), hint="a trigger is written '1 second'") from None


class TemporaryCheckpoint:
    """A checkpoint that is gone after the `with` block, for runs that nobody will resume."""

    def __enter__(self) -> str:
        self._folder = tempfile.mkdtemp(prefix="penstock-")
        return self._folder

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

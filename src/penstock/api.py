"""The face for Python: a query from text, planned, explained and started."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from penstock.arguments import (
    as_callback,
    as_count,
    as_flag,
    as_names,
    as_number,
    as_path,
    as_seconds,
    as_text,
)
from penstock.cql import parse
from penstock.cql.declare.function_file import load_functions
from penstock.cql.goal import parse_goal
from penstock.cql.script_file import read_script
from penstock.duration import parse_duration
from penstock.errors import PenstockError, UsageError
from penstock.figure import Figure
from penstock.optimize.options import DEFAULT_OPTIONS, KINDS, SWITCHES, PlanOptions, checked
from penstock.optimize.planner import decide
from penstock.optimize.shedding.feasible import refuse_infeasible
from penstock.plan.decision import Decision
from penstock.plan.explain import explain
from penstock.plan.plan import Plan
from penstock.query import Function, Query
from penstock.stats.calibration import Engine, calibration_of
from penstock.stats.files.load import load
from penstock.stats.guess import complete
from penstock.stats.known import Known

if TYPE_CHECKING:
    from penstock.engine.local import LocalRun
    from penstock.engine.run.report import Report
    from penstock.engine.sinks.sink import Sink
    from penstock.engine.spark.handle import SparkRun

    SinkLike = Sink | str | Callable[[Any, int], None]


def sql(
    text: str | Path,
    *,
    stats: str | Path | None = None,
    goal: str = "steady",
    capacity: float | None = None,
    plan: str | None = None,
    kinds: str | Iterable[str] = tuple(KINDS),
    off: str | Iterable[str] = (),
    shed: bool = False,
    exact_of_kept: bool = False,
    functions: Sequence[Function] | Function | str | Path = (),
    engine: Engine = "spark",
    file: str = "query",
) -> ContinuousQuery:
    """The query of a script, planned by what `stats` (a TOML file) says of its streams.

    `text` is the script itself, or the Path of its file.
    `goal` is `steady`, `first:N` or `by:T`; `capacity` the CPU-seconds a second that there are;
    `plan` forces a plan by the text that explain prints; `kinds` restricts the search to some of
    `tree`, `multiway` and `mesh`; `off` switches optimisations off by name; `shed` lets tuples be
    dropped where no plan keeps up, and views are then estimates, or with `exact_of_kept` the plain
    values of what is left. Needs no Java.
    """
    script, name = _script(text, as_text(file, "file", "is how messages call the query"))
    query = parse(script, file=name, functions=_functions(functions))
    options = plan_options(goal, plan, kinds, off, shed, engine, exact_of_kept)
    return ContinuousQuery(query, know(query, stats, capacity, engine), options)


def _script(text: object, file: str) -> tuple[str, str]:
    """The text of a script, and how messages call it."""
    if isinstance(text, Path):
        return read_script(text), str(text)
    return as_text(text, "text", "is a query, or the Path of its file"), file


def _functions(given: object) -> Iterable[Function]:
    """Functions for queries: one, several, or the Python file that has them."""
    match given:
        case Function():
            return (given,)
        case str() | Path():
            return load_functions(str(given))
        case Iterable():
            return tuple(given)
    raise UsageError(
        f"functions cannot be {given!r}",
        hint="functions is a list of those decorated with @ps.function(…), or their Python file",
    )


def know(
    query: Query, stats: str | Path | None, capacity: float | None, engine: Engine = "spark"
) -> Known:
    """What is known of a query: from a stats file, this machine's calibration, or guessed."""
    given = None if stats is None else load(as_path(stats, "stats"), query)
    calibration = calibration_of(engine)
    known = complete(query, given, calibration.costs)
    if calibration.note is not None and known.costs.origin == "guessed":
        known = replace(known, notes=(calibration.note,))
    if capacity is None:
        return known
    capacity = as_number(capacity, "capacity", "is a number, such as 2 for two cores")
    if not 0 < capacity < float("inf"):
        raise PenstockError(
            f"a capacity of {capacity:g} CPU-seconds a second is not possible",
            hint="give a number above zero, such as 2 for two cores",
        )
    return replace(known, capacity=Figure(capacity, "declared"))


def plan_options(
    goal: str,
    plan: str | None,
    kinds: str | Iterable[str],
    off: str | Iterable[str],
    shed: bool,
    engine: Engine,
    exact_of_kept: bool = False,
) -> PlanOptions:
    """What is wanted of a plan, from the names that users write."""
    if engine not in get_args(Engine):
        raise UsageError(f"no engine {engine!r}", hint=f"there are {', '.join(get_args(Engine))}")
    return PlanOptions(
        goal=parse_goal(as_text(goal, "goal", "is a text: steady, first:N or by:T")),
        plan=None if plan is None else as_text(plan, "plan", "is a text as explain prints it"),
        kinds=checked(as_names(kinds, "kinds"), KINDS, "kind of plan"),
        off=checked(as_names(off, "off"), SWITCHES, "optimisation"),
        sheds=as_flag(shed, "shed"),
        exact_of_kept=as_flag(exact_of_kept, "exact_of_kept"),
        engine=engine,
    )


@dataclass(frozen=True)
class ContinuousQuery:
    """A query with its plan, ready to be explained or started."""

    query: Query
    known: Known
    options: PlanOptions = DEFAULT_OPTIONS

    @cached_property
    def decision(self) -> Decision:
        """The plan that was chosen, what it is expected to do, and why it was chosen."""
        return decide(self.known, self.options)

    @property
    def plan(self) -> Plan:
        return self.decision.plan

    def explain(self, format: str = "text", alternatives: bool = False) -> str:
        """The plan as text, json, mermaid, dot or html, with all others that were weighed."""
        decision = self.decision
        if alternatives:
            decision = decide(self.known, replace(self.options, alternatives=True))
        return explain(decision, format, alternatives)

    def start(
        self,
        spark: Any,
        *,
        sink: SinkLike,
        checkpoint: str | Path,
        trigger: str | float | timedelta = "1 second",
        available_now: bool = False,
        drain: bool = False,
        partitions: int | None = None,
        overwrite: bool = False,
        report: Callable[[Report], None] | None = None,
    ) -> SparkRun:
        """Start on a Spark session; the handle's `streaming` is Spark's own StreamingQuery.

        `sink` is made by `ps.parquet(…)` and the like or written as on the command line,
        `parquet:out`; a function is one too. `trigger` is a length of time or seconds.
        `available_now` reads all there is and ends; `drain` then also answers what waits for the
        frontier and closes the checkpoint. Otherwise the query runs at every `trigger` until it
        is stopped. `report` is called after each batch. A query that is known not to keep up is
        refused unless it may shed.
        """
        from penstock.engine.sinks.sink_text import sink_of
        from penstock.engine.spark.start import start

        order: dict[str, Any] = {
            "sink": sink_of(sink),
            **_placed(checkpoint, partitions, overwrite, report),
            "trigger": as_seconds(trigger, "trigger", parse_duration, may_be_zero=True),
            "available_now": as_flag(available_now, "available_now"),
            "drain": as_flag(drain, "drain"),
        }
        if drain and not available_now:
            hint = "give both, or leave drain out: a query that goes on has no end to be drained at"
            raise UsageError("drain goes with available_now", hint=hint)
        refuse_infeasible(self.decision)
        return start(self.plan, spark, **order)

    def local(
        self,
        *,
        sink: SinkLike,
        checkpoint: str | Path,
        partitions: int | None = None,
        overwrite: bool = False,
        report: Callable[[Report], None] | None = None,
    ) -> LocalRun:
        """The same query in this process; call `available_now()` or `every(seconds)` on it."""
        from penstock.engine.local import open_run
        from penstock.engine.sinks.sink_text import sink_of

        order = {
            "sink": sink_of(sink),
            **_placed(checkpoint, partitions, overwrite, report),
        }
        refuse_infeasible(self.decision)
        return open_run(self.plan, **order)

    def check(
        self,
        *,
        sink: SinkLike,
        checkpoint: str | Path,
        engine: Literal["spark", "local"] = "spark",
        available_now: bool = False,
        partitions: int | None = None,
        overwrite: bool = False,
    ) -> None:
        """Refuse now what a start would refuse: no session is needed for that, and little time."""
        from penstock.engine.run.preflight import check_start
        from penstock.engine.sinks.sink_text import sink_of

        place = _placed(checkpoint, partitions, overwrite)
        refuse_infeasible(self.decision)
        check_start(
            self.query,
            sink=sink_of(sink),
            checkpoint=place["checkpoint"],
            engine=engine,
            partitions=place["partitions"],
            overwrite=place["overwrite"],
            available_now=as_flag(available_now, "available_now"),
        )


def _placed(
    checkpoint: object, partitions: object, overwrite: object, report: object = None
) -> dict[str, Any]:
    """What both engines are given, checked."""
    return {
        "checkpoint": as_path(checkpoint, "checkpoint"),
        "partitions": None if partitions is None else as_count(partitions, "partitions"),
        "overwrite": as_flag(overwrite, "overwrite"),
        "report": None if report is None else as_callback(report, "report", "one Report"),
    }


class TemporaryCheckpoint:
    """A checkpoint that is gone after the `with` block, for runs that nobody will resume."""

    def __enter__(self) -> str:
        self._folder = tempfile.mkdtemp(prefix="penstock-")
        return self._folder

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

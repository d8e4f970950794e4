"""The face for Python: a query from text, planned, explained and started."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cached_property, partial
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

import penstock
from penstock.arguments import as_flag, as_names, as_number, as_one_of, as_path, as_text
from penstock.continuous_script import ContinuousScript
from penstock.cql import parse_script
from penstock.cql.declare.function_file import load_functions
from penstock.cql.goal import parse_goal
from penstock.cql.script_file import decoded
from penstock.duration import Duration
from penstock.engines import BATCH_ENGINES, ENGINES, BatchEngine, EngineName, as_engine
from penstock.errors import PenstockError, UsageError
from penstock.figure import Figure
from penstock.optimize.options import (
    DEFAULT_OPTIONS,
    ESTIMATORS,
    KINDS,
    SERVERS,
    SWITCHES,
    Estimator,
    PlanOptions,
    Servers,
    checked,
)
from penstock.optimize.planner import decide
from penstock.optimize.shedding.feasible import refuse_infeasible
from penstock.plan.decision import Decision
from penstock.plan.explain import explain
from penstock.plan.mesh_search import DEFAULT_SEARCH, MeshSearch
from penstock.plan.plan import Plan
from penstock.plan.text.mesh_search_text import parse_mesh_search
from penstock.query import Function, Query
from penstock.query.foreign.frame import FrameShape
from penstock.query.script import Member, Script
from penstock.stats.calibration import calibration_of
from penstock.stats.derived import Expected, with_derived
from penstock.stats.guess import complete
from penstock.stats.known import Known
from penstock.stats.statistics import Statistics

if TYPE_CHECKING:
    from penstock.cql.declare.given import Allowed
    from penstock.engine.run.options import RunOptions

# The package itself gives what belongs to an engine, and loads it only where hints are looked up.
SinkLike: TypeAlias = "penstock.Sink | str | Callable[[Any, int], None]"
DurationLike: TypeAlias = Duration | timedelta | float | str
ReplanLike: TypeAlias = Literal["on", "advise", "off"] | None

# A notebook gives a frame no height of its own.
_FRAME = "width: 100%; height: 640px; border: 0"


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
    mesh: MeshSearch | str = DEFAULT_SEARCH,
    engine: EngineName = "spark",
    file: str | None = None,
    servers: Servers = "shared",
    estimator: Estimator = "rates",
    streams: Mapping[str, Any] | None = None,
    roots: Sequence[str | Path] | None = None,
    several: bool = False,
) -> ContinuousQuery:
    """The query of a script, planned by what `stats` (a TOML file) says of its streams.

    `text` is the script itself, or the Path of its file.
    `goal` is `steady`, `first:N` (or `first:25%`, `first:all`) or `by:T`; `capacity` the
    CPU-seconds a second that there are; `plan` forces a plan by the text that explain prints;
    `kinds` restricts the search to some of `tree`, `multiway` and `mesh`; `off` switches
    optimisations off by name; `shed` lets tuples be dropped where no plan keeps up, and views are
    then estimates, or with `exact_of_kept` the plain values of what is left; `functions` are those
    that the query calls, or their Python file; `mesh` says how meshes are searched for
    (`"search=sa, start=content"`, or a `ps.MeshSearch`); `engine` is the one whose costs count,
    `spark`, `local` or `laboratory`; `file` is how messages call the script. For the goals `first`
    and `by` results wait for one `shared` server or, with `servers="each"`, for one of each
    operator. `estimator="cardinality"` compares join trees as optimizers do that know no rates.
    `streams` are the DataFrames of streams and tables with `format = 'dataframe'`, by name.
    With `roots` the script is not trusted: it may name files below these folders alone, and call no
    functions. Needs no Java but for DataFrames. A script that asks several queries gives a
    `ContinuousScript`, as `ps.script` does, whose hints say so; with `several`, one that asks one
    query does so too, as the checkpoint of a script wants it that had more of them.
    """
    if roots is not None and functions:
        raise UsageError(
            "a safe run calls no Python functions", hint="leave functions or roots out"
        )
    script, name = _script(text, file)
    frames = {} if streams is None else _frames(streams)
    shapes = {each: shape for each, (_, shape) in frames.items()}
    asked = parse_script(script, name, _functions(functions), shapes, _allowed(roots))
    options = plan_options(
        *(goal, plan, kinds, off, shed, engine, exact_of_kept),
        servers=servers,
        estimator=estimator,
        mesh=mesh,
    )
    given = {each: frame for each, (frame, _) in frames.items()}
    if several or len(asked.members) > 1:
        knowledge = know_script(asked, stats, capacity, engine)
        found = ContinuousScript(asked, knowledge, options, given)
        # Nearly all scripts ask one query; hints for these would be of no use if they said either.
        return cast("ContinuousQuery", found)
    query = asked.members[0].query
    return ContinuousQuery(query, know(query, stats, capacity, engine), options, given)


def script(text: str | Path, **options: Any) -> ContinuousScript:
    """The queries of a script, of which there may be several, with the options of `sql`."""
    return cast("ContinuousScript", sql(text, **options, several=True))


def _frames(streams: object) -> dict[str, tuple[Any, FrameShape]]:
    """DataFrames by the names of their streams, each with its columns."""
    from penstock.engine.spark.frame_shape import frames_given, shape_of

    return {name: (frame, shape_of(name, frame)) for name, frame in frames_given(streams).items()}


def _script(text: object, file: object) -> tuple[str, str]:
    """The text of a script, and how messages call it."""
    given = None if file is None else as_text(file, "file", "is how messages call the query")
    if isinstance(text, Path):
        name = str(text) if given is None else given
        return decoded(text.read_bytes, name), name
    name = "query" if given is None else given
    return as_text(text, "text", "is a query, or the Path of its file"), name


def _allowed(roots: Sequence[str | Path] | None) -> Allowed | None:
    """The folders that a script may touch, if it is not trusted."""
    if roots is None:
        return None
    from penstock.engine.places.roots import Roots

    return Roots.of(roots)


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
    query: Query, stats: str | Path | None, capacity: float | None, engine: EngineName = "spark"
) -> Known:
    """The figures of a query: from a stats file, this machine's calibration, or guessed."""
    return _completed(query, _given(query, stats), capacity, engine)


def _given(query: Query, stats: str | Path | None) -> Statistics | None:
    """The figures of a stats file, whose reader is loaded only where there is one."""
    if stats is None:
        return None
    from penstock.stats.files.load import load

    return load(as_path(stats, "stats"), query)


def _given_of_script(script: Script, stats: str | Path | None) -> Mapping[str, Statistics]:
    if stats is None:
        return {}
    from penstock.stats.files.of_script import load_script

    return load_script(as_path(stats, "stats"), script)


def know_script(
    script: Script, stats: str | Path | None, capacity: float | None, engine: EngineName = "spark"
) -> Callable[[Member, Mapping[str, Expected]], Known]:
    """The figures of each query of a script, given what those are expected to bring that it
    reads."""
    given = _given_of_script(script, stats)

    def known(member: Member, expected: Mapping[str, Expected]) -> Known:
        own = with_derived(given.get(member.name, Statistics(member.query)), expected)
        return _completed(member.query, own, capacity, engine)

    return known


def _completed(
    query: Query, given: Statistics | None, capacity: float | None, engine: EngineName
) -> Known:
    """What is given of a query, with what this machine tells, and the rest guessed."""
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
    engine: EngineName,
    exact_of_kept: bool = False,
    servers: Servers = "shared",
    estimator: Estimator = "rates",
    mesh: MeshSearch | str = DEFAULT_SEARCH,
) -> PlanOptions:
    """The options of a plan, from the names that users write."""
    engine = as_engine(engine, ENGINES)
    return PlanOptions(
        goal=parse_goal(as_text(goal, "goal", "is a text: steady, first:N or by:T")),
        plan=None if plan is None else as_text(plan, "plan", "is a text as explain prints it"),
        kinds=checked(as_names(kinds, "kinds"), KINDS, "kind of plan"),
        off=checked(as_names(off, "off"), SWITCHES, "optimisation"),
        sheds=as_flag(shed, "shed"),
        exact_of_kept=as_flag(exact_of_kept, "exact_of_kept"),
        mesh=_mesh_search(mesh),
        engine=engine,
        servers=as_one_of(servers, SERVERS, "servers"),
        estimator=as_one_of(estimator, ESTIMATORS, "estimator"),
    )


def _mesh_search(given: object) -> MeshSearch:
    """The search for meshes, from its text or as it is; either way its words must be known."""
    if isinstance(given, MeshSearch):
        return parse_mesh_search(str(given))
    return parse_mesh_search(as_text(given, "mesh", "is a ps.MeshSearch, or 'search=sa, …'"))


@dataclass(frozen=True)
class ContinuousQuery:
    """A query with its plan, ready to be explained or started."""

    query: Query
    known: Known
    options: PlanOptions = DEFAULT_OPTIONS
    frames: Mapping[str, Any] = field(default_factory=dict, compare=False)
    """The DataFrames of its streams and tables, by the names that they were given by."""

    @cached_property
    def decision(self) -> Decision:
        """The plan that was chosen, what it is expected to do, and why it was chosen."""
        return decide(self.known, self.options)

    @property
    def plan(self) -> Plan:
        return self.decision.plan

    def explain(self, format: str = "text", alternatives: bool = False) -> str:
        """The plan as text, json, mermaid, dot, html or svg, with all others that were weighed."""
        decision = self.decision
        if alternatives:
            decision = decide(self.known, replace(self.options, alternatives=True))
        return explain(decision, format, alternatives)

    def __repr__(self) -> str:
        """The plan as explain shows it, or why there is none."""
        try:
            return self.explain().rstrip()
        except PenstockError as error:
            return f"<{type(self).__name__} that cannot be planned: {error.message}>"

    def _repr_html_(self) -> str | None:
        """The page of explain in a frame, for notebooks; None where there is no plan."""
        try:
            page = self.explain("html")
        except PenstockError:
            return None
        return f'<iframe srcdoc="{escape(page)}" style="{_FRAME}" sandbox></iframe>'

    def start(
        self,
        spark: Any,
        *,
        sink: SinkLike,
        checkpoint: str | Path,
        trigger: DurationLike = "1 second",
        available_now: bool = False,
        drain: bool = False,
        partitions: int | None = None,
        overwrite: bool = False,
        change: bool = False,
        report: Callable[[penstock.Report], None] | None = None,
        replan: ReplanLike = None,
        delay: DurationLike | None = None,
    ) -> penstock.SparkRun | penstock.ConnectRun:
        """Start on a Spark session; the handle's `streaming` is Spark's own StreamingQuery.

        `sink` is made by `ps.parquet(…)` and the like or written as on the command line,
        `parquet:out`; a function is one too. `trigger` is a length of time or seconds.
        `available_now` reads all there is and ends; `drain` then also answers what waits for the
        frontier and closes the checkpoint. Otherwise the query runs at every `trigger` until it
        is stopped, which the end of a `with` block does. `report` is called after each batch. With
        `replan="on"` it follows the streams: it measures them, and switches to another plan where
        that is worth it; `advise` only says so in its reports, `off` does neither. A plan that was
        forced stays unless `replan` is given. A query that is known not to keep up is refused
        unless it may shed; one that may sheds by itself while it runs, so that results are no later
        than `delay` (5 seconds, or 3 triggers) after their data. With `change` a query that asks
        otherwise than the one before goes on with the state of its checkpoint, as far as it can.
        """
        from penstock.engine.run.options import RunOptions
        from penstock.engine.spark.connect.client import is_connect, start_connected
        from penstock.engine.spark.session import tell_access
        from penstock.engine.spark.start import start

        tell_access(spark)
        options = RunOptions.of(
            sink=sink,
            checkpoint=checkpoint,
            trigger=trigger,
            available_now=available_now,
            drain=drain,
            partitions=partitions,
            overwrite=overwrite,
            change=change,
            report=report,
            delay=delay,
        )
        refuse_infeasible(self.decision)
        if is_connect(spark):
            served = replace(options, report=None)
            # Frames are of the client's session; the server has those of its own.
            planned = partial(_planned, replace(self, frames={}), served, replan)
            return start_connected(spark, self.plan.query, options, planned, self.frames)
        query, options = self.followed(options, replan)
        return start(query.plan, spark, options, frames=self.frames)

    def local(
        self,
        *,
        sink: SinkLike,
        checkpoint: str | Path,
        trigger: DurationLike = "1 second",
        available_now: bool = False,
        drain: bool = False,
        partitions: int | None = None,
        overwrite: bool = False,
        change: bool = False,
        report: Callable[[penstock.Report], None] | None = None,
        replan: ReplanLike = None,
        delay: DurationLike | None = None,
    ) -> penstock.LocalRun:
        """The same query in this process, with the same options.

        It runs while somebody waits for it, by `await_termination()`, and in that thread. Its own
        `available_now()` and `every(seconds)` run it too, whatever the options say.
        """
        from penstock.engine.local import open_run
        from penstock.engine.run.options import RunOptions

        options = RunOptions.of(
            sink=sink,
            checkpoint=checkpoint,
            trigger=trigger,
            available_now=available_now,
            drain=drain,
            partitions=partitions,
            overwrite=overwrite,
            change=change,
            report=report,
            delay=delay,
        )
        refuse_infeasible(self.decision)
        query, options = self.followed(options, replan)
        return open_run(query.plan, options)

    def followed(
        self, options: RunOptions, replan: object = None
    ) -> tuple[ContinuousQuery, RunOptions]:
        """The query as it goes on from a checkpoint, and its options with who follows its streams.

        What an earlier run has measured counts more than what is given. A plan that was pinned
        there is followed, unless this caller forces one or says how to plan again.
        """
        from penstock.adapt.follow import (
            as_mode,
            pinned_at,
            shedder_for,
            supervisor_for,
            trainer_for,
            with_delay,
        )
        from penstock.adapt.resume import with_measured

        mode, query, wanted = as_mode(replan, self.options), self, self.options
        is_free = replan is None and wanted.plan is None
        pin = pinned_at(options.checkpoint, self.query) if is_free else None
        if mode == "on":
            known = with_measured(self.known, options.checkpoint)
            # Where nothing was measured, the plan is there already.
            query = self if known is self.known else replace(self, known=known)
        if pin is not None:
            mode, query = "off", replace(query, options=replace(wanted, plan=pin))
        options = with_delay(options, wanted)
        shedder = shedder_for(query.query, options, wanted)
        trainer = trainer_for(query.query, options, wanted)
        supervisor = supervisor_for(
            query.plan,
            query.known,
            wanted,
            mode,
            shedder=shedder,
            trainer=trainer,
            trigger=None if options.available_now else options.trigger.seconds,
        )
        return query, replace(options, supervisor=supervisor, pin=pin)

    def check(
        self,
        *,
        sink: SinkLike,
        checkpoint: str | Path,
        engine: BatchEngine = "spark",
        available_now: bool = False,
        partitions: int | None = None,
        overwrite: bool = False,
        change: bool = False,
    ) -> None:
        """Refuse now what a start would refuse: no session is needed for that, and little time."""
        from penstock.engine.run.options import RunOptions
        from penstock.engine.run.preflight import check_start

        options = RunOptions.of(
            sink=sink,
            checkpoint=checkpoint,
            available_now=available_now,
            partitions=partitions,
            overwrite=overwrite,
            change=change,
        )
        engine = as_engine(engine, BATCH_ENGINES)
        refuse_infeasible(self.decision)
        check_start(self.query, options, engine, self.frames)


def _planned(
    query: ContinuousQuery, options: RunOptions, replan: ReplanLike
) -> tuple[Plan, RunOptions]:
    """What a query follows on its checkpoint, worked out where it runs."""
    query, options = query.followed(options, replan)
    return query.plan, options


def temporary_checkpoint() -> AbstractContextManager[str]:
    """A checkpoint that is gone after the `with` block, for runs that nobody will resume."""
    return TemporaryDirectory(prefix="penstock-", ignore_cleanup_errors=True)

"""Notes on a plan that its reader should know beside the figures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from penstock.duration import MICROS, Duration
from penstock.plan.decision import Decision
from penstock.plan.explain.quantity import kept, number, percent
from penstock.plan.mesh import Eddy, MeshJoin
from penstock.plan.plan import Plan
from penstock.plan.sampling import sampled_by, shown_query
from penstock.query import Input, Query, TimeWindow
from penstock.query.joins.outer import KIND_NAMES, OuterJoin
from penstock.query.traces import trace_of
from penstock.query.window import UNBOUNDED


def notes_of(decision: Decision, alternatives: bool) -> Iterator[str]:
    """Remarks, each a short sentence."""
    query = decision.plan.query
    if query.is_sequenced:
        yield "ROWS windows: tuples wait for the slowest stream"
        if kept(decision.chosen.estimate):
            yield "over ROWS windows shed results are no subset of the exact: older tuples stay in"
        if query.view is not None:
            yield _recomputing_note(query)
    yield from cross_notes(query)
    yield from _outer_notes(query, decision.chosen.estimate.asking)
    yield from sample_notes(decision.plan)
    yield from _view_notes(query)
    for item in query.inputs:
        yield from _input_notes(item, decision.horizon)
    yield from _step_notes(query)
    for condition in query.filters:
        if not condition.streams:
            yield f"{condition} holds for all results or for none"
    if decision.rests_on_guesses:
        yield _guess_note(decision)
    if isinstance(decision.plan, Eddy):
        yield "an eddy finds its orders as it runs; the figures are those of FROM's order"
    if isinstance(decision.plan, MeshJoin):
        yield from _mesh_notes(decision.plan)
    yield from decision.notes
    if alternatives and not decision.others:
        yield "no alternatives: only one plan was weighed"


def _recomputing_note(query: Query) -> str:
    """What a view over ROWS windows is computed from."""
    if trace_of(query) is None:
        return "a view over ROWS windows is recomputed from the whole windows at each evaluation"
    return "a view over ROWS windows joins at each evaluation what may have changed of its groups"


def _outer_notes(query: Query, asking: float) -> Iterator[str]:
    """When outer joins tell of tuples without a partner, and what it takes to ask for partners."""
    outer = query.outer
    if outer is None:
        return
    yield f"asking for partners takes {number(asking)} of the work, a probe of its own for each"
    for join in outer.joins:
        name = f"{KIND_NAMES[join.kind]}, {' '.join(join.preserved)} with {join.nullable}"
        if join.has_pairs:
            yield f"{name}: the figures are of its pairs; results without a partner come on top"
        else:
            yield f"{name}: the figures count all that may be results, with a partner or without"
        yield from _waiting_notes(query, join)


def _waiting_notes(query: Query, join: OuterJoin) -> Iterator[str]:
    for side in join.sides:
        who, where = " ".join(side.preserved), side.nullable
        if join.kind == "semi" or query.view is not None or query.input(where).is_table:
            continue
        yield f"{who} without a partner is told when {where} has passed the end of its life"
        if all(query.input(a).window in (None, UNBOUNDED) for a in side.preserved):
            yield f"{who} never dies: without a partner it is told by --drain, and {where} is kept"


def _mesh_notes(plan: MeshJoin) -> Iterator[str]:
    """How a mesh was searched for, and how its tuples are grouped."""
    if plan.search is not None:
        yield f"the mesh was searched for with {replace(plan.search, window=None, ruster=1)}"
    if plan.window is not None or plan.ruster > 1:
        window = (
            "all tuples that are read at once" if plan.window is None else f"{plan.window:,} tuples"
        )
        least = f"; fewer than {plan.ruster:,} go with the most" if plan.ruster > 1 else ""
        yield f"{window} of a stream are classified together{least}"


def _guess_note(decision: Decision) -> str:
    """Where the figures that were guessed can be had from: the data, or else the machine."""
    if all(each.unit == "s" for each in decision.statistics if each.is_guess):
        return "~ rests on guessed costs; penstock doctor --calibrate measures them"
    return "~ rests on guessed figures; penstock analyze finds them from the data"


def sample_notes(plan: Plan) -> Iterator[str]:
    """Notes on the values of a view that is shed."""
    view, sampled = plan.query.view, sampled_by(plan)
    if view is None or not plan.drops.kept:
        return
    is_estimate = plan.drops.estimates and sampled
    kept_of = sampled if is_estimate else dict(plan.drops.kept)
    shares = ", ".join(f"{percent(x)} of {alias}" for alias, x in kept_of.items())
    if not is_estimate:
        yield f"the view has the plain values of what is kept: {shares}"
        return
    has_ends = shown_query(plan) != plan.query
    ends = "; _low and _high are 95 % intervals" if has_ends else ""
    yield f"the view is an estimate from {shares}{ends}"
    if not all(each.is_estimable for each in view.aggregates):
        yield "MIN and MAX are of the kept tuples"


def _view_notes(query: Query) -> Iterator[str]:
    """How a view's changes are estimated, where they are fewer than that."""
    view = query.view
    if view is None:
        return
    why = [] if view.having is None else ["HAVING"]
    why += [] if view.top is None else ["QUALIFY" if view.top.parts else "LIMIT"]
    why += ["MIN and MAX"] if any(a.function in ("min", "max") for a in view.aggregates) else []
    if why:
        yield f"changes/s count every group that a tuple touches; {' and '.join(why)} make it fewer"


def cross_notes(query: Query) -> Iterator[str]:
    """That no condition ties some inputs to the others, if so."""
    groups = [{alias} for alias in query.aliases]
    for streams in [each.streams for each in query.equalities + query.thetas]:
        tied = [group for group in groups if group & streams]
        if len(tied) > 1:
            groups = [g for g in groups if g not in tied] + [set[str]().union(*tied)]
    if len(groups) > 1:
        sides = [tuple(a for a in query.aliases if a in group) for group in groups]
        sides.sort(key=lambda side: query.aliases.index(side[0]))
        shown = " × ".join(side[0] if len(side) == 1 else f"({' '.join(side)})" for side in sides)
        yield f"cross join {shown}: no condition ties them, so every combination is a result"


def _input_notes(item: Input, horizon: float) -> Iterator[str]:
    if item.is_table:
        yield f"{item.alias} is a table: it is probed and never drives"
    if item.source.refresh is not None:
        every = Duration(item.source.refresh)
        often = f"every {every}" if every.micros else "before every batch"
        yield f"{item.alias} may change: its files are looked at {often}"
    if item.window == UNBOUNDED:
        after = str(Duration(round(horizon * MICROS))).lower()
        yield f"{item.alias} keeps every tuple for ever: the figures are those after {after}"
    if item.source.lateness:
        yield f"{item.alias}: lateness {Duration(item.source.lateness)}"
    if item.source.idle is not None:
        yield f"{item.alias}: passed when silent for {Duration(item.source.idle)}"


def _step_notes(query: Query) -> Iterator[str]:
    stepping = [
        item.alias
        for item in query.inputs
        if isinstance(item.window, TimeWindow) and item.window.slide > 1
    ]
    if stepping:
        yield f"{', '.join(stepping)}: state when the window is fullest; the total is the mean"

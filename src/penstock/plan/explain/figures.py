"""The figures of a decision that explain shows, whatever the format."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import assert_never

from penstock.duration import MICROS
from penstock.figure import Figure
from penstock.plan.aggregation_sets import set_columns
from penstock.plan.decision import Decision, Estimate
from penstock.plan.explain.checks import Check, Visit, checks_of, visits_of
from penstock.plan.explain.joins import JoinFigures, joins_of
from penstock.plan.explain.notes import notes_of
from penstock.plan.explain.view import ViewFigures, outputs_of, view_of
from penstock.plan.mesh import Eddy, MeshJoin
from penstock.plan.multiway import Method, MultiwayJoin
from penstock.plan.plan import Plan, recomputed_by
from penstock.plan.representative import representative
from penstock.plan.sampling import shown_query
from penstock.plan.text.parse import render_plan
from penstock.plan.tree import TreeJoin
from penstock.query import Input, Query, TimeWindow
from penstock.query.expression import render
from penstock.query.keys import key_classes
from penstock.query.view import CHANGE, UPSERT
from penstock.query.window import render_window


@dataclass(frozen=True)
class InputFigures:
    """One input with what is known of it."""

    alias: str
    """Its name in FROM."""

    source: str
    """The name of its stream or table."""

    window: str
    """Its window, as in the query."""

    is_table: bool
    """Whether it is a table, which has no rate and no window."""

    is_relation: bool
    is_kept: bool
    """Whether it is a view as it is, which has no window."""

    visits: tuple[Visit, ...]
    """The inputs that its new tuples visit, in order; of several routes, on the main one."""

    rate: Figure | None
    """Tuples/s before filters and drop boxes; None for a table."""

    state: float
    """Tuples in its window; of one that is aggregated early, rows that are left of them."""

    is_state_guess: bool
    """Whether `state` rests on a guess."""

    lateness: float
    """Seconds that a tuple may be late."""

    idle: float | None
    """Seconds that it holds up others when it is silent; None for ever."""

    filters: tuple[str, ...]
    """The conditions on it that are decided before the joins."""

    keep: float
    """The fraction that its drop box keeps."""

    early_by: tuple[str, ...] | None = None
    """The columns by which it is aggregated before the join, if it is."""

    way: str = ""
    """The text for inputs without one order of visits: `3 routes`, an eddy, or an order for each
    of several joins, `probe B; C`."""

    @property
    def name(self) -> str:
        """The alias, and beside it the stream or table where that is called otherwise."""
        return self.alias if self.alias == self.source else f"{self.alias} ({self.source})"

    @property
    def is_only_visited(self) -> bool:
        """Of a plan that is no tree: whether its tuples go nowhere by themselves."""
        return not self.visits and not self.way

    @property
    def probes(self) -> tuple[tuple[str, Method], ...]:
        """The inputs that this one's new tuples visit, and how."""
        return tuple((v.alias, v.method) for v in self.visits if v.method is not None)


@dataclass(frozen=True)
class Figures:
    """A decision, ready to be shown. `joins` are a tree's, `alternatives` whether to list them."""

    decision: Decision
    keys: tuple[str, ...]
    inputs: tuple[InputFigures, ...]
    joins: tuple[JoinFigures, ...]
    checks: tuple[Check, ...]
    view: ViewFigures | None
    outputs: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    alternatives: bool

    @property
    def query(self) -> Query:
        return self.decision.plan.query

    @property
    def plan(self) -> str:
        """The text that `--plan` takes."""
        return render_plan(self.decision.plan)

    @property
    def recompute(self) -> str | None:
        """The stream that drives if the view is recomputed in each batch."""
        return recomputed_by(self.decision.plan)

    @property
    def estimate(self) -> Estimate:
        return self.decision.chosen.estimate

    @property
    def are_results_guessed(self) -> bool:
        """Whether how many results there are rests on guesses; how much work is another thing."""
        return any(each.is_guess and each.unit != "s" for each in self.decision.statistics)

    @property
    def is_state_guessed(self) -> bool:
        has_inner = len(self.joins) > 1
        return any(i.is_state_guess for i in self.inputs if not i.is_table) or (
            has_inner and self.are_results_guessed
        )

    def input(self, alias: str) -> InputFigures:
        """The input of that alias."""
        return next(item for item in self.inputs if item.alias == alias)

    def join(self, shape: str) -> JoinFigures:
        """The join of that shape."""
        return next(join for join in self.joins if join.shape == shape)


def figures_of(decision: Decision, alternatives: bool = False) -> Figures:
    """All that the formats show of a decision."""
    query = decision.plan.query
    return Figures(
        decision=decision,
        keys=tuple(str(key) for key in key_classes(query)),
        inputs=tuple(_input(decision, item) for item in query.inputs),
        joins=joins_of(decision.chosen),
        checks=tuple(checks_of(decision.plan)),
        view=view_of(query),
        outputs=outputs_of(shown_query(decision.plan)),
        notes=tuple(notes_of(decision, alternatives)),
        alternatives=alternatives,
    )


def _input(decision: Decision, item: Input) -> InputFigures:
    source, plan, found = item.source, decision.plan, decision.inputs[item.alias]
    keep = decision.chosen.estimate.keep.get(item.alias, 1.0)
    is_early = item.alias in plan.early
    return InputFigures(
        alias=item.alias,
        source=source.name,
        window="as it is" if item.is_relation else render_window(item.window),
        is_table=item.is_table,
        is_relation=item.is_relation,
        is_kept=item.source.is_kept,
        visits=_visits(plan, item),
        rate=found.rate,
        state=decision.chosen.estimate.sets.get(
            item.alias, found.state * (keep if isinstance(item.window, TimeWindow) else 1.0)
        ),
        is_state_guess=found.is_guess or (is_early and decision.rests_on_guesses),
        lateness=source.lateness / MICROS,
        idle=None if source.idle is None else source.idle / MICROS,
        filters=tuple(_written_filters(plan.query, item)),
        keep=keep,
        early_by=tuple(map(render, set_columns(plan.query, item.alias))) if is_early else None,
        way=_way(plan, item),
    )


def _written_filters(query: Query, item: Input) -> Iterator[str]:
    """The filters on an input, but for the one by which rows of a view are there."""
    presence = f"{item.alias}.{CHANGE} = '{UPSERT}'"
    for condition in map(str, query.filters_of(item.alias)):
        if not (item.is_relation and condition == presence):
            yield condition


def _visits(plan: Plan, item: Input) -> tuple[Visit, ...]:
    match plan:
        case MultiwayJoin() | MeshJoin():
            driving = (o for o in representative(plan).driving if o.driver == item.alias)
            return next(map(visits_of, driving), ())
        case TreeJoin() | Eddy():
            return ()
        case _:
            assert_never(plan)


def _way(plan: Plan, item: Input) -> str:
    if item.is_table:
        return ""
    match plan:
        case MeshJoin():
            routes = len(plan.mesh(item.alias).routes)
            return f"{routes} routes" if routes > 1 else ""
        case Eddy(batch=batch):
            return f"routed by the eddy, {batch} at a time" if batch > 1 else "routed by the eddy"
        case MultiwayJoin(orders=orders):
            mine = [", ".join(o.targets) for o in orders if o.driver == item.alias]
            return f"probe {'; '.join(mine)}" if len(mine) > 1 else ""
        case TreeJoin():
            return ""
        case _:
            assert_never(plan)
